//! Fuzzes an optimizer rule of one's own: `cargo run --example fuzz_your_own_rule`.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use asap_oracle::fuzz::{RecipeSize, check_session};
use asap_oracle::generate::recipes;
use asap_oracle::recipe::Recipe;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// Answers `count(column)` as `count(*)`, which is right only where the column holds no NULL.
#[derive(Debug)]
pub(crate) struct CountAllRows {
    /// Does the rule look whether it may?
    pub(crate) asks_for_null: bool,
}

impl OptimizerRule for CountAllRows {
    fn name(&self) -> &str {
        "count_all_rows"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(Aggregate { input, group_expr, mut aggr_expr, .. }) = plan else {
            return Ok(Transformed::no(plan));
        };
        for expr in &mut aggr_expr {
            let name = NamePreserver::new_for_projection().save(expr);
            if let Expr::AggregateFunction(call) = expr
                && call.func.name() == "count"
                && !call.params.distinct
                && let [argument @ Expr::Column(_)] = call.params.args.as_slice()
                && !(self.asks_for_null && argument.nullable(input.schema())?)
            {
                call.params.args = vec![lit(1)];
                *expr = name.restore(expr.clone());
            }
        }
        Ok(Transformed::yes(LogicalPlan::Aggregate(Aggregate::try_new(input, group_expr, aggr_expr)?)))
    }
}

/// Draws cases until the rule makes an answer wrong, and returns the smallest such recipe and what is wrong with it.
pub(crate) fn find_bug(rule: CountAllRows, cases: u32) -> Option<(Recipe, String)> {
    let rule = Arc::new(rule);
    let runtime = tokio::runtime::Runtime::new().ok()?;
    let config = Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let found = TestRunner::new(config).run(&recipes(), |recipe| {
        let outcome = runtime.block_on(check_session(&recipe, |session| {
            session.add_optimizer_rule(Arc::clone(&rule) as _);
            session
        }));
        match outcome.map_err(|error| TestCaseError::fail(error.to_string()))?.failures.first() {
            Some(failure) => Err(TestCaseError::fail(failure.to_string())),
            None => Ok(()),
        }
    });
    match found {
        Err(TestError::Fail(reason, recipe)) => Some((recipe, reason.message().to_owned())),
        _ => None,
    }
}

fn main() {
    let Some((recipe, reason)) = find_bug(CountAllRows { asks_for_null: false }, 1000) else { return };
    println!("{reason}\n\n{}", RecipeSize::of(&recipe));
    recipe.workload.iter().for_each(|query| println!("{query};"));
}
