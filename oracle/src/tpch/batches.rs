//! Rows of `tpchgen` as Arrow batches.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Builder, Decimal128Builder, Int32Builder, Int64Builder, RecordBatch, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use tpchgen::generators::{LineItem, LineItemGenerator, LineItemGeneratorIterator};

const ROWS_PER_BATCH: usize = 8192;
const MONEY_PRECISION: u8 = 15;
const MONEY_SCALE: i8 = 2;

/// `lineitem`'s schema: TPC-H's, except that four columns may be NULL.
pub(super) fn schema() -> SchemaRef {
    let money = DataType::Decimal128(MONEY_PRECISION, MONEY_SCALE);
    let field = |name, data_type: &DataType| Field::new(name, data_type.clone(), false);
    let nullable = |name, data_type: &DataType| Field::new(name, data_type.clone(), true);
    Arc::new(Schema::new(vec![
        field("l_orderkey", &DataType::Int64),
        field("l_partkey", &DataType::Int64),
        field("l_suppkey", &DataType::Int64),
        field("l_linenumber", &DataType::Int32),
        field("l_quantity", &money),
        field("l_extendedprice", &money),
        field("l_discount", &money),
        nullable("l_tax", &money),
        field("l_returnflag", &DataType::Utf8),
        field("l_linestatus", &DataType::Utf8),
        field("l_shipdate", &DataType::Date32),
        nullable("l_commitdate", &DataType::Date32),
        field("l_receiptdate", &DataType::Date32),
        field("l_shipinstruct", &DataType::Utf8),
        nullable("l_shipmode", &DataType::Utf8),
        nullable("l_comment", &DataType::Utf8),
    ]))
}

/// The value, or NULL in one row out of `every`; which ones depends only on the row's keys.
fn unless_every<T>(every: i64, key: i64, value: T) -> Option<T> {
    (key % every != 0).then_some(value)
}

/// The smallest order key of a part; parts have ascending ranges of keys. `None` if the part has no rows.
pub(super) fn first_order_key(scale: f64, part: i32, parts: i32) -> Option<i64> {
    LineItemGenerator::new(scale, part, parts).iter().next().map(|row| row.l_orderkey)
}

/// The batches of one part of `lineitem`.
pub(super) struct Batches {
    rows: LineItemGeneratorIterator<'static>,
    schema: SchemaRef,
}

impl Batches {
    /// Part `part` (from 1) of `parts` at a scale factor.
    pub(super) fn new(scale: f64, part: i32, parts: i32) -> Self {
        Self { rows: LineItemGenerator::new(scale, part, parts).iter(), schema: schema() }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut columns = Columns::default();
        let mut rows = 0;
        for row in self.rows.by_ref().take(ROWS_PER_BATCH) {
            columns.append(&row);
            rows += 1;
        }
        (rows > 0).then(|| columns.finish(SchemaRef::clone(&self.schema)))
    }
}

#[derive(Default)]
struct Columns {
    order_key: Int64Builder,
    part_key: Int64Builder,
    supplier_key: Int64Builder,
    line_number: Int32Builder,
    quantity: Decimal128Builder,
    extended_price: Decimal128Builder,
    discount: Decimal128Builder,
    tax: Decimal128Builder,
    return_flag: StringBuilder,
    line_status: StringBuilder,
    ship_date: Date32Builder,
    commit_date: Date32Builder,
    receipt_date: Date32Builder,
    ship_instructions: StringBuilder,
    ship_mode: StringBuilder,
    comment: StringBuilder,
}

impl Columns {
    fn append(&mut self, row: &LineItem<'_>) {
        let line = i64::from(row.l_linenumber);
        let hundredths = |value: i64| i128::from(value);
        self.order_key.append_value(row.l_orderkey);
        self.part_key.append_value(row.l_partkey);
        self.supplier_key.append_value(row.l_suppkey);
        self.line_number.append_value(row.l_linenumber);
        self.quantity.append_value(hundredths(row.l_quantity * 100));
        self.extended_price.append_value(hundredths(row.l_extendedprice.0));
        self.discount.append_value(hundredths(row.l_discount.0));
        self.tax.append_option(unless_every(31, row.l_partkey, hundredths(row.l_tax.0)));
        self.return_flag.append_value(row.l_returnflag);
        self.line_status.append_value(row.l_linestatus);
        self.ship_date.append_value(row.l_shipdate.to_unix_epoch());
        self.commit_date.append_option(unless_every(41, row.l_partkey + line, row.l_commitdate.to_unix_epoch()));
        self.receipt_date.append_value(row.l_receiptdate.to_unix_epoch());
        self.ship_instructions.append_value(row.l_shipinstruct);
        self.ship_mode.append_option(unless_every(29, row.l_orderkey + line, row.l_shipmode));
        self.comment.append_option(unless_every(37, row.l_partkey + 2 * line, row.l_comment));
    }

    fn finish(mut self, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let money = |mut builder: Decimal128Builder| -> Result<ArrayRef, ArrowError> {
            Ok(Arc::new(builder.finish().with_precision_and_scale(MONEY_PRECISION, MONEY_SCALE)?))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.order_key.finish()),
            Arc::new(self.part_key.finish()),
            Arc::new(self.supplier_key.finish()),
            Arc::new(self.line_number.finish()),
            money(self.quantity)?,
            money(self.extended_price)?,
            money(self.discount)?,
            money(self.tax)?,
            Arc::new(self.return_flag.finish()),
            Arc::new(self.line_status.finish()),
            Arc::new(self.ship_date.finish()),
            Arc::new(self.commit_date.finish()),
            Arc::new(self.receipt_date.finish()),
            Arc::new(self.ship_instructions.finish()),
            Arc::new(self.ship_mode.finish()),
            Arc::new(self.comment.finish()),
        ];
        RecordBatch::try_new(schema, columns)
    }
}
