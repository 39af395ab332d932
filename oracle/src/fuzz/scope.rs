//! Which answers a run compares.

use std::fmt;

use crate::recipe::Recipe;

/// A crate of the workspace. A run for one of them takes only the sides that it takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Single queries with pushdown, and the relations between their answers; no workload plan.
    LancePushdown,
    /// Workload plans, without pushdown, and the relations between those in memory.
    AwareMapping,
    /// Workload plans, without pushdown.
    FrontendSql,
    /// Workload plans, without pushdown.
    Execution,
}

impl Scope {
    /// Changes a case's settings so that it runs without what the scope leaves out, wherever its recipe is replayed.
    pub(super) fn restrict(self, recipe: &mut Recipe) {
        if self == Self::LancePushdown {
            recipe.settings.in_memory = false;
        } else {
            recipe.settings.stock_provider = true;
            recipe.settings.pushdown.insert("enabled".to_owned(), "false".to_owned());
        }
    }
}

/// The crate's name.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LancePushdown => "lance-pushdown",
            Self::AwareMapping => "aware-mapping",
            Self::FrontendSql => "frontend-sql",
            Self::Execution => "execution",
        })
    }
}

/// Whether the answers of single queries with pushdown are compared.
pub(super) fn has_pushdown(scope: Option<Scope>) -> bool {
    scope.is_none_or(|scope| scope == Scope::LancePushdown)
}

/// Whether the answers of workload plans are.
pub(super) fn has_workload(scope: Option<Scope>) -> bool {
    scope != Some(Scope::LancePushdown)
}
