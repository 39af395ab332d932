//! What a version answers stays its answer in the session that reads it, whatever comes after.

use lance::Dataset;

use super::report;
use crate::Result;
use crate::answer::Answer;
use crate::fuzz::check::CaseOutcome;
use crate::fuzz::judge::Judge;
use crate::fuzz::pushdown::PushdownSide;
use crate::query::Query;

const NAME: &str = "an old version's answer stays";

/// Deletes all rows in a version after the one that is read, and asks again. Nothing else may be asked of the dataset's
/// latest version afterwards.
pub(in crate::fuzz) async fn check(
    side: &PushdownSide,
    dataset: &Dataset,
    judge: &Judge<'_>,
    outcome: &mut CaseOutcome,
) -> Result<()> {
    let fits = |(index, _): &(usize, &Query)| judge.expected(*index).is_some();
    let Some((index, query)) = judge.queries().iter().enumerate().find(fits) else { return Ok(()) };
    outcome.reach("relation", NAME);
    let Ok(before) = side.answer(query).await else { return Ok(()) };
    let mut later = dataset.clone();
    later.checkout_latest().await?;
    later.delete("true").await?;
    match side.answer(query).await {
        Ok(after) if judge.are_alike(index, &before, &after) => {}
        Ok(after) => report(judge, (NAME, index), both(query, before, after), NAME.to_owned(), outcome).await,
        failed => {
            judge.judge_other(index, query, failed, outcome).await;
        }
    }
    Ok(())
}

fn both(query: &Query, before: Answer, after: Answer) -> impl Iterator<Item = (&Query, Answer)> + Send {
    [(query, before), (query, after)].into_iter()
}
