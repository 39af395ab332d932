//! DataFusion's logical plan of a statement: names resolved, types coerced, nothing optimized.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::TableRef;
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, TableReference};
use datafusion_expr::planner::{ContextProvider, ExprPlanner};
use datafusion_expr::{AggregateUDF, HigherOrderUDF, LogicalPlan, ScalarUDF, TableSource, WindowUDF};
use datafusion_optimizer::Analyzer;
use datafusion_sql::parser::Statement;
use datafusion_sql::planner::{ParserOptions, SqlToRel};
use thiserror::Error;

use crate::Catalog;
use crate::catalog::{CatalogTable, table_ref};
use crate::functions::Functions;

/// What the catalog answers for a table that it does not know.
#[derive(Debug, Error)]
#[error("table '{0}' not found")]
pub(crate) struct MissingTable(pub(crate) TableRef);

/// Plans and analyzes a statement as a session with default settings does.
pub(crate) fn plan(statement: Statement, catalog: &dyn Catalog) -> Result<LogicalPlan, DataFusionError> {
    let functions = Functions::get();
    let options = ParserOptions::from(&functions.options.sql_parser).with_collect_spans(true);
    let plan = SqlToRel::new_with_options(&Provider { catalog, functions }, options).statement_to_plan(statement)?;
    Analyzer::new().execute_and_check(plan, &functions.options, |_, _| {})
}

struct Provider<'a> {
    catalog: &'a dyn Catalog,
    functions: &'static Functions,
}

impl ContextProvider for Provider<'_> {
    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.functions.planners
    }

    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>, DataFusionError> {
        let name = table_ref(name);
        match self.catalog.table(&name) {
            Some(table) => Ok(Arc::new(CatalogTable { name, table })),
            None => Err(DataFusionError::External(Box::new(MissingTable(name)))),
        }
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.functions.scalar.get(name).cloned()
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.functions.higher_order.get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.functions.aggregate.get(name).cloned()
    }

    /// None is needed: window functions are refused.
    fn get_window_meta(&self, _name: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _variable_names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.functions.options
    }

    fn udf_names(&self) -> Vec<String> {
        sorted(self.functions.scalar.keys())
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        sorted(self.functions.higher_order.keys())
    }

    fn udaf_names(&self) -> Vec<String> {
        sorted(self.functions.aggregate.keys())
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Suggestions must not depend on hash order.
fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names
}
