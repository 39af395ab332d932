//! Recipes of failures that were found and mended.

use asap_oracle::fuzz::replay;
use asap_oracle::recipe::Recipe;

#[tokio::test(flavor = "multi_thread")]
async fn mended_failures_stay_mended() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let recipe = Recipe::from_json(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let outcome = replay(&recipe).await;
        assert!(outcome.failures.is_empty(), "{}: {:?}", file.display(), outcome.failures);
    }
}
