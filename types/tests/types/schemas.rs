use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{AggIntent, CompareOp, Expr, Field, Operator, QueryExpr, Schema, TypesError, average_type, sum_type};
use rstest::rstest;

use crate::support::{BYTES, HOST, JOB, LOAD, PRICE, aggregate, int, node, project, scan, sum, table};

#[rstest]
#[case::narrow_integer(DataType::Int8, DataType::Int64)]
#[case::unsigned(DataType::UInt16, DataType::UInt64)]
#[case::float(DataType::Float32, DataType::Float64)]
#[case::decimal(DataType::Decimal128(15, 2), DataType::Decimal128(25, 2))]
#[case::wide_decimal(DataType::Decimal128(35, 4), DataType::Decimal128(38, 4))]
fn sums_widen(#[case] arg: DataType, #[case] expected: DataType) {
    assert_eq!(sum_type(&arg), Ok(expected));
}

#[rstest]
#[case::integer(DataType::Int32, DataType::Float64)]
#[case::decimal(DataType::Decimal128(15, 2), DataType::Decimal128(19, 6))]
#[case::wide_decimal(DataType::Decimal128(38, 37), DataType::Decimal128(38, 38))]
fn averages_of_decimals_gain_places(#[case] arg: DataType, #[case] expected: DataType) {
    assert_eq!(average_type(&arg), Ok(expected));
}

#[test]
fn text_has_no_sum() {
    let wrong = aggregate(&scan(), &[], vec![(sum(JOB), None)]);
    let error = QueryExpr::new(Operator::Aggregate(wrong)).unwrap_err();
    assert_eq!(error.to_string(), "sum does not accept Utf8");
}

#[test]
fn measures_have_the_nullability_of_sql() {
    let arg = || Expr::column(HOST);
    let measures = vec![
        AggIntent::count(),
        AggIntent::Sum { arg: arg() },
        AggIntent::Sum0 { arg: arg() },
        AggIntent::Min { arg: arg() },
        AggIntent::Avg { arg: arg() },
    ];
    let found = node(aggregate(&scan(), &[JOB], measures.into_iter().map(|measure| (measure, None)).collect()));
    let field = |index: usize, data_type, nullable| Field::new(format!("c{index}"), data_type, nullable);
    assert_eq!(
        found.schema().fields(),
        [
            field(0, DataType::Utf8, true),
            field(1, DataType::Int64, false),
            field(2, DataType::Int64, true),
            field(3, DataType::Int64, false),
            field(4, DataType::Int64, true),
            field(5, DataType::Float64, true),
        ]
    );
}

#[test]
fn extrema_of_a_dictionary_are_its_values() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Schema::new(vec![Field::new("tag", dictionary, true)]);
    assert_eq!(AggIntent::Max { arg: Expr::column(0) }.data_type(&schema), Ok(DataType::Utf8));
}

#[test]
fn keys_that_are_grouped_by_are_unique() {
    let grouped = node(aggregate(&scan(), &[JOB, HOST], vec![(sum(BYTES), None)]));
    assert!(grouped.schema().is_unique_key(&[0, 1]));
    assert!(grouped.schema().is_unique_key(&[0, 1, 2]), "a superset of a key is one");
    assert!(!grouped.schema().is_unique_key(&[0]));
    assert!(node(aggregate(&scan(), &[], vec![(sum(BYTES), None)])).schema().is_unique_key(&[]), "one row");
    assert!(!scan().schema().is_unique_key(&[0, 1, 2, 3, 4]), "a table has no key but what the catalog enforces");
}

#[test]
fn a_projection_keeps_the_keys_whose_columns_it_keeps() {
    let grouped = node(aggregate(&scan(), &[JOB, HOST], vec![(sum(BYTES), None)]));
    let kept = project(vec![(Expr::column(1), "h"), (Expr::column(0), "j")], &grouped);
    assert!(kept.schema().is_unique_key(&[0, 1]));
    let lost = project(vec![(Expr::column(1), "h"), (Expr::column(2), "s")], &grouped);
    assert!(!lost.schema().is_unique_key(&[0, 1]));
}

#[test]
fn distinct_rows_and_single_rows_are_unique() {
    let distinct = QueryExpr::new(Operator::Distinct { input: scan() }).unwrap();
    assert!(distinct.schema().is_unique_key(&[0, 1, 2, 3, 4]));
    let one = QueryExpr::new(Operator::Limit { skip: 3, fetch: Some(1), input: scan() }).unwrap();
    assert!(one.schema().is_unique_key(&[]));
    let two = QueryExpr::new(Operator::Limit { skip: 0, fetch: Some(2), input: scan() }).unwrap();
    assert!(!two.schema().is_unique_key(&[]));
}

#[rstest]
#[case::equal(&[("a", DataType::Int64, true)], true)]
#[case::narrower(&[("a", DataType::Int64, false)], true)]
#[case::other_name(&[("b", DataType::Int64, true)], false)]
#[case::other_type(&[("a", DataType::Int32, true)], false)]
#[case::more_columns(&[("a", DataType::Int64, true), ("b", DataType::Int64, true)], false)]
fn a_replacement_may_be_narrower_never_wider(#[case] fields: &[(&str, DataType, bool)], #[case] expected: bool) {
    let schema = |fields: &[(&str, DataType, bool)]| {
        let field =
            |(name, data_type, nullable): &(&str, DataType, bool)| Field::new(*name, data_type.clone(), *nullable);
        Schema::new(fields.iter().map(field).collect())
    };
    let target = schema(&[("a", DataType::Int64, true)]);
    assert_eq!(schema(fields).can_replace(&target), expected);
    let not_null = schema(&[("a", DataType::Int64, false)]);
    assert!(!target.can_replace(&not_null), "a column that can be NULL replaces none that cannot");
}

#[test]
fn comparisons_need_one_type_and_columns_must_exist() {
    let mixed = Expr::column(BYTES).compare(CompareOp::Lt, int(1));
    assert!(matches!(mixed.data_type(&table()), Err(TypesError::OperandTypes { .. })));
    let outside = Expr::column(9).data_type(&table());
    assert_eq!(outside, Err(TypesError::ColumnOutOfRange { column: 9, columns: 5 }));
}

#[rstest]
#[case::widening(BYTES, DataType::Int64, true)]
#[case::to_float(HOST, DataType::Float64, true)]
#[case::narrowing(HOST, DataType::Int32, false)]
#[case::wider_decimal(PRICE, DataType::Decimal128(18, 4), true)]
#[case::fewer_digits_before_the_point(PRICE, DataType::Decimal128(15, 4), false)]
#[case::text_to_number(JOB, DataType::Int64, false)]
#[case::float_to_integer(LOAD, DataType::Int64, false)]
fn casts_that_cannot_fail(#[case] column: usize, #[case] to: DataType, #[case] expected: bool) {
    let cast = |null_on_failure| Expr::Cast { arg: Box::new(Expr::column(column)), to: to.clone(), null_on_failure };
    assert_eq!(cast(false).cannot_fail(&table()), expected);
    assert!(cast(true).cannot_fail(&table()), "TRY_CAST never fails");
    assert_eq!(cast(true).nullable(&table()), Ok(true));
}

#[test]
fn a_schema_reads_as_text() {
    let aggregate = node(aggregate(&scan(), &[HOST], vec![(sum(PRICE), None)]));
    assert_eq!(Arc::clone(&aggregate).schema().to_string(), "[c0: Int64 NOT NULL, c1: Decimal128(25, 2)]");
}
