//! The interpreter and `ctx.sql` over Lance agree on generated cases.

use std::collections::BTreeMap;

use asap_oracle::dataset::TestDataset;
use asap_oracle::defects::Defect;
use asap_oracle::generate::case;
use asap_oracle::recipe::Recipe;
use asap_oracle::verdict::{Verdict, judge_plain};

const SEED: u64 = 0x0a5a9;

/// How many cases; `ORACLE_CASES` overrides.
fn cases() -> u64 {
    std::env::var("ORACLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

/// Each query's text and verdict.
async fn verdicts(recipe: &Recipe) -> Vec<(String, Verdict)> {
    let dataset = TestDataset::build(&recipe.table).await.unwrap();
    let session = dataset.plain_session(&recipe.settings).unwrap();
    let mut verdicts = Vec::new();
    for query in &recipe.workload {
        assert!(query.is_deterministic(), "{query}");
        verdicts.push((query.to_string(), judge_plain(&dataset.table, &session, query).await.unwrap()));
    }
    verdicts
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_cases_agree_with_plain_datafusion() {
    let mut failures = Vec::new();
    let mut defects = BTreeMap::<u32, u64>::new();
    let mut equal = 0;
    for index in 0..cases() {
        for (query, verdict) in verdicts(&case(SEED, index).recipe).await {
            match verdict {
                Verdict::Equal => equal += 1,
                Verdict::Defect(defect) => *defects.entry(defect.number()).or_default() += 1,
                other => failures.push(format!("seed {SEED} case {index}: {query}\n{other}")),
            }
        }
    }
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} disagree, {equal} agree, defects {defects:?}:\n{shown}", failures.len());
    assert!(equal > cases(), "only {equal} answers were compared");
}

#[tokio::test]
async fn every_numbered_defect_is_still_there_and_recognized() {
    for defect in Defect::ALL {
        let recipe = defect.recipe();
        recipe.validate().unwrap();
        for (query, verdict) in verdicts(&recipe).await {
            let found = matches!(verdict, Verdict::Defect(found) if found == defect);
            assert!(found, "defect {}: {query}\n{verdict}", defect.number());
        }
    }
}

/// Errors are compared by class too: both sides refuse the remainder of a division by zero.
#[tokio::test]
async fn both_sides_fail_on_a_division_by_zero() {
    use asap_oracle::query::{Arithmetic, Expr, Output};
    use asap_oracle::recipe::Operation;
    use asap_oracle::value::{Type, Value};

    let mut recipe = Defect::PrunedSortKeys.recipe();
    recipe.table.history.push(Operation::Append { rows: vec![vec![Value::Int64(1), Value::Int64(0)]] });
    let zero = Expr::literal(Value::Int64(0), Type::Int64);
    for divisor in [zero, Expr::column("c1")] {
        let query = &mut recipe.workload[0];
        query.group_by = None;
        query.order_by.clear();
        query.outputs = vec![Output::new(Expr::arithmetic(Arithmetic::Modulo, Expr::column("c0"), divisor), "x")];
        for (query, verdict) in verdicts(&recipe).await {
            assert!(matches!(verdict, Verdict::BothFail { .. }), "{query}\n{verdict}");
        }
    }
}
