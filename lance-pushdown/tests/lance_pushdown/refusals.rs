//! Plans that are left alone, with the reason.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use lance::datafusion::LanceTableProvider;
use lance_pushdown::{LancePushdown, PushdownReport, Refusal, ScanReason};
use rstest::rstest;

use crate::support::{Table, answer, context, fragments, nodes, plain, plan, session, sizes};

async fn report(table: &Table, sql: &str) -> PushdownReport {
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    let plan = plan(&context, sql).await;
    assert!(!nodes(&plan).iter().any(|node| node.name() == "IndexedAggregateExec"), "{sql}");
    pushdown.take_reports().pop().expect("a report")
}

#[rstest]
#[case("SELECT x, count(*) FROM t GROUP BY x", Refusal::GroupBy)]
#[case("SELECT count(*) FILTER (WHERE z > 1) FROM t", Refusal::MeasureFilter)]
#[case("SELECT min(x) FROM t", Refusal::UnsupportedAggregate)]
#[case("SELECT max(x), count(*) FROM t", Refusal::UnsupportedAggregate)]
#[case("SELECT sum(x) FROM t WHERE x = 1", Refusal::UnsupportedAggregate)]
#[case("SELECT count(DISTINCT x), count(*) FROM t", Refusal::Distinct)]
#[case("SELECT count(DISTINCT x) FROM t", Refusal::GroupBy)]
#[case("SELECT count(x + 1) FROM t", Refusal::UnsupportedArgument)]
#[case("SELECT count(x, y) FROM t", Refusal::UnsupportedArgument)]
#[case("SELECT count(*) FROM (SELECT x FROM t LIMIT 5)", Refusal::Limit)]
#[case("SELECT count(*) FROM (SELECT x FROM t WHERE x = 1 LIMIT 5)", Refusal::Limit)]
#[case("SELECT count(*) FROM (SELECT x FROM t OFFSET 5)", Refusal::Limit)]
#[case("SELECT count(x ORDER BY id) FROM t", Refusal::OrderedAggregate)]
#[case("SELECT count(NULL) FROM t", Refusal::NullArgument)]
#[case("SELECT count(*) FROM t WHERE z = 1", Refusal::NothingAnswered)]
#[tokio::test]
async fn the_plan_stands(#[case] sql: &str, #[case] expected: Refusal) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let report = report(&table, sql).await;
    assert_eq!(report.refusal, Some(expected), "{report}");
    // A LIMIT may have narrowed the scan to its first fragment.
    let (index, literal, scan) = sizes(&report);
    assert_eq!((index, literal), (0, 0));
    assert_eq!(report.rows_to_scan(), Some(20 * scan as u64));
}

#[tokio::test]
async fn plans_without_a_lance_aggregate_leave_no_report() {
    let table = Table::create(fragments(1)).await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    for sql in [
        "SELECT id FROM t",
        "SELECT count(*) FROM (VALUES (1), (2)) AS v(a)",
        "SELECT count(*) FROM t JOIN t AS u ON t.id = u.id",
    ] {
        plan(&context, sql).await;
        assert_eq!(pushdown.take_reports(), [], "{sql}");
    }
}

/// A table that pushes no filter down, so that a `FilterExec` stands above the scan.
#[derive(Debug)]
struct FilterAbove(Arc<dyn TableProvider>);

#[async_trait]
impl TableProvider for FilterAbove {
    fn schema(&self) -> arrow_schema::SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> datafusion::error::Result<Vec<TableProviderFilterPushDown>> {
        // A predicate on z is left above, one on anything else is pushed down and repeated above.
        Ok(filters
            .iter()
            .map(|filter| match filter.to_string().contains(".y") {
                true => TableProviderFilterPushDown::Unsupported,
                false => TableProviderFilterPushDown::Inexact,
            })
            .collect())
    }
}

#[rstest]
#[case::expressible("y = 'red'", None)]
#[case::both_sides("y <> 'red' AND x = 1", None)]
#[case::null_test("y IS NOT NULL AND x IN (1, 2)", None)]
#[case::repeated("x > 2", None)]
#[case::membership("y NOT IN ('red', 'blue')", None)]
#[case::not_expressible("upper(y) = 'RED'", Some(Refusal::FilterAboveScan))]
// The counted column is read for the selected rows only.
#[case::late_materialization("z = 3", Some(Refusal::RowStream))]
#[tokio::test]
async fn a_filter_above_the_scan(#[case] filter: &str, #[case] refusal: Option<Refusal>) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.append(&crate::support::rows(40, 60)).await;
    table.delete("id % 9 = 0").await;
    let sql = format!("SELECT count(*), count(y) FROM t WHERE {filter}");
    let expected = plain(table.shared(), &sql, 1).await;
    for partitions in [1, 4] {
        let pushdown = LancePushdown::new();
        let context = SessionContext::new_with_state(session(&pushdown, partitions));
        let provider = FilterAbove(pushdown.table(table.shared()));
        context.register_table("t", Arc::new(provider)).unwrap();
        let plan = plan(&context, &sql).await;
        let report = pushdown.take_reports().pop().expect("a report");
        assert_eq!(report.refusal, refusal, "{report}");
        assert_eq!(answer(&context, plan).await, expected, "{sql}");
        if refusal.is_none() {
            assert_eq!(sizes(&report), (2, 0, 1), "{report}");
        }
    }
}

/// Nothing is known about a stock table but what its scan says: a filter above it cannot be parsed.
#[tokio::test]
async fn a_filter_above_a_stock_table_is_left_to_the_scan() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("y").await;
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, 1));
    let stock = Arc::new(LanceTableProvider::new(table.shared(), false, false));
    context.register_table("t", Arc::new(FilterAbove(stock))).unwrap();
    plan(&context, "SELECT count(*) FROM t WHERE y = 'red'").await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(report.refusal, Some(Refusal::NothingAnswered));
}

#[rstest]
#[case("_rowid = 3", 1, Refusal::IndexInput)]
#[case("_rowaddr < 4", 4, Refusal::NothingAnswered)]
#[tokio::test]
async fn predicates_on_system_columns(#[case] filter: &str, #[case] expected: i64, #[case] refusal: Refusal) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, 1));
    let provider = LanceTableProvider::new(table.shared(), true, true);
    context.register_table("t", Arc::new(provider)).unwrap();
    let sql = format!("SELECT count(*) FROM t WHERE {filter}");
    let plan = plan(&context, &sql).await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(report.refusal, Some(refusal), "{report}");
    assert_eq!(answer(&context, plan).await, [expected]);
}

#[tokio::test]
async fn counting_a_system_column() {
    let table = Table::create(fragments(1)).await;
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, 1));
    let provider = LanceTableProvider::new(table.shared(), true, true);
    context.register_table("t", Arc::new(provider)).unwrap();
    plan(&context, "SELECT count(_rowid) FROM t").await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(report.refusal, Some(Refusal::SystemColumn), "{report}");
}

#[test]
fn every_reason_has_its_own_name_and_sentence() {
    fn all_differ(mut texts: Vec<String>) {
        let count = texts.len();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), count);
    }
    all_differ(Refusal::ALL.iter().map(|r| r.name().to_string()).collect());
    all_differ(Refusal::ALL.iter().map(ToString::to_string).collect());
    all_differ(ScanReason::ALL.iter().map(|r| r.name().to_string()).collect());
    all_differ(ScanReason::ALL.iter().map(ToString::to_string).collect());
}
