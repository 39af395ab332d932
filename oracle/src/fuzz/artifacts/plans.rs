//! The plans of a recipe, for people.

use std::fmt::Write as _;

use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;

use super::super::check::CaseOutcome;
use super::super::judge::Judge;
use super::super::pushdown::PushdownSide;
use super::super::workload;
use crate::Result;
use crate::dataset::TestDataset;
use crate::query::Query;
use crate::recipe::Recipe;

/// Plans as text.
pub(super) struct Plans {
    /// What a stock session runs for each query.
    pub(super) plain: String,
    /// What the session with aggregate pushdown runs for each query, and the plan for all of them together.
    pub(super) optimized: String,
}

/// The plans, or why there are none: making them may fail or panic in the way that the recipe is about.
pub(super) async fn of(recipe: &Recipe) -> Plans {
    let recipe = recipe.clone();
    let task = tokio::spawn(async move { plans(&recipe).await });
    let reason = match task.await {
        Ok(Ok(plans)) => return plans,
        Ok(Err(error)) => format!("there is no plan: {error}\n"),
        Err(error) => format!("planning ended early: {error}\n"),
    };
    Plans { plain: reason.clone(), optimized: reason }
}

async fn plans(recipe: &Recipe) -> Result<Plans> {
    let test = TestDataset::build(&recipe.table).await?;
    let plain = of_queries(&test.plain_session(&recipe.settings)?, &recipe.workload).await;
    let side = PushdownSide::open(&test, &recipe.settings)?;
    let mut optimized = of_queries(&side.context, &recipe.workload).await;
    let judge = Judge::new(recipe, &test, &mut CaseOutcome::default()).await?;
    optimized.push_str("-- all queries together\n");
    match workload::plan_text(&side, &test, &judge).await {
        Ok(text) => optimized.push_str(&text),
        Err(error) => _ = writeln!(optimized, "{error}"),
    }
    Ok(Plans { plain, optimized })
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
