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
    let session = prepare(test.plain_session(&recipe.settings)?);
    for (index, query) in recipe.workload.iter().enumerate() {
        let found = plain_answer(&session, query).await;
        if let Ok((_, schema)) = &found {
            judge.judge_schema(FailureClass::Session, index, schema, &mut outcome);
        }
        judge.judge(FailureClass::Session, index, found.map(|(answer, _)| answer), &mut outcome);
    }
    Ok(outcome)
}
