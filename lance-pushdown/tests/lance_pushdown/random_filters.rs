//! Random filters over random states: what facts in memory decide is what the rows say.

use lance_index::optimize::OptimizeOptions;
use lance_pushdown::LancePushdown;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Layout, Table, answer, buckets, fragments, opened, plan, truth};
use crate::verdicts::batch;

/// A change of the dataset, in the order drawn.
#[derive(Debug, Clone)]
enum Step {
    ZoneMap(&'static str, u64),
    Bitmap(&'static str),
    Append(usize),
    AppendWithout(usize),
    Delete(String),
    Update(String, &'static str),
    Optimize(bool),
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (prop_oneof![Just("v"), Just("w"), Just("id")], 1_u64..12).prop_map(|(column, rows)| Step::ZoneMap(column, rows)),
        1 => prop_oneof![Just("v"), Just("w")].prop_map(Step::Bitmap),
        2 => (0_usize..5).prop_map(Step::Append),
        1 => (0_usize..5).prop_map(Step::AppendWithout),
        3 => filter().prop_map(Step::Delete),
        1 => (filter(), prop_oneof![Just("v + 7"), Just("NULL"), Just("5")]).prop_map(|(filter, to)| Step::Update(filter, to)),
        1 => any::<bool>().prop_map(Step::Optimize),
        1 => Just(Step::Compact),
    ]
}

fn leaf() -> impl Strategy<Value = String> {
    let op = || prop_oneof![Just("="), Just("<>"), Just("<"), Just("<="), Just(">"), Just(">=")];
    let number = || prop_oneof![Just(5), Just(10), Just(19), Just(20), Just(29), Just(30), Just(39), 0..45];
    let word =
        || prop_oneof![Just("a"), Just("b"), Just("b0"), Just("b9"), Just("c5"), Just("d"), Just("d9"), Just("zz")];
    prop_oneof![
        4 => (op(), number()).prop_map(|(op, value)| format!("v {op} {value}")),
        2 => (op(), number()).prop_map(|(op, value)| format!("id {op} {value}")),
        2 => (op(), word()).prop_map(|(op, value)| format!("w {op} '{value}'")),
        1 => (number(), number(), any::<bool>()).prop_map(|(low, high, negated)| {
            format!("v {}BETWEEN {low} AND {high}", if negated { "NOT " } else { "" })
        }),
        1 => (proptest::collection::vec(number(), 1..5), any::<bool>()).prop_map(|(values, negated)| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("v {}IN ({})", if negated { "NOT " } else { "" }, values.join(", "))
        }),
        2 => (prop_oneof![Just("v"), Just("w")], any::<bool>()).prop_map(|(column, negated)| {
            format!("{column} IS {}NULL", if negated { "NOT " } else { "" })
        }),
    ]
}

fn filter() -> impl Strategy<Value = String> {
    leaf().prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} AND {right})")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} OR {right})")),
            inner.prop_map(|inner| format!("NOT ({inner})")),
        ]
    })
}

async fn apply(table: &mut Table, at: usize, step: &Step) {
    match step {
        Step::ZoneMap(column, rows) => table.named_zone_map(column, *rows, &format!("zones_{at}")).await,
        Step::Bitmap(column) => table.bitmap(column).await,
        Step::Append(part) => table.append_batch(batch().slice(part * 10, 10)).await,
        Step::AppendWithout(part) => {
            table.append_batch(batch().project(&[0, 2]).unwrap().slice(part * 10, 10)).await;
        }
        Step::Delete(filter) => table.delete(filter).await,
        Step::Update(filter, to) => table.update(filter, "v", to).await,
        Step::Optimize(true) => table.optimize(OptimizeOptions::merge(10)).await,
        Step::Optimize(false) => table.optimize(OptimizeOptions::append()).await,
        Step::Compact => table.compact(false).await,
    }
}

/// Whether any literal came from statistics, so that the test can tell that it tested them.
async fn check(steps: &[Step], filters: &[String]) -> Result<bool, TestCaseError> {
    let mut table = Table::from_batch(batch(), Layout { rows_per_fragment: 10, ..fragments(5) }).await;
    table.named_zone_map("v", 4, "zones").await;
    for (at, step) in steps.iter().enumerate() {
        apply(&mut table, at, step).await;
    }
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    let mut decided = false;
    for filter in filters {
        let sql = format!("SELECT count(*), count(v), count(w) FROM t WHERE {filter}");
        let plan = plan(&context, &sql).await;
        // A filter that is folded away leaves no scan, and no report.
        let Some(report) = pushdown.take_reports().pop() else { continue };
        decided |= buckets(&report).contains('s');
        prop_assert_eq!(answer(&context, plan).await, truth(&table, &sql).await, "{}\n{}", sql, report);
    }
    Ok(decided)
}

#[test]
fn decided_filters_count_what_the_rows_say() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let decided = std::cell::Cell::new(0);
    let strategy = (proptest::collection::vec(step(), 1..6), proptest::collection::vec(filter(), 6..10));
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(steps, filters)| {
            if runtime.block_on(check(&steps, &filters))? {
                decided.set(decided.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    assert!(decided.get() > 4, "statistics decided in {} of 24 cases", decided.get());
}
