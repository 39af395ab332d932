//! Tests of the prover, the strategies, the search and the selection.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod build;
mod derivation;
#[path = "../../../types/tests/support/naive.rs"]
mod naive;
mod property;
mod rollup;
mod workload;
