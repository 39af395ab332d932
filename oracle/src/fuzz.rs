//! The equality fuzzer: answers each case in four ways and lets the row interpreter judge.

mod artifacts;
mod buckets;
mod catalogue;
mod check;
mod coverage;
mod failure;
mod json;
mod judge;
mod plan_fingerprint;
mod price;
mod pushdown;
mod reader;
mod relations;
mod report;
mod run;
mod scope;
mod selection;
mod session;
mod shrink;
mod states;
mod static_points;
mod steering;
mod summary;
mod workload;

pub use artifacts::write_artifacts;
pub(crate) use catalogue::group;
pub use catalogue::{BY_CHANCE, Known, Proof, UnderQuota, catalogue};
pub use check::{CaseOutcome, check_recipe};
pub use coverage::{Coverage, Point};
pub use failure::{Failure, FailureClass};
pub use plan_fingerprint::{PlanCounts, Plans, normalized};
pub use report::{FailedCase, FuzzReport};
pub use run::{FuzzOptions, Length, fuzz, replay};
pub use scope::Scope;
pub use session::check_session;
#[cfg(feature = "faults")]
pub(crate) use shrink::shrink;
pub(crate) use shrink::{Part, Search};
pub use shrink::{RecipeSize, shrink_while};
pub use static_points::{SHOWN, static_points};
#[cfg(feature = "faults")]
pub(crate) use steering::{BIASES, ROUND, Steering};
