//! Legality, construction, search and selection.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod legality;
mod measures;
mod selection;
mod support;
