//! Plans of the IR against DataFusion's own plans for SQL with the same meaning.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod comparison;
mod failures;
mod filters;
mod grand_totals;
mod literals;
mod operators;
mod order;
mod planned;
mod rollups;
mod sharing;
mod support;
