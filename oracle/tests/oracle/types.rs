//! Every type: what is written is what every plan reads, groups, compares and adds up.

use asap_oracle::fuzz::check_recipe;
use asap_oracle::query::{Column, Comparison, Expr, Function, Output, Query};
use asap_oracle::recipe::{IndexKind, Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use asap_oracle::value::{Decimal, Float, Type, Value};
use rstest::rstest;

fn int(value: i64) -> Value {
    Value::Int64(value)
}

fn float(value: f64) -> Value {
    Value::Float64(Float(value))
}

#[rstest]
#[case::boolean(Type::Boolean, vec![Value::Boolean(false), Value::Boolean(true)])]
#[case::int8(Type::Int8, vec![int(i8::MIN.into()), int(i8::MAX.into())])]
#[case::int16(Type::Int16, vec![int(i16::MIN.into()), int(i16::MAX.into())])]
#[case::int32(Type::Int32, vec![Value::Int32(i32::MIN), Value::Int32(i32::MAX)])]
#[case::int64(Type::Int64, vec![int(i64::MIN), int(i64::MAX)])]
#[case::uint8(Type::UInt8, vec![int(0), int(u8::MAX.into())])]
#[case::uint16(Type::UInt16, vec![int(0), int(u16::MAX.into())])]
#[case::uint32(Type::UInt32, vec![int(0), int(u32::MAX.into())])]
#[case::uint64(Type::UInt64, vec![Value::UInt64(0), Value::UInt64(u64::MAX)])]
#[case::float32(Type::Float32, vec![float(f32::MIN_POSITIVE.into()), float(0.25)])]
#[case::float64(Type::Float64, vec![float(f64::MIN_POSITIVE), float(0.25)])]
#[case::decimal(Type::Decimal { precision: 9, scale: 2 }, vec![
    Value::Decimal(Decimal { unscaled: -999_999_999, scale: 2 }),
    Value::Decimal(Decimal { unscaled: 999_999_999, scale: 2 }),
])]
#[case::utf8(Type::Utf8, vec![Value::Utf8(String::new()), Value::Utf8("日本 🦀 it's".to_owned())])]
#[case::large_utf8(Type::LargeUtf8, vec![Value::Utf8(String::new()), Value::Utf8("日本 🦀 it's".to_owned())])]
#[case::binary(Type::Binary, vec![Value::Binary(Vec::new()), Value::Binary(vec![0, 0xff])])]
#[case::large_binary(Type::LargeBinary, vec![Value::Binary(Vec::new()), Value::Binary(vec![0, 0xff])])]
#[case::date(Type::Date, vec![Value::Date(-719_162), Value::Date(2_932_896)])]
#[case::seconds(Type::TimestampSecond, vec![Value::Timestamp(-1), Value::Timestamp(i64::MAX / 1_000_000_000)])]
#[case::milliseconds(Type::TimestampMillisecond, vec![Value::Timestamp(-1), Value::Timestamp(i64::MAX / 1_000_000)])]
#[case::microseconds(Type::Timestamp, vec![Value::Timestamp(-1), Value::Timestamp(i64::MAX / 1000)])]
#[case::dictionary(Type::Dictionary, vec![Value::Utf8(String::new()), Value::Utf8("日本 🦀 it's".to_owned())])]
#[case::utc(Type::TimestampUtc, vec![Value::Timestamp(-1), Value::Timestamp(i64::MAX / 1000)])]
#[case::nanoseconds(Type::TimestampNanosecond, vec![Value::Timestamp(-1), Value::Timestamp(i64::MAX)])]
#[tokio::test(flavor = "multi_thread")]
async fn every_plan_reads_what_was_written(#[case] data_type: Type, #[case] values: Vec<Value>) {
    let column = Column { name: "c0".to_owned(), data_type, nullable: true };
    let rows = values.iter().chain([&Value::Null, &values[0]]).map(|value| vec![value.clone()]).collect();
    let index = Operation::CreateIndex { column: "c0".to_owned(), kind: IndexKind::Bitmap, name: None };
    let table = TableRecipe::new("t", vec![column], vec![Operation::Create { rows }, index]);
    let mut recipe = Recipe {
        version: RECIPE_VERSION,
        table,
        workload: queries(&values[1], data_type),
        settings: Settings::default(),
    };
    for in_memory in [false, true] {
        recipe.settings.in_memory = in_memory;
        let replayed = Recipe::from_json(&recipe.to_json().unwrap()).unwrap();
        assert_eq!(replayed, recipe);
        let outcome = check_recipe(&replayed).await;
        assert!(
            outcome.failures.is_empty() && outcome.defects.is_empty(),
            "{:?} {:?}",
            outcome.failures,
            outcome.defects
        );
        assert_eq!(outcome.refused, 0);
    }
}

/// All rows, groups with their extrema, and what adds up; counts of the rows that are and that are not the value.
fn queries(value: &Value, data_type: Type) -> Vec<Query> {
    let column = || Expr::column("c0");
    let of = |function| Output::new(Expr::aggregate(function, column(), None), format!("{function}_"));
    let mut measures = vec![of(Function::Count), of(Function::Min), of(Function::Max)];
    if data_type.is_numeric() {
        measures.extend([of(Function::Sum), of(Function::Avg)]);
    }
    let total = Query { group_by: Some(Vec::new()), ..Query::of_table("t", measures) };
    let counted = |operator| {
        let filter = Expr::compare(operator, column(), Expr::literal(value.clone(), data_type));
        let count = vec![Output::new(Expr::count_all(None), "m")];
        Query { filter: Some(filter), group_by: Some(Vec::new()), ..Query::of_table("t", count) }
    };
    let mut grouped = Query { group_by: Some(vec![column()]), ..total.clone() };
    grouped.outputs.insert(0, Output::new(column(), "c0"));
    let all = Query::of_table("t", vec![Output::new(column(), "c0")]);
    let comparisons = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual];
    [all, grouped, total].into_iter().chain(comparisons.map(counted)).collect()
}
