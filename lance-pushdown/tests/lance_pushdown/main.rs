//! Tests of the crate over real datasets. The modules `schema_invariant`, `deletion_vectors` and `plan_time_io` are
//! gates that CI selects by name.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod constructed;
mod deletion_vectors;
mod direct;
mod filters;
mod hazards;
mod operator;
mod options;
mod plan_shape;
mod plan_time_io;
mod random_filters;
mod refusals;
mod result_equality;
mod schema_invariant;
mod support;
mod truth_tests;
mod verdicts;
mod zone_files;
mod zone_maps;
