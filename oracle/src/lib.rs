//! Random datasets, queries and workloads, and a row interpreter that judges every plan's answer.

pub mod answer;
mod calendar;
mod convert;
mod error;
pub mod model;
pub mod query;
pub mod recipe;
pub mod tpch;
pub mod value;

pub use error::{OracleError, Result};
