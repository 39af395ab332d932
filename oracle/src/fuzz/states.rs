//! What a case's dataset and queries are, as coverage points.

use super::check::CaseOutcome;
use super::judge::Judge;
use crate::dataset::TestDataset;
use crate::recipe::Recipe;

/// Notes every state that the case is in.
pub(super) fn note(recipe: &Recipe, test: &TestDataset, judge: &Judge<'_>, outcome: &mut CaseOutcome) {
    let fragments = test.dataset.fragments();
    outcome.reach(
        "table",
        match fragments.len() {
            0 => "no fragment",
            1 => "one fragment",
            _ => "several fragments",
        },
    );
    if fragments.iter().any(|fragment| fragment.deletion_file.is_some()) {
        outcome.reach("table", "deletions");
    }
    for operation in &recipe.table.history {
        outcome.reach("history", operation.name());
    }
    for (index, query) in recipe.workload.iter().enumerate() {
        query.features().into_iter().for_each(|feature| outcome.reach("query", feature));
        if query.is_grand_total() && judge.expected(index).is_some() && test.table.rows.is_empty() {
            outcome.reach("query", "grand total over no rows");
        }
    }
}
