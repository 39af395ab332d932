//! The equality fuzzer: answers each case in four ways and lets the row interpreter judge.

mod artifacts;
mod buckets;
mod check;
mod coverage;
mod failure;
mod judge;
mod price;
mod pushdown;
mod reader;
mod relations;
mod report;
mod run;
mod session;
mod shrink;
mod states;
mod workload;

pub use artifacts::write_artifacts;
pub use check::{CaseOutcome, check_recipe};
pub use coverage::{Coverage, Point};
pub use failure::{Failure, FailureClass};
pub use report::FuzzReport;
#[cfg(feature = "faults")]
pub(crate) use shrink::shrink;

pub use run::{FuzzOptions, fuzz, replay};
pub use session::check_session;
pub use shrink::{RecipeSize, shrink_while};
pub(crate) use shrink::{Scope, Search};
