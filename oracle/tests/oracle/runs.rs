//! Runs: what they take, what they report, and that they follow from their seed.

use std::time::Duration;

use asap_oracle::fuzz::{FuzzOptions, FuzzReport, Length, Point, SHOWN, Scope, fuzz, normalized, static_points};
use asap_oracle::generate::{Bias, biased_case, case};
use rstest::rstest;
use serde_json::Value as Json;

fn options(seed: u64, length: Length) -> FuzzOptions {
    FuzzOptions {
        seed,
        length,
        only: Vec::new(),
        scope: None,
        jobs: 1,
        max_failures: 1,
        shrink: Duration::ZERO,
        artifacts: std::env::temp_dir(),
    }
}

async fn run(options: &FuzzOptions) -> FuzzReport {
    fuzz(options, &mut |_| {}).await.unwrap()
}

/// The report without what depends on which of several threads is faster.
fn comparable(report: &FuzzReport) -> Json {
    let mut json: Json = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    for apart in ["timings", "by_chance"] {
        assert!(json.as_object_mut().unwrap().remove(apart).is_some());
    }
    json
}

/// More than a round, so that steering has its part in it. What a run reaches is in the catalogue.
#[tokio::test(flavor = "multi_thread")]
async fn a_seed_has_one_report_whatever_runs_at_the_same_time() {
    let options = options(3, Length::Cases(30));
    let one = run(&options).await;
    let two = run(&FuzzOptions { jobs: 2, ..options }).await;
    assert_eq!(comparable(&one), comparable(&two));
    assert_eq!(one.unknown(), []);
    assert!(one.is_success(), "{one}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_with_the_case_that_reaches_its_comparisons() {
    let report = run(&options(5, Length::Comparisons(30))).await;
    let shorter = run(&options(5, Length::Cases(report.cases - 1))).await;
    assert!(report.comparisons >= 30 && shorter.comparisons < 30, "{} {}", report.comparisons, shorter.comparisons);
}

#[rstest]
#[case(Scope::LancePushdown, true)]
#[case(Scope::AwareMapping, false)]
#[tokio::test(flavor = "multi_thread")]
async fn a_crate_takes_its_own_sides(#[case] scope: Scope, #[case] pushes_down: bool) {
    let report = run(&FuzzOptions { scope: Some(scope), ..options(1, Length::Cases(6)) }).await;
    let plans = report.plans.counts();
    assert_eq!((plans.pushdown > 0, plans.workload > 0), (pushes_down, !pushes_down));
    let reached = |group: &str| report.coverage.iter().any(|(point, _)| point.group == group);
    assert_eq!(reached("plan"), !pushes_down);
    assert!(reached("relation"), "of single queries, or of workload plans in memory");
    assert!(!reached("bucket") || pushes_down);
    assert!(report.is_success() && !report.is_full());
}

/// What recipes show chooses before anything runs: all that run count.
#[tokio::test(flavor = "multi_thread")]
async fn only_cases_that_show_a_state() {
    let only = vec!["Stable row ids".to_owned(), "bitmap index".to_owned()];
    let report = run(&FuzzOptions { only, ..options(2, Length::Cases(3)) }).await;
    assert_eq!(report.cases, 3);
    assert!(report.drawn > 3);
    assert_eq!(report.coverage.count("table", "stable row ids"), 3);
    assert_eq!(report.coverage.count("history", "bitmap index"), 3);
}

/// What only shows when a case runs chooses among those that ran.
#[tokio::test(flavor = "multi_thread")]
async fn only_cases_that_go_through_a_point() {
    let only = vec!["bucket: index".to_owned()];
    let report = run(&FuzzOptions { only, ..options(2, Length::Cases(2)) }).await;
    assert_eq!((report.cases, report.coverage.count("bucket", "index")), (2, 2));
    assert!(report.drawn >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_of_what_there_is() {
    let only = vec!["quantum index".to_owned()];
    let error = fuzz(&FuzzOptions { only, ..options(2, Length::Cases(1)) }, &mut |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "no coverage point contains 'quantum index'");
}

/// Full runs are judged by their coverage, all others are not.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_full_run_must_reach_its_quotas() {
    let mut report = run(&options(1, Length::Cases(1))).await;
    assert!(report.is_success(), "{report}");
    report.cases = 1_000_000;
    assert!(!report.under_quota().is_empty() && !report.is_success());
    assert!(report.to_string().contains("BELOW QUOTA bucket: index: "), "{report}");
    report.scope = Some(Scope::Execution);
    assert!(report.under_quota().is_empty() && report.is_success());
}

#[rstest]
#[case("history: drop column")]
#[case("table: stable row ids")]
#[case("workload: one query")]
#[case("switched off: statistics")]
#[case("table: index optimized after a rewrite")]
fn a_biased_case_shows_its_bias(#[case] bias: &str) {
    let bias: Bias = bias.parse().unwrap();
    for index in 0..10 {
        let biased = biased_case(7, index, &bias);
        assert!(bias.fits(&biased.recipe), "{bias} {index}");
        assert_eq!(biased, biased_case(7, index, &bias));
        assert_eq!((biased.seed, biased.index), (7, index));
    }
}

const INDEX: &str = r#"{"create_index": {"column": "c0", "kind": "bitmap"}}"#;
const REWRITE: &str = r#"{"rewrite_columns": {"on": "c1", "columns": ["c0"], "rows": []}}"#;
const OPTIMIZE: &str = r#""optimize_indices""#;

/// An index that has since been dropped or built anew knows the rewritten values, or nothing.
#[rstest]
#[case::stale(&[INDEX, REWRITE, OPTIMIZE], true)]
#[case::not_optimized(&[INDEX, OPTIMIZE, REWRITE], false)]
#[case::built_later(&[REWRITE, INDEX, OPTIMIZE], false)]
#[case::built_anew(&[INDEX, REWRITE, INDEX, OPTIMIZE], false)]
#[case::dropped(&[INDEX, REWRITE, r#"{"drop_index": {"name": "c0_bitmap"}}"#, OPTIMIZE], false)]
#[case::other_column(&[INDEX, r#"{"rewrite_columns": {"on": "c0", "columns": ["c1"], "rows": []}}"#, OPTIMIZE], false)]
fn indexes_that_are_optimized_after_a_rewrite(#[case] history: &[&str], #[case] is_stale: bool) {
    let mut recipe = case(7, 0).recipe;
    recipe.settings.in_memory = false;
    recipe.table.history = history.iter().map(|operation| serde_json::from_str(operation).unwrap()).collect();
    let point = Point::new("table", "index optimized after a rewrite");
    assert_eq!(static_points(&recipe).contains(&point), is_stale);
}

/// A bias that nothing fits leaves the case as it is.
#[test]
fn a_bias_that_nothing_fits() {
    let bias: Bias = "history: time travel".parse().unwrap();
    assert_eq!(biased_case(7, 0, &bias), case(7, 0));
    assert!("nonsense".parse::<Bias>().is_err() && "weather: rain".parse::<Bias>().is_err());
}

#[test]
fn recipes_show_points_of_their_own_groups() {
    for index in 0..50 {
        let case = case(11, index);
        for point in static_points(&case.recipe) {
            assert!(SHOWN.contains(&point.group), "{point}");
            assert!(Bias::new(point.clone()).fits(&case.recipe), "{point}");
        }
    }
}

#[rstest]
#[case("FilterExec: c3@2 = abc AND c1@0 > 5", "FilterExec: c0@1 = it AND c12@10 > -7")]
#[case("Scan: uri=memory://oracle-7/data, fragments=[0, 1, 2]", "Scan: uri=memory://oracle-12/data, fragments=[4]")]
#[case("AggregateExec: aggr=[sum(t.c1), min(t.c1)]", "AggregateExec: aggr=[min(t.c2), sum(t.c1), sum(t.c2)]")]
#[case(r#"full_filter=c1 = Utf8("a b")"#, r#"full_filter=c4 = Utf8("")"#)]
fn plans_that_differ_in_names_and_constants(#[case] one: &str, #[case] other: &str) {
    assert_eq!(normalized(one), normalized(other));
}

#[rstest]
#[case("FilterExec: c3@2 = 1", "FilterExec: c3@2 > 1")]
#[case("AggregateExec: mode=Partial", "AggregateExec: mode=Final")]
#[case("  FilterExec: c3@2 = 1", "    FilterExec: c3@2 = 1")]
#[case("AggregateExec: aggr=[sum(t.c1)]", "AggregateExec: aggr=[sum(t.c1), min(t.c1)]")]
fn plans_that_differ_in_more(#[case] one: &str, #[case] other: &str) {
    assert_ne!(normalized(one), normalized(other));
}
