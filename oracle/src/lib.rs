//! Random datasets, queries and workloads, and a row interpreter that judges every plan's answer.

mod calendar;
mod error;
pub mod model;
pub mod query;
pub mod value;

pub use error::{OracleError, Result};
