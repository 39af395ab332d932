//! Session options.

use datafusion::prelude::{SessionConfig, SessionContext};
use lance_pushdown::{Bucket, LancePushdown, PushdownOptions, Refusal, ScanReason};
use rstest::rstest;

use crate::support::{Table, answer, buckets, context, fragments, opened, plan, truth};

async fn set(context: &SessionContext, statement: &str) {
    context.sql(statement).await.unwrap().collect().await.unwrap();
}

#[rstest]
#[case("literal_counts", "SELECT count(*) FROM t", ScanReason::LiteralCountsOff)]
#[case("index_counts", "SELECT count(*) FROM t WHERE x = 1", ScanReason::IndexCountsOff)]
#[case("count_column", "SELECT count(x) FROM t", ScanReason::CountColumnOff)]
#[tokio::test]
async fn each_capability_is_a_switch(#[case] key: &str, #[case] sql: &str, #[case] reason: ScanReason) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());

    let rewritten = plan(&context, sql).await;
    let report = pushdown.take_reports().pop().unwrap();
    assert!(report.is_rewritten(), "{report}");

    set(&context, &format!("SET lance_pushdown.{key} = false")).await;
    let untouched = plan(&context, sql).await;
    let report = pushdown.take_reports().pop().unwrap();
    assert_eq!(report.refusal, Some(Refusal::NothingAnswered));
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(reason));

    let expected = answer(&context, rewritten).await;
    assert_eq!(answer(&context, untouched).await, expected);
}

/// Off, what the manifest alone says about a filter is not used either.
#[tokio::test]
async fn statistics_are_a_switch() {
    let mut table = Table::create(fragments(2)).await;
    table.zone_map("id", 8).await;
    table.append_columns(&crate::support::rows(40, 60), &["id", "x"]).await;
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    for (sql, with, without) in [
        ("SELECT count(*) FROM t WHERE id < 20", "ss.", "..."),
        ("SELECT count(*) FROM t WHERE z = 3", "..m", "..."),
        ("SELECT count(z) FROM t", "..m", "..m"),
    ] {
        let mut answers = Vec::new();
        for (value, expected) in [("true", with), ("false", without)] {
            set(&context, &format!("SET lance_pushdown.statistics = {value}")).await;
            let plan = plan(&context, sql).await;
            let report = pushdown.take_reports().pop().unwrap();
            assert_eq!(buckets(&report), expected, "{value}: {report}");
            answers.push(answer(&context, plan).await);
        }
        assert_eq!(answers[0], answers[1], "{sql}");
        assert_eq!(answers[0], truth(&table, sql).await, "{sql}");
    }
}

#[tokio::test]
async fn off_the_rule_reports_nothing() {
    let table = Table::create(fragments(2)).await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    set(&context, "SET lance_pushdown.enabled = false").await;
    plan(&context, "SELECT count(*) FROM t").await;
    assert!(pushdown.take_reports().is_empty());
}

#[rstest]
#[case("SET lance_pushdown.enabled = maybe", "true or false")]
#[case("SET lance_pushdown.no_such_key = true", "does not exist")]
#[tokio::test]
async fn wrong_settings_are_errors(#[case] statement: &str, #[case] message: &str) {
    let context = SessionContext::new_with_state(LancePushdown::new().session_state(SessionConfig::new()));
    let error = match context.sql(statement).await {
        Err(error) => error,
        Ok(frame) => frame.collect().await.unwrap_err(),
    };
    assert!(error.to_string().contains(message), "{error}");
}

#[tokio::test]
async fn options_can_be_shown() {
    let config = SessionConfig::new().with_information_schema(true);
    let context = SessionContext::new_with_state(LancePushdown::new().session_state(config));
    let rows = context.sql("SHOW lance_pushdown.index_counts").await.unwrap().collect().await.unwrap();
    assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
}

#[test]
fn the_initial_scope_stays_within_the_default() {
    let scope = PushdownOptions::initial_scope();
    assert!(scope.enabled && scope.literal_counts && scope.statistics && scope.index_counts && scope.count_column);
}
