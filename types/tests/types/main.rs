//! Tests of the workload IR.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod build;
#[path = "../support/naive.rs"]
mod naive;
mod schemas;
mod wire;
