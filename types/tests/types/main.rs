//! Tests of the workload IR.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod build;
mod canonical;
mod measures;
#[path = "../support/naive.rs"]
mod naive;
mod property;
mod resolution;
mod schemas;
mod sharing;
mod text;
mod wire;
