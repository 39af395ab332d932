//! The generator for others' property tests: as proptest strategies, which shrink as the fuzzer does, and as
//! `arbitrary::Arbitrary`.

use std::fmt::Debug;
use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{TABLE, case, columns, history, workload};
use crate::fuzz::{Part, Search};
use crate::query::{Column, Query};
use crate::recipe::{Case, Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};

/// All cases that the generator can make. A shrunk one has a smaller recipe than its seed makes.
pub fn cases() -> impl Strategy<Value = Case> {
    Drawn { part: Part::All, make: Arc::new(case), take: |case| case }
}

/// The recipes of all [`cases`].
pub fn recipes() -> impl Strategy<Value = Recipe> {
    Drawn { part: Part::All, make: Arc::new(case), take: |case| case.recipe }
}

/// Tables and what was done to them, without queries. Each is named [`TABLE`].
pub fn table_histories() -> impl Strategy<Value = TableRecipe> {
    let make = |seed, index| {
        let (table, _) = history::generate(&mut stream(seed, index));
        of_parts(seed, index, table, Vec::new())
    };
    Drawn { part: Part::History, make: Arc::new(make), take: |case| case.recipe.table }
}

/// Queries over a table that is named [`TABLE`] and has these columns, of which there must be one. Their names are written
/// as they are, so they must need no quotes.
pub fn queries(columns: &[Column]) -> impl Strategy<Value = Query> + use<> {
    let draw = drawn_queries(columns);
    let make = move |seed, index| {
        let mut case = draw(seed, index);
        case.recipe.workload.truncate(1);
        case
    };
    // The generator makes one query at least, and `Part::Queries` leaves none out.
    let take =
        |case: Case| case.recipe.workload.into_iter().next().unwrap_or_else(|| Query::of_table(TABLE, Vec::new()));
    Drawn { part: Part::Queries, make: Arc::new(make), take }
}

/// One to eight queries as of [`queries`], many of which can be answered from one another.
pub fn workloads(columns: &[Column]) -> impl Strategy<Value = Vec<Query>> + use<> {
    Drawn { part: Part::Workload, make: Arc::new(drawn_queries(columns)), take: |case| case.recipe.workload }
}

fn drawn_queries(columns: &[Column]) -> impl Fn(u64, u64) -> Case + Send + Sync + 'static {
    let columns = columns.to_vec();
    move |seed, index| {
        let rng = &mut stream(seed, index);
        let plans = columns.iter().map(|column| columns::of(column, rng)).collect::<Vec<_>>();
        let table = TableRecipe::new(TABLE, columns.clone(), vec![Operation::Create { rows: Vec::new() }]);
        of_parts(seed, index, table, workload::generate(&plans, rng))
    }
}

fn stream(seed: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}

fn of_parts(seed: u64, index: u64, table: TableRecipe, workload: Vec<Query>) -> Case {
    Case { seed, index, recipe: Recipe { version: RECIPE_VERSION, table, workload, settings: Settings::default() } }
}

/// A strategy that makes cases, hands out a part of them, and shrinks the recipe.
#[derive(Clone)]
struct Drawn<T> {
    part: Part,
    make: Arc<dyn Fn(u64, u64) -> Case + Send + Sync>,
    take: fn(Case) -> T,
}

impl<T> Debug for Drawn<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawn").field("part", &self.part).finish_non_exhaustive()
    }
}

impl<T: Debug> Strategy for Drawn<T> {
    type Tree = RecipeTree<T>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let (seed, index) = (runner.rng().next_u64(), runner.rng().next_u64());
        let Case { recipe, .. } = (self.make)(seed, index);
        Ok(RecipeTree { seed, index, search: Search::new(recipe, self.part), tried: None, take: self.take })
    }
}

/// Shrinks a recipe without running it: proptest says which of the smaller ones fail too.
pub struct RecipeTree<T> {
    seed: u64,
    index: u64,
    search: Search,
    /// Smaller than the search's best, and not yet known to fail.
    tried: Option<Recipe>,
    take: fn(Case) -> T,
}

impl<T> RecipeTree<T> {
    fn step(&mut self) -> bool {
        self.tried = self.search.candidate();
        self.tried.is_some()
    }
}

impl<T: Debug> ValueTree for RecipeTree<T> {
    type Value = T;

    fn current(&self) -> T {
        let recipe = self.tried.as_ref().unwrap_or_else(|| self.search.best()).clone();
        (self.take)(Case { seed: self.seed, index: self.index, recipe })
    }

    /// The current recipe fails, so the search goes on from it.
    fn simplify(&mut self) -> bool {
        if let Some(failing) = self.tried.take() {
            self.search.accept(failing);
        }
        self.step()
    }

    /// The current recipe does not fail, so the next one is tried.
    fn complicate(&mut self) -> bool {
        self.step()
    }
}

impl proptest::arbitrary::Arbitrary for Case {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        cases().boxed()
    }
}

impl proptest::arbitrary::Arbitrary for Recipe {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        recipes().boxed()
    }
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(case(bytes.arbitrary()?, bytes.arbitrary()?))
    }
}

impl<'a> Arbitrary<'a> for Recipe {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Case::arbitrary(bytes).map(|case| case.recipe)
    }
}
