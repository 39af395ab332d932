//! What the judge lets pass, and what it must not.

use std::io::Error as IoError;
use std::time::Duration;

use arrow::error::ArrowError;
use asap_oracle::OracleError;
use asap_oracle::answer::Answer;
use asap_oracle::defects::{Defect, Suspect};
use asap_oracle::error_class::ErrorClass;
use asap_oracle::fuzz::{FailureClass, FuzzOptions, Length, check_recipe, fuzz};
use asap_oracle::model::{ModelError, Table};
use asap_oracle::query::{Expr, Output};
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

fn suspect<'a>(recipe: &'a Recipe, table: &'a Table, found: &'a Answer) -> Suspect<'a> {
    Suspect { query: &recipe.workload[0], table, optimized: None, is_parallel: true, may_spill: false, found }
}

/// Lost sort keys excuse another order of rows that tie under the keys left, and nothing else.
#[test]
fn lost_sort_keys_excuse_no_wrong_value() {
    let recipe = Defect::PrunedSortKeys.recipe();
    let (query, table) = (&recipe.workload[0], table(&recipe));
    let right = table.answer(query).unwrap();
    let mut plain = right.clone();
    plain.rows.reverse();
    assert!(Defect::PrunedSortKeys.excuses(&suspect(&recipe, &table, &plain), &plain));

    let mut wrong = plain.clone();
    wrong.rows[0][1] = Value::Int64(7);
    assert!(!Defect::PrunedSortKeys.excuses(&suspect(&recipe, &table, &wrong), &plain));
    let mut short = plain.clone();
    short.rows.pop();
    assert!(!Defect::PrunedSortKeys.excuses(&suspect(&recipe, &table, &short), &plain));
    let mut doubled = plain.clone();
    doubled.rows[0] = doubled.rows[1].clone();
    assert!(!Defect::PrunedSortKeys.excuses(&suspect(&recipe, &table, &doubled), &plain));
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
    assert!(Defect::ConstantGroupKeys.excuses(&suspect(&recipe, &table, &plain), &plain));
    assert!(!Defect::ConstantGroupKeys.excuses(&suspect(&recipe, &table, &other), &plain));
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
        Defect::GroupedFloatExtrema.may_strike_at_random(&suspect(&recipe, &table, &answer))
    };
    assert!(with(1, f64::MIN));
    assert!(!with(1, 7.0));
    assert!(!with(0, f64::MIN));
}

/// A group of NaN that comes twice excuses no other row that does, nor one that is missing.
#[test]
fn repeated_nan_keys_excuse_no_other_row() {
    let mut recipe = Defect::RepeatedNanKey.recipe();
    recipe.workload[0].limit = Some(4);
    let mut table = table(&recipe);
    table.append(&[vec![Value::Float64(Float(1.0))], vec![Value::Float64(Float(2.0))]]);
    let found = |values: &[f64]| {
        let mut answer = table.answer(&recipe.workload[0]).unwrap();
        answer.rows = values.iter().map(|&value| vec![Value::Float64(Float(value))]).collect();
        Defect::RepeatedNanKey.may_strike_at_random(&suspect(&recipe, &table, &answer))
    };
    assert!(found(&[1.0, 2.0, f64::NAN, f64::NAN]));
    assert!(!found(&[1.0, 1.0, 2.0, f64::NAN]));
    assert!(!found(&[1.0, f64::NAN, f64::NAN]));
    assert!(!found(&[1.0, 2.0, f64::NAN, f64::NAN, f64::NAN]));
}

/// Where a key of grouping sets has one value, groups may come in pieces, and nothing else.
#[test]
fn groups_in_pieces_excuse_no_other_row() {
    let mut recipe = Defect::ConstantGroupingKey.recipe();
    let integers = |values: [i64; 2]| values.map(Value::Int64).to_vec();
    recipe.table.history = vec![Operation::Create { rows: vec![integers([0, 1]), integers([0, 2])] }];
    let query = &mut recipe.workload[0];
    query.order_by.clear();
    query.group_by = Some(vec![Expr::column("c0"), Expr::column("c1")]);
    query.outputs[0].expr = Expr::column("c0");
    query.outputs.push(Output::new(Expr::count_all(None), "m0"));
    let table = table(&recipe);
    let right = table.answer(&recipe.workload[0]).unwrap();
    let total = right.rows.iter().position(|row| *row == [Value::Null, Value::Null, Value::Int64(2)]).unwrap();
    let counted = |counts: &[i64]| {
        let mut answer = right.clone();
        let group = answer.rows.remove(total);
        for &count in counts {
            answer.rows.push(vec![group[0].clone(), group[1].clone(), Value::Int64(count)]);
        }
        answer
    };
    let is_excused = |suspect: &Suspect<'_>| Defect::ConstantGroupingKey.may_strike_at_random(suspect);
    let pieces = counted(&[1, 1]);
    assert!(is_excused(&suspect(&recipe, &table, &pieces)));
    assert!(!is_excused(&Suspect { is_parallel: false, ..suspect(&recipe, &table, &pieces) }));
    for wrong in [counted(&[]), counted(&[1]), counted(&[3])] {
        assert!(!is_excused(&suspect(&recipe, &table, &wrong)), "{:?}", wrong.rows);
    }
    let mut unknown = pieces.clone();
    unknown.rows.push(vec![Value::Int64(7), Value::Null, Value::Int64(1)]);
    assert!(!is_excused(&suspect(&recipe, &table, &unknown)));
    recipe.workload[0].grouping = None;
    assert!(!is_excused(&suspect(&recipe, &table, &pieces)));
}

#[rstest]
#[case(ArrowError::DivideByZero.into(), ErrorClass::DivideByZero)]
#[case(ArrowError::ArithmeticOverflow("1".into()).into(), ErrorClass::Overflow)]
#[case(ArrowError::CastError("x".into()).into(), ErrorClass::Cast)]
#[case(ArrowError::SchemaError("a plan's fields".into()).into(), ErrorClass::Internal)]
#[case(DataFusionError::from(ArrowError::DivideByZero).context("folding").into(), ErrorClass::DivideByZero)]
#[case(DataFusionError::Plan("no such column".into()).into(), ErrorClass::Invalid)]
#[case(DataFusionError::Internal("divide by zero".into()).into(), ErrorClass::Internal)]
#[case(DataFusionError::ResourcesExhausted("divide by zero".into()).into(), ErrorClass::OutOfMemory)]
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
    let options = FuzzOptions {
        seed: 1,
        length: Length::Cases(0),
        only: Vec::new(),
        scope: None,
        jobs: 1,
        max_failures: 1,
        shrink: Duration::ZERO,
        artifacts: std::env::temp_dir(),
    };
    let error = fuzz(&options, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, OracleError::NoCases), "{error}");
}
