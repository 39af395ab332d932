//! Tests of the prover, the strategies, the search and the selection.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod build;
mod derivation;
#[path = "../../../types/tests/support/naive.rs"]
mod naive;
mod property;
mod rollup;
mod two_queries;
mod workload;

/// Compares with the snapshot that is named after the running test; `INSTA_UPDATE=always` writes it.
fn assert_snapshot(text: &str) {
    let name = std::thread::current().name().expect("a test's name").replace("::", "_");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}
