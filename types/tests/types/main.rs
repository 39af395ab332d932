//! The wire form, resolution, canonical form, sharing, schemas and text forms.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod canonical;
mod filters;
mod render;
mod resolution;
mod schemas;
mod sharing;
mod support;
mod wire;
