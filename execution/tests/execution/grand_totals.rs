//! Grand totals: one row over any input, before anything above them drops it.

use datafusion::arrow::array::RecordBatch;
use rstest::rstest;

use crate::planned::{plan, rows, session};
use crate::support::answers;

/// A grand total has its row before a condition on it is asked, also where the condition folds to FALSE or NULL. DataFusion 54.1
/// pushes such a filter below the aggregate (defect 12 of the oracle), so the answers stand here.
#[rstest]
#[case("SELECT count(*) AS n FROM r HAVING count(*) = 1 AND count(*) = 2")]
#[case("SELECT count(*) AS n FROM r HAVING false")]
#[case("SELECT count(*) AS n FROM r HAVING NULL")]
#[case("SELECT count(*) AS n FROM r HAVING 1 > 2")]
#[case("SELECT sum(x) AS s FROM r HAVING sum(x) = 1 AND sum(x) = 2")]
#[case("SELECT n FROM (SELECT count(*) AS n FROM r) AS s WHERE n = 1 AND n = 2")]
#[case("SELECT n FROM (SELECT count(*) AS n FROM r) AS s WHERE false")]
#[case("SELECT count(*) AS n FROM r GROUP BY 1 + 1 HAVING count(*) = 1 AND count(*) = 2")]
#[case("SELECT count(*) AS n FROM r HAVING count(*) IN (1) AND count(*) IN (2)")]
#[tokio::test]
async fn a_grand_total_that_is_filtered_away_has_no_row(#[case] sql: &str, #[values("r", "nothing")] table: &str) {
    let sql = sql.replace("FROM r", &format!("FROM {table}"));
    let (_, selection) = plan(&session(2).await, &[&sql]).await;
    let found = answers(&selection.dag, &session(2).await).await;
    assert_eq!(found[0].batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 0, "{sql}");
}

/// And what lets it through, lets it through once.
#[rstest]
#[case("SELECT count(*) AS n FROM r HAVING true", "9")]
#[case("SELECT count(*) AS n FROM r HAVING count(*) = 9 OR count(*) <> 9", "9")]
#[case("SELECT n FROM (SELECT count(*) AS n FROM r) AS s WHERE 1 < 2", "9")]
#[tokio::test]
async fn a_grand_total_that_passes_is_answered(#[case] sql: &str, #[case] expected: &str) {
    assert_eq!(rows(&session(2).await, sql).await, [expected]);
}
