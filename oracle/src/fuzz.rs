//! The equality fuzzer: answers each case in four ways and lets the row interpreter judge.

mod artifacts;
mod check;
mod coverage;
mod failure;
mod reader;
mod report;
mod run;
mod shrink;

pub use check::{CaseOutcome, check_recipe};
pub use coverage::{Coverage, Point};
pub use failure::{Failure, FailureClass};
pub use report::FuzzReport;
pub use run::{FuzzOptions, fuzz, replay};
