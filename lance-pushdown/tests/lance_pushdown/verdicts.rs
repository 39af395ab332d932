//! Which filters statistics decide, and which they must not.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::functions::math::expr_fn::random;
use datafusion::logical_expr::{Expr, cast};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{col, lit};
use lance::io::exec::filtered_read::{FilteredReadExec, FilteredReadOptions};
use lance_core::datatypes::OnMissing;
use lance_pushdown::{Bucket, LancePushdown, PushdownReport, Refusal, Undecided};
use rstest::rstest;

use crate::operator::rewrite;
use crate::support::{Table, assert_opened, buckets, fragments, pushed};

/// Values and words of fragment `at`, ten rows each.
///
/// | fragment | v | w |
/// | --- | --- | --- |
/// | 0 | 10 to 19 | b0 to b9 |
/// | 1 | 20 to 29, two of them NULL | c0 to c9 |
/// | 2 | NULL | NULL |
/// | 3 | 30 to 39 | d0 to d9 |
/// | 4 | 5 | a |
fn values(at: i32, row: i32) -> (Option<i32>, Option<String>) {
    let word = |letter: char| Some(format!("{letter}{row}"));
    match at {
        0 => (Some(10 + row), word('b')),
        1 => ((row % 5 != 3).then_some(20 + row), word('c')),
        2 => (None, None),
        3 => (Some(30 + row), word('d')),
        _ => (Some(5), Some("a".to_string())),
    }
}

pub(crate) fn batch() -> RecordBatch {
    let rows = || (0..5).flat_map(|at| (0..10).map(move |row| values(at, row)));
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("v", DataType::Int32, true),
        Field::new("w", DataType::Utf8, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new((0..50).collect::<Int64Array>()),
        Arc::new(rows().map(|(v, _)| v).collect::<Int32Array>()),
        Arc::new(rows().map(|(_, w)| w).collect::<StringArray>()),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// The table above with zone maps on `v` and `w`, several zones to a fragment.
pub(crate) async fn zoned() -> Table {
    let layout = crate::support::Layout { rows_per_fragment: 10, fragments: 5, stable_row_ids: false };
    let mut table = Table::from_batch(batch(), layout).await;
    table.zone_map("v", 4).await;
    table.zone_map("w", 4).await;
    table
}

#[rstest]
#[case::equal("v = 5", "sssss")]
#[case::equal_within("v = 15", ".ssss")]
#[case::equal_within_with_nulls("v = 25", "s.sss")]
#[case::equal_outside("v = 7", "sssss")]
#[case::not_equal("v <> 5", "s.sss")]
#[case::not_equal_within("v <> 15", "..sss")]
#[case::less("v < 20", "sssss")]
#[case::less_within("v < 15", ".ssss")]
#[case::less_or_equal("v <= 19", "sssss")]
#[case::less_or_equal_within("v <= 18", ".ssss")]
#[case::greater("v > 29", "sssss")]
#[case::greater_but_nulls("v > 19", "s.sss")]
#[case::greater_or_equal("v >= 30", "sssss")]
#[case::greater_or_equal_within("v >= 31", "sss.s")]
#[case::literal_first("20 > v", "sssss")]
#[case::membership("v IN (5, 100)", "sssss")]
#[case::membership_within("v IN (5, 15)", ".ssss")]
#[case::long_membership("v IN (1, 2, 3, 4, 5, 6, 7)", "sssss")]
#[case::not_in("v NOT IN (5, 100)", "s.sss")]
#[case::not_in_within("v NOT IN (5, 15)", "..sss")]
#[case::between("v BETWEEN 10 AND 19", "sssss")]
#[case::between_within("v BETWEEN 10 AND 18", ".ssss")]
#[case::not_between("v NOT BETWEEN 10 AND 19", "s.sss")]
#[case::is_null("v IS NULL", "s.sss")]
#[case::is_not_null("v IS NOT NULL", "s.sss")]
#[case::not("NOT (v = 5)", "s.sss")]
#[case::not_is_null("NOT (v IS NULL)", "s.sss")]
#[case::and("v >= 10 AND w < 'c'", "sssss")]
#[case::and_half_open("v >= 10 AND w < 'b5'", ".ssss")]
#[case::or("v = 5 OR w >= 'd'", "sssss")]
#[case::or_within("v = 15 OR w >= 'd'", ".ssss")]
#[case::or_of_complements("v < 15 OR v >= 15", "..sss")]
#[case::not_and("NOT (v >= 10 AND w < 'c')", "s.sss")]
#[case::not_or("NOT (v = 5 OR w >= 'd')", "s.sss")]
#[case::null_test_with_comparison("v > 100 OR v IS NULL", "s..ss")]
#[case::string_equal("w = 'a'", "sssss")]
#[case::string_not_in("w NOT IN ('a', 'z')", "sssss")]
#[case::string_prefix_of_a_bound("w < 'b'", "sssss")]
// `id` has no zone map: it decides nothing, and stands in the way of nothing.
#[case::other_column_irrelevant("v > 100 AND id < 10", "sssss")]
#[case::other_column_needed("v > 9 AND id < 10", "..s.s")]
#[case::null_test_needs_no_other("v IS NULL OR id < 10", "..s..")]
#[tokio::test]
async fn filters(#[case] filter: &str, #[case] expected: &str) {
    let table = zoned().await;
    let report = assert_opened(&table, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
    assert_eq!(buckets(&report), expected, "{report}");
}

/// `COUNT(v)` is a literal where the number of NULLs is known exactly.
#[rstest]
#[case::unfiltered("SELECT count(v) FROM t", "sssss")]
#[case::both("SELECT count(v), count(*), count(id) FROM t", "sssss")]
#[case::not_nullable("SELECT count(id) FROM t", "mmmmm")]
#[case::filtered("SELECT count(v) FROM t WHERE w < 'd'", "sssss")]
#[case::no_zone_decides("SELECT count(v) FROM t WHERE w = 'c5'", "s.sss")]
// COUNT(v) is 0 where v is NULL throughout, unless the filter might fail there.
#[case::undecided_filter("SELECT count(v) FROM t WHERE id > 3", "..s..")]
#[case::undecidable_filter("SELECT count(v) FROM t WHERE 10 / (id + 1) > 3", ".....")]
#[tokio::test]
async fn counts_of_a_column(#[case] sql: &str, #[case] expected: &str) {
    let table = zoned().await;
    let report = assert_opened(&table, sql).await;
    assert_eq!(buckets(&report), expected, "{report}");
}

#[rstest]
#[case("v = 15", Undecided::Inconclusive)]
#[case("v <> 5", Undecided::NullsPossible)]
#[case("id = 3", Undecided::NoStatistics)]
#[case("upper(w) = 'B1'", Undecided::Expression)]
#[case("w LIKE 'b%'", Undecided::Expression)]
#[case("v + 1 > 16", Undecided::Expression)]
#[case("v = 99999999999", Undecided::Cast)]
#[case("v > 14.5", Undecided::Cast)]
#[tokio::test]
async fn reasons(#[case] filter: &str, #[case] expected: Undecided) {
    let table = zoned().await;
    let report = assert_opened(&table, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
    let at = usize::from(expected == Undecided::NullsPossible);
    assert_eq!(report.fragments[at].undecided, Some(expected), "{report}");
    assert!(matches!(report.fragments[at].bucket, Bucket::Scan(_)));
}

/// Without zone maps the manifest alone decides.
#[tokio::test]
async fn a_table_that_was_not_opened() {
    let mut table = zoned().await;
    let sql = "SELECT count(*) FROM t WHERE w = 'zz'";
    let (_, report) = pushed(table.shared(), sql, 1).await;
    assert_eq!(report.refusal, Some(Refusal::NothingAnswered));
    assert_eq!(report.fragments[0].undecided, Some(Undecided::NotRead));
    // A fragment without the column: it is NULL there.
    let ids = batch().project(&[0, 1]).unwrap().slice(0, 10);
    table.append_batch(ids).await;
    for (filter, expected) in [
        ("w = 'zz'", ".....m"),
        ("w <> 'zz'", ".....m"),
        ("w NOT IN ('a', 'b')", ".....m"),
        ("w IS NULL", ".....m"),
        ("w IS NOT NULL", ".....m"),
        ("NOT (w = 'zz' OR v = 3)", ".....m"),
    ] {
        let sql = format!("SELECT count(*) FROM t WHERE {filter}");
        let (counts, report) = pushed(table.shared(), &sql, 1).await;
        assert_eq!(counts, crate::support::truth(&table, &sql).await, "{filter}");
        assert_eq!(buckets(&report), expected, "{filter}");
    }
}

/// A column of every type that is compared, ten ascending values of it in each of two fragments.
fn typed_batch() -> RecordBatch {
    let micros: TimestampMicrosecondArray = (0..20).map(|row| Some(i64::from(row) * 1_000_000)).collect();
    let floats = Float64Array::from_iter_values((0..20).map(f64::from));
    let decimals = Decimal128Array::from_iter_values((0..20).map(|row| i128::from(row) * 50));
    let flags = BooleanArray::from_iter((0..20).map(|row| Some(row < 10)));
    let inner: ArrayRef = Arc::new(Int32Array::from_iter_values(0..20));
    let nested = StructArray::from(vec![(Arc::new(Field::new("k", DataType::Int32, true)), inner)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ts", Arc::new(micros.with_timezone("UTC"))),
        ("f", Arc::new(floats)),
        ("d", Arc::new(decimals.with_precision_and_scale(10, 2).unwrap())),
        ("flag", Arc::new(flags)),
        ("v", Arc::new(Int32Array::from_iter_values(0..20))),
        ("s", Arc::new(nested)),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

async fn typed() -> Table {
    let layout = crate::support::Layout { rows_per_fragment: 10, ..fragments(2) };
    let mut table = Table::from_batch(typed_batch(), layout).await;
    for column in ["ts", "f", "d", "flag", "v"] {
        table.zone_map(column, 4).await;
    }
    table
}

/// The rule over a scan with exactly this filter.
pub(crate) async fn over(table: &Table, filter: Expr) -> PushdownReport {
    let dataset = table.shared();
    let pushdown = LancePushdown::new();
    pushdown.open_table(Arc::clone(&dataset)).await.unwrap();
    let mut projection = dataset.empty_projection().with_row_addr();
    for field in &dataset.schema().fields {
        projection = projection.union_column(&field.name, OnMissing::Error).unwrap();
    }
    let options = FilteredReadOptions::new(projection).with_filter(Some(filter.clone()), Some(filter)).unwrap();
    let scan: Arc<dyn ExecutionPlan> = Arc::new(FilteredReadExec::try_new(dataset, options, None).unwrap());
    rewrite(&pushdown, scan).1
}

fn micros(value: i64) -> Expr {
    lit(ScalarValue::TimestampMicrosecond(Some(value), Some("UTC".into())))
}

fn decimal(value: i128, scale: i8) -> Expr {
    lit(ScalarValue::Decimal128(Some(value), 10, scale))
}

fn int(value: Option<i32>) -> Expr {
    lit(ScalarValue::Int32(value))
}

#[rstest]
#[case::same_type(col("v").lt(int(Some(10))), None)]
#[case::timestamp(col("ts").lt(micros(10_000_000)), None)]
#[case::null_test_of_a_float(col("f").is_null(), None)]
#[case::null_test_of_a_flag(col("flag").is_not_null(), None)]
#[case::other_integer(col("v").lt(lit(10_i64)), Some(Undecided::LiteralType))]
#[case::other_unit(
    col("ts").lt(lit(ScalarValue::TimestampMillisecond(Some(10_000), Some("UTC".into())))),
    Some(Undecided::LiteralType)
)]
#[case::other_zone(
    col("ts").lt(lit(ScalarValue::TimestampMicrosecond(Some(10_000_000), None))),
    Some(Undecided::LiteralType)
)]
#[case::cast_column(cast(col("v"), DataType::Int64).lt(lit(10_i64)), Some(Undecided::Cast))]
#[case::cast_literal(col("v").lt(cast(lit(10_i64), DataType::Int32)), Some(Undecided::Cast))]
#[case::other_scale(col("d").lt(decimal(500, 3)), Some(Undecided::LiteralType))]
// Lance keeps no extrema of decimals.
#[case::decimal(col("d").lt(decimal(500, 2)), Some(Undecided::MissingExtrema))]
#[case::float(col("f").lt(lit(10.0)), Some(Undecided::Float))]
#[case::flag(col("flag").eq(lit(true)), Some(Undecided::ColumnType))]
#[case::bare_flag(col("flag"), Some(Undecided::Expression))]
#[case::null_literal(col("v").eq(int(None)), Some(Undecided::NullLiteral))]
#[case::null_in_list(col("v").in_list(vec![int(Some(50)), int(None)], false), Some(Undecided::NullLiteral))]
#[case::null_not_in_list(col("v").in_list(vec![int(Some(50)), int(None)], true), Some(Undecided::NullLiteral))]
#[case::null_bound(col("v").between(int(None), int(Some(3))), Some(Undecided::NullLiteral))]
#[case::volatile(random().lt(lit(2.0)), Some(Undecided::Expression))]
#[case::volatile_beside(col("v").lt(int(Some(10))).and(random().lt(lit(2.0))), Some(Undecided::Expression))]
#[case::may_fail((int(Some(10)) / col("v")).gt(int(Some(-1))), Some(Undecided::Expression))]
#[case::two_columns(col("v").eq(col("v")), Some(Undecided::Expression))]
#[case::nested(get_field(col("s"), "k").lt(int(Some(10))), Some(Undecided::NestedColumn))]
#[case::nested_null(col("s").is_null(), Some(Undecided::NestedColumn))]
#[case::system(col("_rowaddr").lt(lit(10_u64)), Some(Undecided::SystemColumn))]
#[tokio::test]
async fn expressions(#[case] filter: Expr, #[case] undecided: Option<Undecided>) {
    let report = over(&typed().await, filter).await;
    for fragment in &report.fragments {
        assert_eq!(fragment.undecided, undecided, "{report}");
        assert_eq!(fragment.bucket == Bucket::Literal, undecided.is_none(), "{report}");
    }
}
