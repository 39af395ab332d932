//! What a case's dataset and queries are, as coverage points.

use lance::index::DatasetIndexExt;

use super::check::CaseOutcome;
use super::judge::Judge;
use crate::Result;
use crate::dataset::TestDataset;
use crate::recipe::Recipe;
use crate::value::Value;

/// Notes every state that the case is in.
pub(super) async fn note(
    recipe: &Recipe,
    test: &TestDataset,
    judge: &Judge<'_>,
    outcome: &mut CaseOutcome,
) -> Result<()> {
    let fragments = test.dataset.fragments();
    outcome.reach(
        "table",
        match fragments.len() {
            0 => "no fragment",
            1 => "one fragment",
            _ => "several fragments",
        },
    );
    let special = |value: &Value| matches!(value, Value::Float64(float) if !float.0.is_finite());
    let states = [
        ("table", "deletions", fragments.iter().any(|fragment| fragment.deletion_file.is_some())),
        ("table", "floats that are no numbers", test.table.rows.iter().flatten().any(special)),
        ("table", "stable row ids", recipe.table.stable_row_ids),
        ("table", "an older storage version", recipe.table.storage_version.is_some()),
        ("table", "an older version is read", recipe.table.read_after.is_some()),
        ("settings", "stock provider", recipe.settings.stock_provider),
        ("settings", "exact floats", recipe.settings.exact_floats),
        ("settings", "priced", recipe.settings.price_seed.is_some()),
    ];
    for (group, name, _) in states.into_iter().filter(|(_, _, holds)| *holds) {
        outcome.reach(group, name);
    }
    for switch in recipe.settings.pushdown.keys() {
        outcome.reach("switched off", switch);
    }
    note_indexes(test, outcome).await?;
    for operation in &recipe.table.history {
        outcome.reach("history", operation.name());
    }
    note_queries(judge, outcome);
    Ok(())
}

/// Notes what the queries read and use.
pub(super) fn note_queries(judge: &Judge<'_>, outcome: &mut CaseOutcome) {
    for column in &judge.table.columns {
        outcome.reach("column type", column.data_type.name());
    }
    for (index, query) in judge.queries().iter().enumerate() {
        query.features().into_iter().for_each(|feature| outcome.reach("query", feature));
        if query.is_grand_total() && judge.expected(index).is_some() && judge.table.rows.is_empty() {
            outcome.reach("query", "grand total over no rows");
        }
    }
}

async fn note_indexes(test: &TestDataset, outcome: &mut CaseOutcome) -> Result<()> {
    let indexes = test.dataset.load_indices().await?;
    for (position, index) in indexes.iter().enumerate() {
        for other in &indexes[..position] {
            if index.name == other.name {
                outcome.reach("index", "several segments");
            } else if index.fields == other.fields && !index.fields.is_empty() {
                outcome.reach("index", "several on a column");
            }
        }
    }
    Ok(())
}
