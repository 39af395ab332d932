//! The counts of single fragments, scanned without any index, add up to the optimized count.

use lance::Dataset;

use super::report;
use crate::Result;
use crate::defects::Defect;
use crate::fuzz::check::CaseOutcome;
use crate::fuzz::judge::Judge;
use crate::fuzz::pushdown::PushdownSide;
use crate::query::{Expr, Output, Query, Source, visit};
use crate::value::Value;

const NAME: &str = "fragments add up";

/// Lance's own parser has no `IS UNKNOWN`.
fn is_lance_sql(filter: &Expr) -> bool {
    let mut readable = true;
    visit(filter, &mut |expr| readable &= !matches!(expr, Expr::IsTruth { truth: None, .. }));
    readable
}

pub(in crate::fuzz) async fn check(
    side: &PushdownSide,
    dataset: &Dataset,
    judge: &Judge<'_>,
    outcome: &mut CaseOutcome,
) -> Result<()> {
    let fits = |(index, query): &(usize, &Query)| {
        let readable = query.filter.as_ref().is_some_and(is_lance_sql);
        let readable = readable && query.subqueries().is_empty();
        judge.expected(*index).is_some() && matches!(query.source, Source::Table(_)) && readable
    };
    let Some((index, query)) = judge.queries().iter().enumerate().find(fits) else { return Ok(()) };
    let count = Query {
        filter: query.filter.clone(),
        group_by: Some(Vec::new()),
        ..Query::of_table(&judge.table.name, vec![Output::new(Expr::count_all(None), "rows")])
    };
    outcome.reach("relation", NAME);
    let answer = match side.answer(&count).await {
        Ok(answer) => answer,
        failed => {
            judge.judge_other(index, &count, failed, outcome).await;
            return Ok(());
        }
    };
    let mut sum = 0_u64;
    for fragment in dataset.fragments().iter() {
        let mut scan = dataset.scan();
        scan.with_fragments(vec![fragment.clone()]).use_scalar_index(false);
        if let Some(filter) = &count.filter {
            scan.filter(&filter.to_string())?;
        }
        sum += scan.count_rows().await?;
    }
    let sum = i64::try_from(sum).map(|sum| vec![vec![Value::Int64(sum)]]);
    if sum.as_ref() != Ok(&answer.rows) {
        // Lance's own filters merge lists, too.
        if count.repeats_lists() && judge.judge_other(index, &count, Ok(answer.clone()), outcome).await {
            *outcome.defects.entry(Defect::DisjointLists.number()).or_insert(0) += 1;
            return Ok(());
        }
        let contradiction = format!("{sum:?} over the fragments, {:?} in all", answer.rows);
        report(judge, (NAME, index), std::iter::once((&count, answer)), contradiction, outcome).await;
    }
    Ok(())
}
