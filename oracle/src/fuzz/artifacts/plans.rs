//! The plans of a recipe, for people.

use std::fmt::Write as _;

use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;

use super::super::check::CaseOutcome;
use super::super::judge::{Judge, Sessions};
use super::super::pushdown::PushdownSide;
use super::super::workload;
use crate::Result;
use crate::dataset::TestDataset;
use crate::query::Query;
use crate::recipe::Recipe;

/// What a stock session runs for each query.
pub(super) async fn plain(recipe: Recipe) -> Result<String> {
    let test = TestDataset::build(&recipe.table).await?;
    Ok(of_queries(&test.plain_session(&recipe.settings)?, &recipe.workload).await)
}

/// What the session with aggregate pushdown runs for each query, and the plan for all of them together.
pub(super) async fn optimized(recipe: Recipe) -> Result<String> {
    let test = TestDataset::build(&recipe.table).await?;
    let side = PushdownSide::open(&test, &recipe.settings).await?;
    let mut text = of_queries(&side.context, &recipe.workload).await;
    let sessions = Sessions::over(&test, &recipe.settings)?;
    let judge = Judge::new(&recipe, &test.table, sessions, &mut CaseOutcome::default()).await;
    text.push_str("-- all queries together\n");
    match workload::plan_text(&side.context, &judge).await {
        Ok(plan) => text.push_str(&plan),
        Err(error) => _ = writeln!(text, "{error}"),
    }
    Ok(text)
}

async fn of_queries(session: &SessionContext, queries: &[Query]) -> String {
    let mut text = String::new();
    for query in queries {
        let _ = writeln!(text, "-- {query}");
        let plan = match session.sql(&query.to_string()).await {
            Ok(frame) => frame.create_physical_plan().await,
            Err(error) => Err(error),
        };
        let _ = match plan {
            Ok(plan) => writeln!(text, "{}", displayable(plan.as_ref()).indent(true)),
            Err(error) => writeln!(text, "{error}\n"),
        };
    }
    text
}
