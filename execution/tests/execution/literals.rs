//! Literals of every type that the front end accepts, through a plan and back.

use std::sync::Arc;

use asap_types::{F64Bits, Literal, LiteralValue, NamedExpr, Operator, PostAsapDag, QueryExpr};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float16Type, IntervalDayTime, IntervalMonthDayNano, TimeUnit, i256,
};
use datafusion::common::ScalarValue;

use crate::support::{answers, context, scan};

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

fn scalars() -> Vec<(ScalarValue, LiteralValue)> {
    let integer = LiteralValue::Integer;
    let float = |value: f64| LiteralValue::Float(F64Bits::new(value));
    let text = || LiteralValue::Text("é".to_owned());
    let bytes = || LiteralValue::Bytes(vec![0, 255]);
    let interval = |months, days, nanos| LiteralValue::Interval { months, days, nanos };
    let zone = || Some(Arc::from("+02:00"));
    let dictionary = ScalarValue::Dictionary(Box::new(DataType::Int32), Box::new(ScalarValue::Utf8(Some("é".into()))));
    vec![
        (ScalarValue::Boolean(Some(true)), LiteralValue::Boolean(true)),
        (ScalarValue::Float16(Some(F16::from_f64(-0.5))), float(-0.5)),
        (ScalarValue::Float32(Some(0.1)), float(f64::from(0.1_f32))),
        (ScalarValue::Float64(Some(0.1)), float(0.1)),
        (ScalarValue::Decimal32(Some(-12_345), 9, 2), integer(-12_345)),
        (ScalarValue::Decimal64(Some(-12_345), 18, 2), integer(-12_345)),
        (ScalarValue::Decimal128(Some(i128::MAX / 2), 38, 2), integer(i128::MAX / 2)),
        (ScalarValue::Decimal256(Some(i256::from_i128(-7)), 76, 2), integer(-7)),
        (ScalarValue::Int8(Some(i8::MIN)), integer(i8::MIN.into())),
        (ScalarValue::Int16(Some(i16::MIN)), integer(i16::MIN.into())),
        (ScalarValue::Int32(Some(i32::MIN)), integer(i32::MIN.into())),
        (ScalarValue::Int64(Some(i64::MIN)), integer(i64::MIN.into())),
        (ScalarValue::UInt8(Some(u8::MAX)), integer(u8::MAX.into())),
        (ScalarValue::UInt16(Some(u16::MAX)), integer(u16::MAX.into())),
        (ScalarValue::UInt32(Some(u32::MAX)), integer(u32::MAX.into())),
        (ScalarValue::UInt64(Some(u64::MAX)), integer(u64::MAX.into())),
        (ScalarValue::Date32(Some(-1)), integer(-1)),
        (ScalarValue::Date64(Some(86_400_000)), integer(86_400_000)),
        (ScalarValue::Time32Second(Some(1)), integer(1)),
        (ScalarValue::Time32Millisecond(Some(1)), integer(1)),
        (ScalarValue::Time64Microsecond(Some(1)), integer(1)),
        (ScalarValue::Time64Nanosecond(Some(1)), integer(1)),
        (ScalarValue::TimestampSecond(Some(1), None), integer(1)),
        (ScalarValue::TimestampMillisecond(Some(1), zone()), integer(1)),
        (ScalarValue::TimestampMicrosecond(Some(1), None), integer(1)),
        (ScalarValue::TimestampNanosecond(Some(1), zone()), integer(1)),
        (ScalarValue::DurationSecond(Some(1)), integer(1)),
        (ScalarValue::DurationMillisecond(Some(1)), integer(1)),
        (ScalarValue::DurationMicrosecond(Some(1)), integer(1)),
        (ScalarValue::DurationNanosecond(Some(1)), integer(1)),
        (ScalarValue::IntervalYearMonth(Some(14)), interval(14, 0, 0)),
        (ScalarValue::IntervalDayTime(Some(IntervalDayTime::new(2, -3))), interval(0, 2, -3_000_000)),
        (ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(1, 2, 3))), interval(1, 2, 3)),
        (ScalarValue::Utf8(Some("é".into())), text()),
        (ScalarValue::Utf8View(Some("é".into())), text()),
        (ScalarValue::LargeUtf8(Some("é".into())), text()),
        (ScalarValue::Binary(Some(vec![0, 255])), bytes()),
        (ScalarValue::BinaryView(Some(vec![0, 255])), bytes()),
        (ScalarValue::LargeBinary(Some(vec![0, 255])), bytes()),
        (ScalarValue::FixedSizeBinary(2, Some(vec![0, 255])), bytes()),
        (dictionary, text()),
    ]
}

/// Each value, and NULL of its type, in a projection over a table of one row or more.
#[tokio::test]
async fn every_type_comes_back_as_it_was() {
    let context = context();
    let nested = DataType::List(Arc::new(datafusion::arrow::datatypes::Field::new("item", DataType::Int64, true)));
    let nulls = [DataType::Null, nested, DataType::Timestamp(TimeUnit::Second, None)];
    let nulls = nulls.iter().map(|data_type| (ScalarValue::try_from(data_type).unwrap(), LiteralValue::Null));
    let of_types = scalars().into_iter().flat_map(|(scalar, value)| {
        let null = ScalarValue::try_from(&scalar.data_type()).unwrap();
        [(scalar, value), (null, LiteralValue::Null)]
    });
    let cases: Vec<_> = of_types.chain(nulls).collect();
    let columns = cases.iter().enumerate().map(|(index, (scalar, value))| NamedExpr {
        expr: asap_types::Expr::Literal(Literal::new(scalar.data_type(), value.clone())),
        name: format!("l{index}"),
    });
    let query = QueryExpr::new(Operator::Project { columns: columns.collect(), input: scan("t") }).unwrap();
    let dag = PostAsapDag::from_queries([("q", &query)]).unwrap();
    let answer = answers(&dag, &context).await.remove(0);
    for (column, (scalar, _)) in answer.batches[0].columns().iter().zip(&cases) {
        assert_eq!(&ScalarValue::try_from_array(column, 0).unwrap(), scalar);
    }
}
