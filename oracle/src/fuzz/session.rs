//! Judges a session of a downstream project.

use datafusion::prelude::SessionContext;

use super::check::CaseOutcome;
use super::failure::FailureClass;
use super::judge::{Judge, Sessions};
use crate::Result;
use crate::dataset::{TestDataset, plain_answer};
use crate::recipe::Recipe;

/// Answers the recipe's queries in a session of one's own and compares with the row interpreter. `prepare` is given a stock
/// session that knows the recipe's table, and adds rules, functions or settings to it.
///
/// What a numbered defect of the libraries makes wrong is counted in [`CaseOutcome::defects`], on the terms of
/// [`check_recipe`](super::check_recipe); everything else is among [`CaseOutcome::failures`].
/// A query whose answer is wrong in the stock session already says nothing about `prepare`: it is left out, and noted in
/// [`CaseOutcome::points`].
///
/// # Errors
/// The recipe is not valid, or its dataset cannot be made.
pub async fn check_session(
    recipe: &Recipe,
    prepare: impl FnOnce(SessionContext) -> SessionContext,
) -> Result<CaseOutcome> {
    recipe.validate()?;
    let test = TestDataset::build(&recipe.table).await?;
    let mut outcome = CaseOutcome::default();
    let judge = Judge::new(recipe, &test.table, Sessions::over(&test, &recipe.settings)?, &mut outcome).await;
    let left_out: Vec<Option<usize>> = outcome.failures.drain(..).map(|failure| failure.query).collect();
    if !left_out.is_empty() {
        outcome.reach("left out", "the stock session's answer is wrong");
    }
    let session = prepare(test.plain_session(&recipe.settings)?);
    for (index, query) in recipe.workload.iter().enumerate().filter(|(index, _)| !left_out.contains(&Some(*index))) {
        let found = plain_answer(&session, query).await;
        if let Ok((_, schema)) = &found {
            judge.judge_schema(FailureClass::Session, index, schema, &mut outcome).await;
        }
        judge.judge(FailureClass::Session, index, found.map(|(answer, _)| answer), &mut outcome);
    }
    Ok(outcome)
}
