#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
//! The oracle against plain DataFusion over plain Lance, and against itself.

#[path = "../../examples/fuzz_your_own_rule.rs"]
#[expect(dead_code, reason = "`main` is for the command line")]
mod fuzz_your_own_rule;
#[path = "golden/failure.rs"]
#[rustfmt::skip]
mod golden;
#[path = "golden/reproduction.rs"]
#[rustfmt::skip]
mod golden_reproduction;
mod catalogue;
mod command;
mod handing_over;
mod judging;
mod plain;
mod recipes;
mod regressions;
mod runs;
mod shapes;
mod shrinking;
mod states;
mod strategies;
mod tpch;
mod types;
