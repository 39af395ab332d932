//! Wrong answers that systems have given when they took one aggregate for another, each named after its report; and the
//! two-query workload of the design document on roll-ups. Every answer here is compared with a stock session's.

use asap_aware_mapping::{Candidate, Refusal};
use asap_types::GraphFormat;
use rstest::rstest;

use crate::planned::{assert_answers, plan, session, text};

/// Why the roll-up strategies do not take one statement as the source of the other, which must be one reason.
async fn refusal(fine: &str, coarse: &str) -> Refusal {
    let context = session(1).await;
    assert_answers(&context, &[fine, coarse], &[None, None]).await;
    let (space, _) = plan(&context, &[fine, coarse]).await;
    let target = space.targets.last().unwrap();
    let reasons: Vec<Refusal> = target
        .refused
        .iter()
        .filter(|refused| refused.strategy == "multi-measure")
        .map(|refused| refused.reason)
        .collect();
    assert!(!target.candidates.iter().any(|candidate| matches!(candidate, Candidate::Rewrite(_))));
    let [reason] = reasons.as_slice() else { panic!("{reasons:?}") };
    *reason
}

#[rstest]
#[tokio::test]
async fn the_two_queries_of_the_design_document(#[values(1, 4)] partitions: usize) {
    let context = session(partitions).await;
    let table = "CREATE TABLE metrics (job VARCHAR, region VARCHAR, bytes BIGINT) AS VALUES
        ('a', 'eu', 1), ('a', 'eu', 2), ('a', 'us', 4), ('a', NULL, 8), ('b', 'eu', NULL), (NULL, 'eu', 16), (NULL, NULL, 32)";
    context.sql(table).await.unwrap().collect().await.unwrap();
    let sql = [
        "SELECT job, region, SUM(bytes) FROM metrics GROUP BY job, region",
        "SELECT job, SUM(bytes) FROM metrics GROUP BY job",
    ];
    let results = assert_answers(&context, &sql, &[None, Some(0)]).await;
    let mut coarse = text(&results[1].batches);
    coarse.sort();
    assert_eq!(coarse, ["NULL 48", "a 15", "b NULL"]);
    let tree = plan(&context, &sql).await.1.dag.render(GraphFormat::Tree);
    assert_eq!((tree.matches("Scan(metrics)").count(), tree.matches(" Aggregate(").count()), (1, 1), "{tree}");
    assert!(tree.contains("RollUp(by job: sum(sum(bytes)))"), "{tree}");
}

/// StarRocks#34319, pgsql-ivm#88: a count over nothing is 0, not NULL, and its one row does not get lost.
#[rstest]
#[case::a_table_without_rows("nothing", "")]
#[case::a_condition_that_nothing_fulfils("r", "WHERE a > 100")]
#[tokio::test]
async fn starrocks_34319_a_count_over_nothing_is_zero(#[case] table: &str, #[case] condition: &str) {
    let sql = [
        format!("SELECT a, count(*) AS n, count(x) AS nx FROM {table} {condition} GROUP BY a"),
        format!("SELECT count(*) AS n, count(x) AS nx FROM {table} {condition}"),
    ];
    let results = assert_answers(&session(4).await, &[&sql[0], &sql[1]], &[None, Some(0)]).await;
    assert_eq!((text(&results[0].batches).len(), text(&results[1].batches)), (0, vec!["0 0".to_owned()]));
}

/// StarRocks#49288: the same when the count goes through a projection or a sub-select.
#[tokio::test]
async fn starrocks_49288_a_count_over_nothing_through_a_projection() {
    let sql = [
        "SELECT a, count(*) AS n FROM nothing GROUP BY a",
        "SELECT count(*) + 1 AS n, 'x' AS label FROM nothing",
        "SELECT 2 * n AS n FROM (SELECT count(*) AS n FROM (SELECT a, x FROM nothing) AS s) AS t",
    ];
    let results = assert_answers(&session(1).await, &sql, &[None, Some(0), Some(0)]).await;
    assert_eq!(text(&results[1].batches), ["1 x"]);
    assert_eq!(text(&results[2].batches), ["0"]);
}

/// VoltDB#3880: a sum over nothing is NULL, not 0.
#[tokio::test]
async fn voltdb_3880_a_sum_over_nothing_is_null() {
    let measures = "sum(x) AS s, min(x) AS lo, max(x) AS hi";
    for table in ["nothing", "(SELECT a, x FROM r WHERE a = 2) AS s"] {
        let sql = [format!("SELECT a, {measures} FROM {table} GROUP BY a"), format!("SELECT {measures} FROM {table}")];
        let results = assert_answers(&session(1).await, &[&sql[0], &sql[1]], &[None, Some(0)]).await;
        assert_eq!(text(&results[1].batches), ["NULL NULL NULL"]);
    }
}

/// presto#8894: a count is 0, not NULL, when every row is filtered away.
#[tokio::test]
async fn presto_8894_all_rows_filtered() {
    let measures = "count(*) FILTER (WHERE x > 1000) AS n, sum(x) FILTER (WHERE x > 1000) AS s";
    let sql = [format!("SELECT a, {measures} FROM r GROUP BY a"), format!("SELECT {measures} FROM r")];
    let results = assert_answers(&session(1).await, &[&sql[0], &sql[1]], &[None, Some(0)]).await;
    assert_eq!(text(&results[1].batches), ["0 NULL"]);
}

/// datafusion#24038: a grand total over nothing has one row, so a count of its rows is 1, however the total is computed.
#[tokio::test]
async fn datafusion_24038_the_row_of_a_grand_total_counts() {
    let sql = [
        "SELECT a, sum(x) AS s FROM nothing GROUP BY a",
        "SELECT count(*) AS n FROM (SELECT sum(x) AS s FROM nothing) AS t",
    ];
    let context = session(1).await;
    let (space, selection) = plan(&context, &sql).await;
    let results = crate::support::answers(&selection.dag, &context).await;
    assert_eq!(text(&results[1].batches), ["1"]);
    assert!(space.explain(&selection, &["fine", "rows"]).contains("* Rewrite"));
}

/// StarRocks#15932: a sum of a CASE is no sum of its column. One without ELSE is that sum under a filter on a key.
#[tokio::test]
async fn starrocks_15932_a_sum_of_a_case_is_another_measure() {
    let fine = "SELECT a, b, sum(x) AS s FROM r GROUP BY a, b";
    let other = "SELECT a, sum(CASE WHEN b = 1 THEN x ELSE 0 END) AS s FROM r GROUP BY a";
    assert_eq!(refusal(fine, other).await, Refusal::IntentMismatch);
    let not_on_a_key = "SELECT a, sum(CASE WHEN p THEN x END) AS s FROM r GROUP BY a";
    assert_eq!(refusal(fine, not_on_a_key).await, Refusal::MeasureFilter);
    let on_a_key = "SELECT a, sum(CASE WHEN b = 1 THEN x END) AS s FROM r GROUP BY a";
    assert_answers(&session(1).await, &[fine, on_a_key], &[None, Some(0)]).await;
}

/// StarRocks#75150: a condition on the raw timestamp is not decided by its bucket.
#[tokio::test]
async fn starrocks_75150_a_bucket_does_not_decide_a_timestamp() {
    let fine = "SELECT date_trunc('day', ts) AS day, count(*) AS n FROM r GROUP BY date_trunc('day', ts)";
    let coarse = "SELECT count(*) AS n FROM r WHERE ts = TIMESTAMP '2024-01-01 00:00:00'";
    assert_eq!(refusal(fine, coarse).await, Refusal::RestrictionNotOnKeys);
    let by_year = "SELECT date_trunc('year', ts) AS y, count(*) AS n FROM r GROUP BY date_trunc('year', ts)";
    assert_eq!(refusal(fine, by_year).await, Refusal::KeyNotDerivable);
}

/// StarRocks#7274: a condition on rows that only one of the two has.
#[tokio::test]
async fn starrocks_7274_a_source_without_the_condition() {
    let fine = "SELECT a, k, count(*) AS n FROM r GROUP BY a, k";
    let negated = "SELECT max(n) AS m FROM (SELECT a, count(*) AS n FROM r WHERE k NOT LIKE 'u%' GROUP BY a) AS s";
    let context = session(1).await;
    let answers = assert_answers(&context, &[fine, negated], &[None, None]).await;
    assert_eq!(text(&answers[1].batches), ["2"]);
    let on_no_key = "SELECT a, count(*) AS n FROM r WHERE x > 3 GROUP BY a";
    assert_eq!(refusal(fine, on_no_key).await, Refusal::RestrictionNotOnKeys);
}

/// StarRocks#53218: with the same keys, an aggregate of a key is another measure.
#[tokio::test]
async fn starrocks_53218_an_aggregate_of_the_key_itself() {
    let fine = "SELECT x, count(*) AS n FROM r GROUP BY x";
    assert_eq!(refusal(fine, "SELECT x, sum(x) AS s FROM r GROUP BY x").await, Refusal::IntentMismatch);
    assert_eq!(refusal(fine, "SELECT sum(x) AS s FROM r").await, Refusal::IntentMismatch);
    assert_answers(&session(1).await, &[fine, "SELECT min(x) AS lo, max(x) AS hi FROM r"], &[None, Some(0)]).await;
}

/// doris#38958: a statement that shows no key still has a row per group.
#[tokio::test]
async fn doris_38958_a_constant_per_group() {
    let sql = ["SELECT a, b, count(*) AS n FROM r GROUP BY a, b", "SELECT 1 AS one FROM r GROUP BY a"];
    let results = assert_answers(&session(1).await, &sql, &[None, Some(0)]).await;
    assert_eq!(text(&results[1].batches), ["1"; 4]);
}

/// doris#34155, #35267, #13560, #27277: of several sources, only one that holds the measure is taken.
#[tokio::test]
async fn doris_34155_an_unsuitable_source_is_not_taken() {
    let sql = [
        "SELECT a, b, count(*) AS n FROM r GROUP BY a, b",
        "SELECT a, k, sum(x) AS s FROM r WHERE p GROUP BY a, k",
        "SELECT a, sum(x) AS s FROM r GROUP BY a",
        "SELECT a, k, sum(x) AS s FROM r GROUP BY a, k",
    ];
    assert_answers(&session(1).await, &sql, &[None, None, Some(3), None]).await;
}

/// doris#41127: a count of a CASE is no count of rows, also where the CASE is on a key.
#[tokio::test]
async fn doris_41127_a_count_of_a_case() {
    let fine = "SELECT a, b, count(*) AS n FROM r GROUP BY a, b";
    let sql =
        [fine, "SELECT count(CASE WHEN b = 1 THEN 1 END) AS n, count(CASE WHEN b = 1 THEN 1 ELSE 0 END) AS m FROM r"];
    let results = assert_answers(&session(1).await, &sql, &[None, Some(0)]).await;
    assert_eq!(text(&results[1].batches), ["5 9"]);
    assert_eq!(refusal(fine, "SELECT count(CASE WHEN p THEN 1 END) AS n FROM r").await, Refusal::MeasureFilter);
}

/// ClickHouse#74495: a count of a nullable column holds no count of rows.
#[tokio::test]
async fn clickhouse_74495_a_count_of_values_is_no_count_of_rows() {
    let fine = "SELECT a, b, count(x) AS n FROM r GROUP BY a, b";
    assert_eq!(refusal(fine, "SELECT a, count(*) AS n FROM r GROUP BY a").await, Refusal::MeasureFilter);
}

/// pinot#17105: a count of rows holds no count of values. doris#4381: nor does a count of another column.
#[tokio::test]
async fn pinot_17105_a_count_of_rows_is_no_count_of_values() {
    let coarse = "SELECT a, count(x) AS n FROM r GROUP BY a";
    assert_eq!(refusal("SELECT a, b, count(*) AS n FROM r GROUP BY a, b", coarse).await, Refusal::MeasureFilter);
    assert_eq!(refusal("SELECT a, b, count(f) AS n FROM r GROUP BY a, b", coarse).await, Refusal::MeasureFilter);
    let on_a_key = ["SELECT a, b, count(*) AS n FROM r GROUP BY a, b", "SELECT a, count(b) AS n FROM r GROUP BY a"];
    assert_answers(&session(1).await, &on_a_key, &[None, Some(0)]).await;
}

/// ClickHouse#49280, spiceai#3122: NULL is a key like any other, also when it is the only one.
#[tokio::test]
async fn clickhouse_49280_a_key_that_is_only_null() {
    let context = session(1).await;
    let sql = [
        "SELECT a, b, count(*) AS n, sum(x) AS s FROM r WHERE a IS NULL AND b IS NULL GROUP BY a, b",
        "SELECT a, count(*) AS n, sum(x) AS s FROM r WHERE a IS NULL AND b IS NULL GROUP BY a",
        "SELECT count(*) AS n, sum(x) AS s FROM r WHERE a IS NULL AND b IS NULL",
    ];
    let results = assert_answers(&context, &sql, &[None, Some(0), Some(1)]).await;
    assert_eq!(text(&results[1].batches), ["NULL 1 NULL"]);
    let nulls = ["SELECT a, b, sum(x) AS s FROM r GROUP BY a, b", "SELECT b, sum(x) AS s FROM r GROUP BY b"];
    let results = assert_answers(&context, &nulls, &[None, Some(0)]).await;
    let mut rows = text(&results[1].batches);
    rows.sort();
    assert_eq!(rows, ["1 13", "2 5", "3 -4", "NULL 7"]);
}

/// datafusion#19849: partitions that each finalize a grand total.
#[tokio::test]
async fn datafusion_19849_one_grand_total_over_partitions() {
    let sql = ["SELECT a, b, k, count(*) AS n FROM r GROUP BY a, b, k", "SELECT count(*) AS n FROM r"];
    for partitions in [1, 2, 8] {
        let results = assert_answers(&session(partitions).await, &sql, &[None, Some(0)]).await;
        assert_eq!(text(&results[1].batches), ["9"]);
    }
}

/// duckdb#6686: HAVING on a key applies to the groups that the statement shows, not to those of its source.
#[tokio::test]
async fn duckdb_6686_having_on_a_key() {
    let sql = [
        "SELECT a, b, sum(x) AS s FROM r GROUP BY a, b HAVING b IS NOT NULL",
        "SELECT a, sum(x) AS s FROM r GROUP BY a HAVING a IS NOT NULL",
    ];
    let results = assert_answers(&session(1).await, &sql, &[None, Some(0)]).await;
    let mut rows = text(&results[1].batches);
    rows.sort();
    assert_eq!(rows, ["1 22", "2 NULL", "3 -4"]);
}

/// CALCITE-2563, CALCITE-4276: columns of one type in another order.
#[tokio::test]
async fn calcite_2563_columns_keep_their_places() {
    let sql = [
        "SELECT b, a, max(x) AS hi, sum(x) AS s, min(x) AS lo, count(*) AS n FROM r GROUP BY b, a",
        "SELECT a, min(x) AS lo, count(*) AS n, sum(x) AS s FROM r GROUP BY a",
        "SELECT count(*) AS n, b, max(x) AS hi FROM r GROUP BY b",
        "SELECT a, b, sum(x) AS s FROM r GROUP BY a, b",
    ];
    assert_answers(&session(1).await, &sql, &[None, Some(0), Some(0), Some(0)]).await;
}

/// polars#15536, #15548, #27748, #25030: sharing one part of two statements drops or mixes their conditions.
#[tokio::test]
async fn polars_15536_conditions_are_not_mixed() {
    let sql = [
        "SELECT a, count(*) AS n FROM r WHERE x > 3 GROUP BY a",
        "SELECT a, count(*) AS n FROM r WHERE x <= 3 GROUP BY a",
        "SELECT a, count(*) AS n FROM r WHERE NOT x > 3 GROUP BY a",
        "SELECT a, count(*) AS n FROM r GROUP BY a",
        "SELECT a, count(*) FILTER (WHERE x > 3) AS n FROM r GROUP BY a",
        "SELECT a, count(*) AS n FROM r WHERE a = 1 GROUP BY a",
    ];
    assert_answers(&session(2).await, &sql, &[None, None, None, None, None, Some(3)]).await;
}

/// spark#38052: a statement that is part of another is not taken for its own input.
#[tokio::test]
async fn spark_38052_an_aggregate_of_an_aggregate() {
    let sql = [
        "SELECT a, b, sum(x) AS s FROM r GROUP BY a, b",
        "SELECT a, sum(s) AS s FROM (SELECT a, b, sum(x) AS s FROM r GROUP BY a, b) AS t GROUP BY a",
        "SELECT a, count(*) AS n FROM (SELECT a, b, sum(x) AS s FROM r GROUP BY a, b) AS t GROUP BY a",
        "SELECT max(n) AS m FROM (SELECT a, count(*) AS n FROM (SELECT a, b FROM r GROUP BY a, b) AS t GROUP BY a) AS u",
    ];
    assert_answers(&session(1).await, &sql, &[None, None, None, None]).await;
}

/// cube#4454, #1254: a ratio is computed from coarse sums, not summed.
#[tokio::test]
async fn cube_4454_a_ratio_is_not_additive() {
    let ratio = "sum(x) / count(x) AS ratio";
    let sql = [
        format!("SELECT a, b, {ratio} FROM r WHERE x IS NOT NULL GROUP BY a, b"),
        format!("SELECT a, {ratio} FROM r WHERE x IS NOT NULL GROUP BY a"),
    ];
    let results = assert_answers(&session(1).await, &[&sql[0], &sql[1]], &[None, Some(0)]).await;
    let mut rows = text(&results[1].batches);
    rows.sort();
    assert_eq!(rows, ["1 7", "3 -4", "NULL 3"]);
    let mean =
        refusal("SELECT a, b, avg(x) AS m FROM r GROUP BY a, b", "SELECT a, avg(x) AS m FROM r GROUP BY a").await;
    assert_eq!(mean, Refusal::AverageParts);
}

/// duckdb#24626, #24806: what is no function of its parts is not put together from them.
#[tokio::test]
async fn duckdb_24626_a_correlation_is_not_combined() {
    let fine = "SELECT a, b, corr(x, f) AS c FROM r GROUP BY a, b";
    assert_eq!(refusal(fine, "SELECT a, corr(x, f) AS c FROM r GROUP BY a").await, Refusal::OpaqueAggregate);
}

/// doris#62107: aggregates of constants.
#[tokio::test]
async fn doris_62107_aggregates_of_constants() {
    let sql = [
        "SELECT a, b, sum(2) AS s, min(1) AS lo, count(3) AS n FROM r GROUP BY a, b",
        "SELECT a, sum(2) AS s, min(1) AS lo, count(3) AS n FROM r GROUP BY a",
        "SELECT sum(2) AS s, min(1) AS lo, count(3) AS n FROM r",
    ];
    let results = assert_answers(&session(1).await, &sql, &[None, Some(0), Some(1)]).await;
    assert_eq!(text(&results[2].batches), ["18 1 9"]);
}

/// datafusion#25415, duckdb#24207, trino#31151: a volatile key or input is evaluated where it stands, and never shared.
#[tokio::test]
async fn datafusion_25415_volatile_expressions_are_not_shared() {
    let context = session(1).await;
    let sql = [
        "SELECT random() < 2 AS k, count(*) AS n FROM r GROUP BY random() < 2",
        "SELECT count(*) AS n FROM r",
        "SELECT a, count(*) AS n FROM r WHERE random() < 2 GROUP BY a",
    ];
    assert_answers(&context, &sql, &[None, None, None]).await;
    let (space, _) = plan(&context, &sql).await;
    let reasons = space.targets.iter().flat_map(|target| target.refused.iter().map(|refused| refused.reason));
    assert!(reasons.into_iter().any(|reason| reason == Refusal::Volatile));
}

/// datafusion#24816: an extremum leaves the rows that its neighbours need.
#[tokio::test]
async fn datafusion_24816_extrema_do_not_prune_their_neighbours() {
    let sql = [
        "SELECT min(x) FILTER (WHERE p) AS lo, max(x) AS hi, count(*) AS n, sum(f) FILTER (WHERE b = 1) AS s FROM r",
        "SELECT max(x) AS hi FROM r",
    ];
    let results = assert_answers(&session(4).await, &sql, &[None, Some(0)]).await;
    assert_eq!(text(&results[0].batches), ["3 10 9 -0.5"]);
}
