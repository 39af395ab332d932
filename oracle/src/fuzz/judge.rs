//! Compares answers, errors and schemas. The interpreter is right by definition.

use std::collections::BTreeSet;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;

use super::check::CaseOutcome;
use super::failure::FailureClass;
use crate::answer::Answer;
use crate::dataset::{TestDataset, plain_answer};
use crate::defects::{Defect, Evidence, Suspect, recognize, recognize_at_random, recognize_failure};
use crate::error_class::ErrorClass;
use crate::model::{ModelError, Table};
use crate::query::Query;
use crate::recipe::{Recipe, Settings};
use crate::{OracleError, Result};

/// The interpreter's answers to a recipe's queries, and the plain ones.
pub(super) struct Judge<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) table: &'a Table,
    sessions: Sessions,
    expected: Vec<Result<Answer, ModelError>>,
    plain: Vec<Plain>,
}

/// Stock sessions that know the table.
pub(super) struct Sessions {
    /// As users open them.
    pub(super) plain: SessionContext,
    /// Without the use of any index.
    pub(super) unindexed: SessionContext,
}

impl Sessions {
    /// Stock sessions over a dataset.
    pub(super) fn over(test: &TestDataset, settings: &Settings) -> Result<Self> {
        Ok(Self { plain: test.plain_session(settings)?, unindexed: test.unindexed_session(settings)? })
    }
}

/// How a query fared without asap.
#[derive(Default)]
struct Plain {
    /// The fields of its physical plan.
    schema: Option<SchemaRef>,
    /// Its optimized logical plan, if ORDER BY has several keys, of which some may be lost.
    optimized: Option<LogicalPlan>,
    defective: Defective,
}

/// What numbered defects made of a plain answer.
#[derive(Default)]
struct Defective {
    /// The one that lets the query fail.
    failure: Option<Defect>,
    /// Those that make the answer wrong: each answer shows its defect and those after it.
    answers: Vec<(Defect, Answer)>,
}

impl Defective {
    /// The defect that excuses a wrong answer of another plan, which defects that `may_strike` does not hold for do not: the
    /// plain answer's, or one that strikes at random.
    fn excuse(&self, suspect: &Suspect<'_>, may_strike: impl Fn(Defect) -> bool) -> Option<Defect> {
        let shown = self.answers.iter().enumerate().find(|(first, (defect, plain))| {
            self.answers[*first..].iter().all(|(shown, _)| may_strike(*shown)) && defect.excuses(suspect, plain)
        });
        let at_random = || recognize_at_random(suspect).filter(|defect| may_strike(*defect));
        shown.map(|(_, (defect, _))| *defect).or_else(at_random)
    }
}

impl<'a> Judge<'a> {
    /// Answers every query with the interpreter and plainly, and compares.
    pub(super) async fn new(
        recipe: &'a Recipe,
        table: &'a Table,
        sessions: Sessions,
        outcome: &mut CaseOutcome,
    ) -> Self {
        let expected = recipe.workload.iter().map(|query| table.answer(query)).collect();
        let mut judge = Self { recipe, table, sessions, expected, plain: Vec::new() };
        for (index, query) in recipe.workload.iter().enumerate() {
            let found = plain_answer(&judge.sessions.plain, query).await;
            let schema = found.as_ref().ok().map(|(_, schema)| SchemaRef::clone(schema));
            let expected = &judge.expected[index];
            let found = found.map(|(answer, _)| answer);
            let defective = judge.judge_plain(Some(index), query, expected, found, outcome).await;
            let optimized = judge.sorting_plan(query).await;
            judge.plain.push(Plain { schema, optimized, defective });
        }
        judge
    }

    /// The queries.
    pub(super) fn queries(&self) -> &'a [Query] {
        &self.recipe.workload
    }

    /// The interpreter's answer to a query, if it has one.
    pub(super) fn expected(&self, index: usize) -> Option<&Answer> {
        self.expected.get(index)?.as_ref().ok()
    }

    /// Compares a plain answer with the interpreter's; returns what numbered defects made of it.
    async fn judge_plain(
        &self,
        index: Option<usize>,
        query: &Query,
        expected: &Result<Answer, ModelError>,
        found: Result<Answer>,
        outcome: &mut CaseOutcome,
    ) -> Defective {
        outcome.comparisons += 1;
        if let (Ok(_), Err(error)) = (expected, &found)
            && let Some(defect) = recognize_failure(query, self.table, error)
        {
            *outcome.defects.entry(defect.number()).or_insert(0) += 1;
            return Defective { failure: Some(defect), ..Defective::default() };
        }
        let Some((expected, found)) = both(FailureClass::Plain, index, expected, found, outcome) else {
            return Defective::default();
        };
        let Some(difference) = expected.difference(&found) else { return Defective::default() };
        let answers = match self.defects(query, expected, &found).await {
            Ok(answers) => answers,
            Err(error) => {
                outcome.fail(FailureClass::Plain, index, format!("{difference}\nand then: {error}"));
                return Defective::default();
            }
        };
        if answers.is_empty() {
            outcome.fail(FailureClass::Plain, index, format!("interpreter on the left: {difference}"));
        }
        answers.iter().for_each(|(defect, _)| *outcome.defects.entry(defect.number()).or_insert(0) += 1);
        Defective { failure: None, answers }
    }

    async fn sorting_plan(&self, query: &Query) -> Option<LogicalPlan> {
        if query.order_by.len() < 2 {
            return None;
        }
        self.sessions.plain.sql(&query.to_string()).await.ok()?.into_optimized_plan().ok()
    }

    /// The defects that explain a wrong plain answer, with answers that show them.
    async fn defects(&self, query: &Query, expected: &Answer, found: &Answer) -> Result<Vec<(Defect, Answer)>> {
        let optimized = self.sessions.plain.sql(&query.to_string()).await?.into_optimized_plan()?;
        let unindexed = plain_answer(&self.sessions.unindexed, query).await;
        let unindexed = unindexed.ok().map(|(answer, _)| answer);
        let unsimplified = plain_answer(&unsimplified(&self.sessions.unindexed), query).await;
        let unsimplified = unsimplified.ok().map(|(answer, _)| answer);
        let recognized = recognize(&Evidence {
            query,
            recipe: &self.recipe.table,
            table: self.table,
            optimized: &optimized,
            expected,
            found,
            is_parallel: self.is_parallel(),
            unindexed: unindexed.as_ref(),
            unsimplified: unsimplified.as_ref(),
        });
        Ok(recognized.into_iter().map(|(defect, answer)| (defect, answer.clone())).collect())
    }

    /// Compares an optimized answer with the interpreter's. A numbered defect excuses it only if the plain answer shows
    /// that defect and this answer is the plain one (or, of two defects, the one that shows the second only), or is as right
    /// as the plain one can be under that defect, and never the workload plan's answer if that is made to avoid the defect.
    /// A failure that a numbered defect explains is noted if the plain plan answers.
    pub(super) fn judge(
        &self,
        class: FailureClass,
        index: usize,
        found: Result<Answer>,
        outcome: &mut CaseOutcome,
    ) -> Option<()> {
        let query = self.queries().get(index)?;
        let expected = self.expected.get(index)?;
        let plain_fails = self.plain.get(index).is_some_and(|plain| plain.defective.failure.is_some());
        outcome.comparisons += 1;
        let may_strike = |defect: Defect| class != FailureClass::Workload || !defect.is_avoided();
        if let (Ok(_), Err(error)) = (expected, &found)
            && let Some(defect) = self.queries().iter().find_map(|query| recognize_failure(query, self.table, error))
            && may_strike(defect)
        {
            // A failure is no wrong answer: another plan may run into the defect where the plain one does not, also by what
            // the query shares with another one.
            if !plain_fails {
                outcome.reach("fails where the plain plan answers", format!("{class}, defect {}", defect.number()));
            }
            *outcome.defects.entry(defect.number()).or_insert(0) += 1;
            return None;
        }
        let (expected, found) = both(class, Some(index), expected, found, outcome)?;
        let difference = expected.difference(&found)?;
        // Only workload plans run with little memory.
        let may_spill = class == FailureClass::Workload && self.recipe.settings.memory_limit.is_some();
        match self.excuse(index, query, &found, may_spill, may_strike) {
            Some(defect) => *outcome.defects.entry(defect.number()).or_insert(0) += 1,
            None => outcome.fail(class, Some(index), format!("interpreter on the left: {difference}")),
        }
        None
    }

    /// Two answers of one plan with all its memory to the query at `index`, which must be equal but for a defect that leaves
    /// the order of rows open.
    pub(super) fn are_alike(&self, index: usize, first: &Answer, second: &Answer) -> bool {
        let Some(query) = self.queries().get(index) else { return false };
        let is_excused = |answer| self.excuse(index, query, answer, false, |_| true).is_some();
        let is_right = |answer| self.expected(index).is_some_and(|expected| expected.difference(answer).is_none());
        first.difference(second).is_none()
            || (is_right(first) || is_excused(first)) && (is_right(second) || is_excused(second))
    }

    fn excuse(
        &self,
        index: usize,
        query: &Query,
        found: &Answer,
        may_spill: bool,
        may_strike: impl Fn(Defect) -> bool,
    ) -> Option<Defect> {
        let plain = self.plain.get(index)?;
        let suspect = Suspect { may_spill, ..self.suspect(query, plain.optimized.as_ref(), found) };
        plain.defective.excuse(&suspect, may_strike)
    }

    fn suspect<'s>(&'s self, query: &'s Query, optimized: Option<&'s LogicalPlan>, found: &'s Answer) -> Suspect<'s> {
        Suspect { query, table: self.table, optimized, is_parallel: self.is_parallel(), may_spill: false, found }
    }

    fn is_parallel(&self) -> bool {
        self.recipe.settings.target_partitions > 1
    }

    /// Does a stock session always make the same plan of a query? DataFusion 54.1 adds the columns of ORDER BY that SELECT
    /// lacks in the order of a hash set.
    pub(super) async fn is_planned_one_way(&self, query: &Query) -> Result<bool> {
        const TRIES: usize = 20;
        let mut texts = BTreeSet::new();
        for _ in 0..TRIES {
            let plan = self.sessions.plain.sql(&query.to_string()).await?.create_physical_plan().await?;
            texts.insert(displayable(plan.as_ref()).indent(true).to_string());
        }
        Ok(texts.len() == 1)
    }

    /// An optimized plan's fields are those of the plain plan: names, types, nullability. Where the plain query's own two
    /// plans differ in them by a truth test (4) or by lists that were merged (14), they may be those of the logical one; and
    /// as the workload plan spells a truth test out, which may fold to a constant, its fields may be NOT NULL then, which
    /// Arrow checks for each batch.
    pub(super) async fn judge_schema(
        &self,
        side: FailureClass,
        index: usize,
        schema: &SchemaRef,
        outcome: &mut CaseOutcome,
    ) {
        let Some(plain) = self.plain.get(index).and_then(|plain| plain.schema.as_ref()) else { return };
        let is_narrower = side == FailureClass::Workload && narrows(plain, schema);
        let (plain, found) = (fields(plain), fields(schema));
        if plain == found {
            return;
        }
        let query = &self.recipe.workload[index];
        let logical = self.sessions.plain.sql(&query.to_string()).await.map(|frame| fields(frame.schema().as_arrow()));
        let is_logical = logical.is_ok_and(|logical| logical == found);
        let defect = if query.has_truth_test() && (is_narrower || is_logical) {
            Defect::NullableTruthTest
        } else if query.repeats_lists() && is_logical {
            Defect::DisjointLists
        } else {
            return outcome.fail(
                FailureClass::Schema,
                Some(index),
                format!("{side}\n  plain: {plain}\n  found: {found}"),
            );
        };
        *outcome.defects.entry(defect.number()).or_insert(0) += 1;
    }

    /// Judges an optimized answer to a query that is not part of the workload but made from one, at `index`: `true` if it
    /// is the interpreter's. It is not and excused on the same terms as in [`Self::judge`]; in memory the workload plan answers.
    pub(super) async fn judge_other(
        &self,
        index: usize,
        query: &Query,
        found: Result<Answer>,
        outcome: &mut CaseOutcome,
    ) -> bool {
        let expected = self.table.answer(query);
        let is_right = match (&expected, &found) {
            (Ok(expected), Ok(found)) => expected.difference(found).is_none(),
            (Err(expected), Err(found)) => ErrorClass::of_model(expected).agrees(ErrorClass::of(found)),
            _ => false,
        };
        if is_right {
            return true;
        }
        let plain = plain_answer(&self.sessions.plain, query).await.map(|(answer, _)| answer);
        let defective = self.judge_plain(Some(index), query, &expected, plain, outcome).await;
        let optimized = self.sorting_plan(query).await;
        let may_strike = |defect: Defect| !(self.recipe.settings.in_memory && defect.is_avoided());
        let excuse = match &found {
            Ok(found) => defective.excuse(&self.suspect(query, optimized.as_ref(), found), may_strike),
            Err(error) => {
                let explains =
                    |defect: &Defect| defect.explains_failure(query, self.table, error) && may_strike(*defect);
                defective.failure.filter(explains)
            }
        };
        if excuse.is_none() {
            let detail = format!("{query}\n  interpreter: {expected:?}\n  found: {found:?}");
            outcome.fail(FailureClass::Relation, Some(index), detail);
        }
        false
    }
}

/// The session without the rules that simplify expressions.
fn unsimplified(session: &SessionContext) -> SessionContext {
    let state = session.state();
    let rules = state.optimizers().iter().filter(|rule| rule.name() != "simplify_expressions").cloned().collect();
    SessionContext::new_with_state(SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build())
}

/// Do schemas differ only in fields of the second that are NOT NULL?
fn narrows(wide: &Schema, narrow: &Schema) -> bool {
    let mut pairs = wide.fields().iter().zip(narrow.fields());
    wide.fields().len() == narrow.fields().len()
        && pairs.all(|(wide, narrow)| {
            (wide.name(), wide.data_type()) == (narrow.name(), narrow.data_type())
                && (wide.is_nullable() || !narrow.is_nullable())
        })
}

fn fields(schema: &Schema) -> String {
    let nullable = |is_nullable: bool| if is_nullable { "NULL" } else { "NOT NULL" };
    let fields = schema.fields().iter();
    let fields =
        fields.map(|field| format!("{} {} {}", field.name(), field.data_type(), nullable(field.is_nullable())));
    fields.collect::<Vec<_>>().join(", ")
}

/// Both answers, if there are two; else judges the errors.
fn both<'e>(
    class: FailureClass,
    index: Option<usize>,
    expected: &'e Result<Answer, ModelError>,
    found: Result<Answer>,
    outcome: &mut CaseOutcome,
) -> Option<(&'e Answer, Answer)> {
    let detail = match (expected, found) {
        (Ok(expected), Ok(found)) => return Some((expected, found)),
        (Err(expected), Err(found)) => {
            let (left, right) = (ErrorClass::of_model(expected), ErrorClass::of(&found));
            if left.agrees(right) {
                outcome.reach("error on every side", left.name());
                return None;
            }
            let (left, right) = (left.name(), right.name());
            format!("the interpreter fails ({left}): {expected}\nbut this side otherwise ({right}): {found}")
        }
        (Ok(_), Err(found)) => format!("the interpreter answers, but: {}", described(&found)),
        (Err(expected), Ok(_)) => format!("the interpreter fails: {expected}"),
    };
    outcome.fail(FailureClass::Error, index, format!("{class}: {detail}"));
    None
}

fn described(error: &OracleError) -> String {
    format!("({}) {error}", ErrorClass::of(error).name())
}
