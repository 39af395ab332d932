//! The functions and expression planners of a session with default settings.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use datafusion_common::config::ConfigOptions;
use datafusion_expr::planner::ExprPlanner;
use datafusion_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF};

/// Functions by each of their names.
pub(crate) struct Functions {
    pub(crate) scalar: HashMap<String, Arc<ScalarUDF>>,
    pub(crate) higher_order: HashMap<String, Arc<HigherOrderUDF>>,
    pub(crate) aggregate: HashMap<String, Arc<AggregateUDF>>,
    /// In the order of a stock session: the first that plans an expression wins.
    pub(crate) planners: Vec<Arc<dyn ExprPlanner>>,
    pub(crate) options: Arc<ConfigOptions>,
}

static STOCK: LazyLock<Functions> = LazyLock::new(Functions::stock);

impl Functions {
    /// What a stock session knows.
    pub(crate) fn get() -> &'static Self {
        &STOCK
    }

    fn stock() -> Self {
        let options = ConfigOptions::default();
        let scalar = datafusion_functions::all_default_functions()
            .into_iter()
            .chain(datafusion_functions_nested::all_default_nested_functions())
            .map(|function| function.inner().with_updated_config(&options).map_or(function, Arc::new));
        Self {
            scalar: by_name(scalar, |f| f.name(), |f| f.aliases()),
            higher_order: by_name(
                datafusion_functions_nested::all_default_higher_order_functions(),
                |f| f.name(),
                |f| f.aliases(),
            ),
            aggregate: by_name(
                datafusion_functions_aggregate::all_default_aggregate_functions(),
                |f| f.name(),
                |f| f.aliases(),
            ),
            planners: vec![
                Arc::new(datafusion_functions::core::planner::CoreFunctionPlanner::default()),
                Arc::new(datafusion_functions_nested::planner::NestedFunctionPlanner),
                Arc::new(datafusion_functions_nested::planner::FieldAccessPlanner),
                Arc::new(datafusion_functions::datetime::planner::DatetimeFunctionPlanner),
                Arc::new(datafusion_functions::unicode::planner::UnicodeFunctionPlanner),
                Arc::new(datafusion_functions_aggregate::planner::AggregateFunctionPlanner),
            ],
            options: Arc::new(options),
        }
    }
}

/// Later functions win a name, as in a session's registration order.
fn by_name<F>(
    functions: impl IntoIterator<Item = Arc<F>>,
    name: fn(&F) -> &str,
    aliases: fn(&F) -> &[String],
) -> HashMap<String, Arc<F>> {
    let mut map = HashMap::new();
    for function in functions {
        for alias in aliases(&function) {
            map.insert(alias.clone(), Arc::clone(&function));
        }
        map.insert(name(&function).to_owned(), function);
    }
    map
}
