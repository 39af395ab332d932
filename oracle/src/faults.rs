//! Tests the fuzzer itself: plants each named fault in turn and measures how soon a case fails because of it.

mod report;
mod run;

pub use asap_faults::{Fault, Scope};
pub use report::{FaultReport, Format};
pub use run::{Caught, FaultOptions, FaultRun, Size, run};
