//! Types, nullability, unique keys, and what is invalid.

use arrow_schema::{DataType, TimeUnit};
use asap_types::{
    AggIntent, ArithmeticOp, CompareOp, Expr, Field, FunctionFacts, Literal, MeasureFilters, Operator, PostAsapDag,
    Predicate, QueryExpr, Schema, TableRef, TypesError, UnaryOp, Volatility, average_type, sum_type,
};
use rstest::rstest;

use crate::build::*;

#[test]
fn plans_are_send_and_sync() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<std::sync::Arc<QueryExpr>>();
    is_send_and_sync::<std::sync::Arc<asap_types::UnresolvedQuery>>();
    is_send_and_sync::<PostAsapDag>();
    is_send_and_sync::<TypesError>();
}

#[rstest]
#[case(DataType::Int8, DataType::Int64, DataType::Float64)]
#[case(DataType::Int16, DataType::Int64, DataType::Float64)]
#[case(DataType::Int32, DataType::Int64, DataType::Float64)]
#[case(DataType::Int64, DataType::Int64, DataType::Float64)]
#[case(DataType::UInt8, DataType::UInt64, DataType::Float64)]
#[case(DataType::UInt16, DataType::UInt64, DataType::Float64)]
#[case(DataType::UInt32, DataType::UInt64, DataType::Float64)]
#[case(DataType::UInt64, DataType::UInt64, DataType::Float64)]
#[case(DataType::Float32, DataType::Float64, DataType::Float64)]
#[case(DataType::Float64, DataType::Float64, DataType::Float64)]
#[case(DataType::Decimal128(5, 2), DataType::Decimal128(15, 2), DataType::Decimal128(9, 6))]
#[case(DataType::Decimal128(30, 2), DataType::Decimal128(38, 2), DataType::Decimal128(34, 6))]
#[case(DataType::Decimal128(38, 37), DataType::Decimal128(38, 37), DataType::Decimal128(38, 38))]
#[case(DataType::Decimal256(70, -3), DataType::Decimal256(76, -3), DataType::Decimal256(74, 1))]
#[case(
    DataType::Duration(TimeUnit::Second),
    DataType::Duration(TimeUnit::Second),
    DataType::Duration(TimeUnit::Second)
)]
fn sums_and_averages(#[case] arg: DataType, #[case] sum: DataType, #[case] average: DataType) {
    let schema = Schema::new(vec![Field::new("x", arg, false)]);
    let of = |measure: AggIntent| measure.data_type(&schema).unwrap();
    assert_eq!(of(AggIntent::Sum { arg: col(0) }), sum);
    assert_eq!(of(AggIntent::Sum0 { arg: col(0) }), sum);
    assert_eq!(of(AggIntent::Avg { arg: col(0) }), average);
    for extremum in [AggIntent::Min { arg: col(0) }, AggIntent::Max { arg: col(0) }] {
        assert_eq!(of(extremum), schema.fields()[0].data_type);
    }
}

#[rstest]
#[case(DataType::Utf8)]
#[case(DataType::Boolean)]
#[case(DataType::Date32)]
#[case(DataType::Null)]
fn what_cannot_be_added_up(#[case] arg: DataType) {
    assert!(matches!(sum_type(&arg), Err(TypesError::ArgumentType { .. })));
    assert!(matches!(average_type(&arg), Err(TypesError::ArgumentType { .. })));
}

#[test]
fn extrema_of_a_dictionary_are_its_values() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Schema::new(vec![Field::new("x", dictionary, true)]);
    assert_eq!(AggIntent::Max { arg: col(0) }.data_type(&schema), Ok(DataType::Utf8));
}

#[test]
fn measures_are_null_over_nothing_but_counts_and_sum0() {
    let over_not_null = [
        (AggIntent::count(), None),
        (AggIntent::Sum0 { arg: col(2) }, None),
        (AggIntent::Sum { arg: col(2) }, None),
        (AggIntent::Min { arg: col(2) }, None),
        (AggIntent::Max { arg: col(2) }, None),
        (AggIntent::Avg { arg: col(2) }, None),
    ];
    let schema = aggregate(&scan(), vec![col(0), col(2)], over_not_null.to_vec(), None).schema().clone();
    let nullable: Vec<bool> = schema.fields().iter().map(|field| field.nullable).collect();
    assert_eq!(nullable, [true, false, false, false, true, true, true, true]);
}

#[rstest]
#[case::column(col(0), true)]
#[case::not_null_column(col(2), false)]
#[case::literal(int(1), false)]
#[case::null(Expr::Literal(Literal::null(DataType::Int64)), true)]
#[case::compare(greater(col(0), 1), true)]
#[case::compare_not_null(greater(col(2), 1), false)]
#[case::distinct(col(0).compare(CompareOp::IsDistinctFrom, col(1)), false)]
#[case::not_distinct(col(0).compare(CompareOp::IsNotDistinctFrom, col(1)), false)]
#[case::not(not(greater(col(0), 1)), true)]
#[case::is_null(is_null(col(0)), false)]
#[case::is_true(greater(col(0), 1).unary(UnaryOp::IsTrue), false)]
#[case::is_unknown(greater(col(0), 1).unary(UnaryOp::IsUnknown), false)]
#[case::negative(col(2).unary(UnaryOp::Negative), false)]
#[case::and(greater(col(2), 1).and(greater(col(0), 1)), true)]
#[case::cast(cast(col(2), DataType::Utf8), false)]
#[case::try_cast(Expr::Cast { arg: Box::new(col(2)), to: DataType::Int8, null_on_failure: true }, true)]
#[case::case_without_else(Expr::Case { operand: None, branches: vec![(is_null(col(0)), int(1))], otherwise: None }, true)]
#[case::case_with_else(
    Expr::Case { operand: None, branches: vec![(greater(col(0), 1), int(1))], otherwise: Some(Box::new(col(2))) },
    false
)]
#[case::case_with_null_else(
    Expr::Case { operand: None, branches: vec![(greater(col(0), 1), int(1))], otherwise: Some(Box::new(col(0))) },
    true
)]
#[case::in_list(Expr::InList { arg: Box::new(col(2)), list: vec![int(1)], negated: false }, false)]
#[case::in_list_with_null(Expr::InList { arg: Box::new(col(2)), list: vec![int(1), col(0)], negated: false }, true)]
#[case::average(Expr::AverageFromParts { sum: Box::new(col(2)), count: Box::new(col(2)), data_type: DataType::Float64 }, true)]
fn nullability(#[case] expr: Expr, #[case] nullable: bool) {
    assert_eq!(expr.nullable(&schema()), Ok(nullable));
}

fn typed_schema() -> Schema {
    let column = |name: &str, data_type| Field::new(name, data_type, true);
    Schema::new(vec![
        column("i", DataType::Int32),
        column("u", DataType::UInt32),
        column("d", DataType::Decimal128(10, 2)),
        column("f", DataType::Float64),
        column("s", DataType::Utf8),
        column("k", DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))),
        column("t", DataType::Timestamp(TimeUnit::Second, None)),
    ])
}

fn typed(op: ArithmeticOp, column: usize, data_type: DataType) -> Expr {
    Expr::Arithmetic { op, left: Box::new(col(column)), right: Box::new(col(column)), data_type }
}

fn function(can_fail: bool) -> Expr {
    let facts =
        FunctionFacts { data_type: DataType::Utf8, nullable: true, volatility: Volatility::Immutable, can_fail };
    Expr::Function { name: "upper".to_owned(), args: vec![col(4)], facts }
}

fn like(pattern: Expr, escape: Option<char>) -> Expr {
    let (arg, pattern) = (Box::new(col(4)), Box::new(pattern));
    Expr::Like { arg, pattern, escape, case_insensitive: false, negated: false }
}

#[rstest]
#[case::column(col(4), true)]
#[case::integer_sum(typed(ArithmeticOp::Add, 0, DataType::Int32), true)]
#[case::integer_product(typed(ArithmeticOp::Multiply, 0, DataType::Int32), true)]
#[case::integer_quotient(typed(ArithmeticOp::Divide, 0, DataType::Int32), false)]
#[case::integer_remainder(typed(ArithmeticOp::Modulo, 0, DataType::Int32), false)]
#[case::float_quotient(typed(ArithmeticOp::Divide, 3, DataType::Float64), true)]
#[case::decimal_sum(typed(ArithmeticOp::Add, 2, DataType::Decimal128(11, 2)), false)]
#[case::timestamp_sum(typed(ArithmeticOp::Subtract, 6, DataType::Duration(TimeUnit::Second)), false)]
#[case::integer_negation(col(0).unary(UnaryOp::Negative), false)]
#[case::float_negation(col(3).unary(UnaryOp::Negative), true)]
#[case::widening(cast(col(0), DataType::Int64), true)]
#[case::narrowing(cast(col(0), DataType::Int16), false)]
#[case::to_other_sign(cast(col(0), DataType::UInt64), false)]
#[case::unsigned_to_wider(cast(col(1), DataType::Int64), true)]
#[case::unsigned_to_as_wide(cast(col(1), DataType::Int32), false)]
#[case::to_float(cast(col(0), DataType::Float64), true)]
#[case::from_float(cast(col(3), DataType::Int64), false)]
#[case::wider_decimal(cast(col(2), DataType::Decimal128(12, 4)), true)]
#[case::decimal_with_fewer_digits(cast(col(2), DataType::Decimal128(11, 4)), false)]
#[case::decimal_with_less_scale(cast(col(2), DataType::Decimal128(12, 1)), false)]
#[case::parse(cast(col(4), DataType::Int64), false)]
#[case::try_parse(Expr::Cast { arg: Box::new(col(4)), to: DataType::Int64, null_on_failure: true }, true)]
#[case::string_to_string(cast(col(4), DataType::Utf8View), true)]
#[case::dictionary_to_value(cast(col(5), DataType::Utf8), true)]
#[case::timestamp_to_float(cast(col(6), DataType::Float64), false)]
#[case::harmless_function(function(false), true)]
#[case::function(function(true), false)]
#[case::like(like(Expr::Literal(Literal::utf8("a%")), None), true)]
#[case::like_with_escape(like(Expr::Literal(Literal::utf8("a%")), Some('\\')), false)]
#[case::like_of_a_column(like(col(4), None), false)]
#[case::below(is_null(cast(col(4), DataType::Int64)), false)]
#[case::guarded(
    Expr::Case { operand: None, branches: vec![(is_null(col(0)), ten_over(col(0)))], otherwise: None },
    false
)]
fn what_cannot_fail(#[case] expr: Expr, #[case] cannot_fail: bool) {
    assert_eq!(expr.cannot_fail(&typed_schema()), cannot_fail);
}

#[test]
fn unique_keys_travel() {
    let total = counted(&scan(), &[]);
    assert!(total.schema().is_unique_key(&[]));
    let fine = counted(&scan(), &[0, 1]);
    let key_of = |query: &QueryExpr, columns: &[usize]| query.schema().is_unique_key(columns);
    assert!(key_of(&fine, &[0, 1]) && key_of(&fine, &[2, 1, 0]) && !key_of(&fine, &[0]) && !key_of(&fine, &[]));
    assert!(key_of(&filter(&fine, greater(col(2), 1)), &[0, 1]));
    assert!(key_of(&sort(&fine, col(2)), &[0, 1]));
    let swapped = project(&fine, &[(col(1), "b"), (plus(col(2), int(1)), "n"), (col(0), "a")]);
    assert!(key_of(&swapped, &[0, 2]) && !key_of(&swapped, &[0, 1]));
    assert!(!key_of(&project(&fine, &[(col(0), "a"), (plus(col(1), int(0)), "b")]), &[0, 1]));
    assert!(key_of(&distinct(&scan()), &[0, 1, 2, 3]) && !key_of(&distinct(&scan()), &[0, 1, 2]));
    assert!(key_of(&limit(&scan(), 5, Some(1)), &[]) && !key_of(&limit(&scan(), 0, Some(2)), &[]));
    assert!(!key_of(&scan(), &[0, 1, 2, 3]));
}

#[test]
fn filters_that_filter_nothing_are_no_filters() {
    use std::hash::{BuildHasher, RandomState};
    let some = |count: usize| MeasureFilters::<asap_types::ColumnId>::from(vec![None; count]);
    let state = RandomState::new();
    assert!(some(3) == MeasureFilters::none() && some(3).is_none());
    assert_eq!(state.hash_one(some(3)), state.hash_one(MeasureFilters::<asap_types::ColumnId>::none()));
    let spelled = counted(&scan(), &[0]);
    let Operator::Aggregate(mut unspelled) = spelled.operator().clone() else { panic!() };
    unspelled.filters = MeasureFilters::none();
    let unspelled = node(Operator::Aggregate(unspelled));
    assert_eq!(spelled, unspelled);
    assert_eq!(spelled.fingerprint(), unspelled.fingerprint());
    assert_eq!(serde_json::from_str::<MeasureFilters>("[null, null]").unwrap(), MeasureFilters::none());
}

#[test]
fn aggregates_are_checked() {
    let build = |change: &dyn Fn(&mut asap_types::Aggregate<std::sync::Arc<QueryExpr>>)| {
        let mut aggregate = aggregate_of(scan(), vec![col(0)], vec![(AggIntent::count(), None)], None);
        change(&mut aggregate);
        QueryExpr::new(Operator::Aggregate(aggregate)).unwrap_err()
    };
    let filter = || Some(Predicate(is_null(col(0))));
    let too_many = build(&|aggregate| aggregate.filters = vec![filter(), None].into());
    assert_eq!(too_many, TypesError::FilterCount { measures: 1, filters: 2 });
    let too_few = build(&|aggregate| {
        aggregate.measures.push(AggIntent::count());
        aggregate.output_names.push("n".into());
        aggregate.filters = vec![filter()].into();
    });
    assert_eq!(too_few, TypesError::FilterCount { measures: 2, filters: 1 });
    let names = build(&|aggregate| aggregate.output_names.push("n".into()));
    assert_eq!(names, TypesError::OutputNameCount { columns: 2, names: 3 });
    let boolean = build(&|aggregate| aggregate.filters = vec![Some(Predicate(col(0)))].into());
    assert_eq!(boolean, TypesError::PredicateNotBoolean { data_type: DataType::Int64 });
    let having = build(&|aggregate| aggregate.having = Some(Predicate(is_null(col(2)))));
    assert_eq!(having, TypesError::ColumnOutOfRange { column: 2, columns: 2 });
    let key = build(&|aggregate| aggregate.reduction = asap_types::Reduction::by(vec![col(9)]));
    assert_eq!(key, TypesError::ColumnOutOfRange { column: 9, columns: 4 });
}

#[rstest]
#[case::not_boolean(col(0))]
#[case::mixed_types(col(0).eq(Expr::Literal(Literal::utf8("1"))))]
#[case::and_of_a_number(greater(col(0), 1).and(col(0)))]
#[case::not_of_a_number(not(col(0)))]
#[case::out_of_range(is_null(col(4)))]
#[case::deep_below(is_null(cast(col(9), DataType::Utf8)))]
#[case::empty_case(Expr::Case { operand: None, branches: vec![], otherwise: None })]
fn predicates_are_checked(#[case] predicate: Expr) {
    let (schema, predicate) = (schema(), Predicate(predicate));
    let scan_error = Operator::Scan { table: TableRef::bare("t"), schema, predicates: vec![predicate.clone()] };
    assert!(QueryExpr::new(scan_error).is_err());
    assert!(QueryExpr::new(Operator::Filter { predicate, input: scan() }).is_err());
}

#[test]
fn a_replacement_may_be_less_nullable_but_nothing_else() {
    let field = |name: &str, data_type, nullable| Schema::new(vec![Field::new(name, data_type, nullable)]);
    let target = field("a", DataType::Int64, true);
    assert!(target.can_replace(&target) && field("a", DataType::Int64, false).can_replace(&target));
    assert!(!target.can_replace(&field("a", DataType::Int64, false)));
    assert!(!field("b", DataType::Int64, true).can_replace(&target));
    assert!(!field("a", DataType::Int32, true).can_replace(&target));
    assert!(!Schema::new(vec![]).can_replace(&target));
    assert_eq!(field("a", DataType::Int64, false).to_string(), "[a: Int64 NOT NULL]");
}

/// Each operand is typed once: twice would be 2^64 steps here.
#[test]
fn deep_expressions_are_typed_in_linear_time() {
    let deep = (0..64).fold(greater(col(0), 0), |deep, _| {
        let case = Expr::Case { operand: None, branches: vec![(deep, int(1))], otherwise: None };
        greater(cast(case, DataType::Int64), 0).and(boolean(true))
    });
    assert_eq!(deep.data_type(&schema()), Ok(DataType::Boolean));
    assert!(deep.nullable(&schema()).unwrap() && deep.cannot_fail(&schema()));
}
