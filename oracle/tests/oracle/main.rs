#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
//! The oracle against plain DataFusion over plain Lance, and against itself.

mod judging;
mod plain;
mod recipes;
mod regressions;
mod shapes;
mod states;
mod tpch;
mod types;
