//! What a case's dataset and queries are, as coverage points.

use lance::index::DatasetIndexExt;

use super::check::CaseOutcome;
use super::judge::Judge;
use super::static_points::static_points;
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
        "dataset",
        match fragments.len() {
            0 => "no fragment",
            1 => "one fragment",
            _ => "several fragments",
        },
    );
    let special = |value: &Value| matches!(value, Value::Float64(float) if !float.0.is_finite());
    if fragments.iter().any(|fragment| fragment.deletion_file.is_some()) {
        outcome.reach("dataset", "deletions");
    }
    if test.table.rows.iter().flatten().any(special) {
        outcome.reach("dataset", "floats that are no numbers");
    }
    outcome.points.extend(static_points(recipe));
    note_indexes(test, outcome).await?;
    note_answers(judge, outcome);
    Ok(())
}

/// Notes what the answers are.
pub(super) fn note_answers(judge: &Judge<'_>, outcome: &mut CaseOutcome) {
    for (index, query) in judge.queries().iter().enumerate() {
        if query.is_grand_total() && judge.expected(index).is_some() && judge.table.rows.is_empty() {
            outcome.reach("answer", "grand total over no rows");
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
