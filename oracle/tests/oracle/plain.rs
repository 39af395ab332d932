//! The interpreter and every plan agree: on generated cases, on errors, and but for the numbered defects of the libraries.

use asap_oracle::defects::Defect;
use asap_oracle::fuzz::{Point, check_recipe};
use asap_oracle::generate::case;
use asap_oracle::query::{Arithmetic, Expr, Output};
use asap_oracle::recipe::Operation;
use asap_oracle::value::{Type, Value};

const SEED: u64 = 0x0a5a9;

/// How many cases; `ORACLE_CASES` overrides.
fn cases() -> u64 {
    std::env::var("ORACLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_cases_agree() {
    let mut failures = Vec::new();
    let (mut comparisons, mut upstream) = (0, 0);
    for index in 0..cases() {
        let outcome = check_recipe(&case(SEED, index).recipe).await;
        comparisons += outcome.comparisons;
        upstream += outcome.defects.values().sum::<u64>();
        failures.extend(outcome.failures.iter().map(|failure| format!("seed {SEED} case {index}: {failure}")));
    }
    assert!(failures.is_empty(), "{} of {comparisons} differ:\n{}", failures.len(), failures.join("\n\n"));
    assert!(comparisons > 3 * cases(), "only {comparisons} answers were compared");
    assert!(upstream * 20 < comparisons, "{upstream} of {comparisons} answers are excused");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_numbered_defect_is_still_there_and_recognized() {
    for defect in Defect::ALL {
        let outcome = check_recipe(&defect.recipe()).await;
        assert!(outcome.failures.is_empty(), "defect {}: {:?}", defect.number(), outcome.failures);
        let found = outcome.defects.keys().copied().collect::<Vec<_>>();
        assert_eq!(found, [defect.number()], "the defect is gone, or taken for another");
    }
}

/// One that hides what another one did, and the workload plan, which avoids the first.
#[tokio::test(flavor = "multi_thread")]
async fn two_defects_of_one_query_are_told_apart() {
    let recipe = include_str!("../../regressions/merged-lists-beside-a-float-extremum.json");
    let outcome = check_recipe(&serde_json::from_str(recipe).unwrap()).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let found = outcome.defects.keys().copied().collect::<Vec<_>>();
    assert_eq!(found, [Defect::GroupedFloatExtrema.number(), Defect::DisjointLists.number()]);
}

/// Errors are compared by class: all sides refuse the remainder of a division by zero.
#[tokio::test(flavor = "multi_thread")]
async fn all_sides_fail_on_a_division_by_zero() {
    let mut recipe = Defect::PrunedSortKeys.recipe();
    recipe.table.history.push(Operation::Append { rows: vec![vec![Value::Int64(1), Value::Int64(0)]] });
    let query = &mut recipe.workload[0];
    query.group_by = None;
    query.order_by.clear();
    for divisor in [Expr::literal(Value::Int64(0), Type::Int64), Expr::column("c1")] {
        let remainder = Expr::arithmetic(Arithmetic::Modulo, Expr::column("c0"), divisor);
        recipe.workload[0].outputs = vec![Output::new(remainder, "x")];
        let outcome = check_recipe(&recipe).await;
        assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
        assert!(
            outcome.points.contains(&Point::new("error on every side", "division by zero")),
            "{:?}",
            outcome.points
        );
    }
}
