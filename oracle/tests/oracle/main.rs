#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
//! The oracle against plain DataFusion over plain Lance, and against itself.

mod catalogue;
mod command;
mod judging;
mod plain;
mod recipes;
mod regressions;
mod runs;
mod states;
mod tpch;
