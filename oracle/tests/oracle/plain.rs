//! The interpreter and `ctx.sql` over Lance agree on generated cases.

use asap_oracle::dataset::{TestDataset, sql_answer};
use asap_oracle::generate::case;
use asap_oracle::recipe::Case;

const SEED: u64 = 0x0a5a9;

/// How many cases; `ORACLE_CASES` overrides.
fn cases() -> u64 {
    std::env::var("ORACLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

/// What disagrees, one text for each query.
async fn disagreements(case: &Case) -> Vec<String> {
    let dataset = match TestDataset::build(&case.recipe.table).await {
        Ok(dataset) => dataset,
        Err(error) => return vec![format!("the dataset: {error}")],
    };
    let session = dataset.plain_session(&case.recipe.settings).unwrap();
    let mut found = Vec::new();
    for query in &case.recipe.workload {
        assert!(query.is_deterministic(), "{query}");
        let model = dataset.table.answer(query);
        let plain = sql_answer(&session, query).await;
        match (&model, &plain) {
            (Ok(model), Ok(plain)) => {
                if let Some(difference) = model.difference(plain) {
                    found.push(format!("{query}\nleft: model, right: plain: {difference}"));
                }
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => found.push(format!("{query}\nonly plain fails: {error}")),
            (Err(error), Ok(_)) => found.push(format!("{query}\nonly the model fails: {error}")),
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_cases_agree_with_plain_datafusion() {
    let mut failures = Vec::new();
    for index in 0..cases() {
        let case = case(SEED, index);
        for text in disagreements(&case).await {
            failures.push(format!("seed {SEED} case {index}: {text}"));
        }
    }
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {} cases disagree:\n{shown}", failures.len(), cases());
}
