//! The commands.

mod plan;
mod query;
mod run;

pub(crate) use plan::plan;
pub(crate) use query::query;
pub(crate) use run::run;
