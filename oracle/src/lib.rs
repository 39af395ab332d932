//! Random datasets, queries and workloads, and a row interpreter that judges every plan's answer.

pub mod answer;
mod calendar;
mod convert;
pub mod dataset;
pub mod defects;
mod error;
pub mod error_class;
#[cfg(feature = "faults")]
pub mod faults;
pub mod fuzz;
pub mod generate;
pub mod model;
pub mod query;
pub mod recipe;
pub mod tpch;
pub mod value;

pub use error::{OracleError, Result};
