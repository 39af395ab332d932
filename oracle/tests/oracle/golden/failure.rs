//! Found as case 41 of seed 7: the pushdown answer differs from the interpreter's.
//!
//! ```sql
//! SELECT c1, sum(c0) AS m0 FROM t GROUP BY c1;
//! SELECT c0 FROM t ORDER BY c0 DESC NULLS LAST LIMIT 3;
//! ```

use asap_oracle::fuzz::replay;
use asap_oracle::recipe::Recipe;

#[tokio::test(flavor = "multi_thread")]
async fn seed_7_case_41() {
    let recipe = Recipe::from_json(include_str!("recipe.json")).unwrap();
    let failures = replay(&recipe).await.failures;
    assert!(failures.is_empty(), "{failures:#?}");
}
