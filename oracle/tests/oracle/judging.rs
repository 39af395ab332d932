//! What the judge lets pass, and what it must not.

use std::io::Error as IoError;
use std::time::Duration;

use arrow::error::ArrowError;
use asap_oracle::OracleError;
use asap_oracle::defects::Defect;
use asap_oracle::error_class::ErrorClass;
use asap_oracle::fuzz::{FailureClass, FuzzOptions, check_recipe, fuzz};
use asap_oracle::model::{ModelError, Table};
use asap_oracle::recipe::{Operation, Recipe};
use asap_oracle::value::{Float, Value};
use datafusion::error::DataFusionError;
use rstest::rstest;

fn table(recipe: &Recipe) -> Table {
    let mut table = Table::new("t", recipe.table.columns.clone());
    if let Some(Operation::Create { rows }) = recipe.table.history.first() {
        table.append(rows);
    }
    table
}

/// Lost sort keys excuse another order of rows that tie under the keys left, and nothing else.
#[test]
fn lost_sort_keys_excuse_no_wrong_value() {
    let recipe = Defect::PrunedSortKeys.recipe();
    let (query, table) = (&recipe.workload[0], table(&recipe));
    let right = table.answer(query).unwrap();
    let mut plain = right.clone();
    plain.rows.reverse();
    assert!(Defect::PrunedSortKeys.excuses(query, &table, &plain, &plain));

    let mut wrong = plain.clone();
    wrong.rows[0][1] = Value::Int64(7);
    assert!(!Defect::PrunedSortKeys.excuses(query, &table, &plain, &wrong));
    let mut short = plain.clone();
    short.rows.pop();
    assert!(!Defect::PrunedSortKeys.excuses(query, &table, &plain, &short));
    let mut doubled = plain.clone();
    doubled.rows[0] = doubled.rows[1].clone();
    assert!(!Defect::PrunedSortKeys.excuses(query, &table, &plain, &doubled));
}

/// A plain answer with the wrong row where there is no group does not excuse another wrong row.
#[test]
fn lost_group_keys_excuse_the_plain_answer_only() {
    let recipe = Defect::ConstantGroupKeys.recipe();
    let (query, table) = (&recipe.workload[0], table(&recipe));
    let mut plain = table.answer(query).unwrap();
    plain.rows.push(vec![Value::Boolean(false), Value::Int64(0)]);
    let mut other = plain.clone();
    other.rows[0][1] = Value::Int64(1);
    assert!(Defect::ConstantGroupKeys.excuses(query, &table, &plain, &plain));
    assert!(!Defect::ConstantGroupKeys.excuses(query, &table, &plain, &other));
}

/// Lost infinities excuse the end of the finite range in that column, and nothing else anywhere.
#[test]
fn float_extrema_excuse_no_other_value() {
    let recipe = Defect::GroupedFloatExtrema.recipe();
    let (query, table) = (&recipe.workload[0], table(&recipe));
    let right = table.answer(query).unwrap();
    let with = |column: usize, value: f64| {
        let mut answer = right.clone();
        answer.rows[0][column] = Value::Float64(Float(value));
        Defect::GroupedFloatExtrema.may_strike_at_random(query, &table, &answer)
    };
    assert!(with(1, f64::MIN));
    assert!(!with(1, 7.0));
    assert!(!with(0, f64::MIN));
}

#[rstest]
#[case(ArrowError::DivideByZero.into(), ErrorClass::DivideByZero)]
#[case(ArrowError::ArithmeticOverflow("1".into()).into(), ErrorClass::Overflow)]
#[case(ArrowError::CastError("x".into()).into(), ErrorClass::Cast)]
#[case(ArrowError::SchemaError("a plan's fields".into()).into(), ErrorClass::Internal)]
#[case(DataFusionError::from(ArrowError::DivideByZero).context("folding").into(), ErrorClass::DivideByZero)]
#[case(DataFusionError::Plan("no such column".into()).into(), ErrorClass::Invalid)]
#[case(DataFusionError::Internal("divide by zero".into()).into(), ErrorClass::Internal)]
#[case(DataFusionError::External(Box::new(IoError::other("gone"))).into(), ErrorClass::Other)]
fn errors_have_a_class(#[case] error: OracleError, #[case] class: ErrorClass) {
    assert_eq!(ErrorClass::of(&error), class);
}

#[test]
fn sides_agree_on_the_class_and_never_on_an_internal_error() {
    let division = ErrorClass::of_model(&ModelError::DivideByZero);
    assert!(division.agrees(ErrorClass::DivideByZero));
    assert!(!division.agrees(ErrorClass::Overflow));
    assert!(!ErrorClass::Internal.agrees(ErrorClass::Internal));
    assert!(!ErrorClass::Other.agrees(ErrorClass::Other));
}

/// A sort key that names no output makes the interpreter index out of bounds.
fn panicking() -> Recipe {
    let mut recipe = Defect::PrunedSortKeys.recipe();
    recipe.workload[0].order_by[0].output = 99;
    recipe
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_failure_like_any_other() {
    let outcome = check_recipe(&panicking()).await;
    assert_eq!(outcome.failures.len(), 1, "{:?}", outcome.failures);
    assert_eq!(outcome.failures[0].class, FailureClass::Panic);
    assert!(outcome.failures[0].detail.contains("index out of bounds"), "{}", outcome.failures[0].detail);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_cases_is_an_error() {
    let artifacts = std::env::temp_dir();
    let options = FuzzOptions { seed: 1, cases: 5..5, jobs: 1, max_failures: 1, shrink: Duration::ZERO, artifacts };
    let error = fuzz(&options, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, OracleError::Incomplete { cases: 0, requested: 0 }), "{error}");
}
