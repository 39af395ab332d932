//! DataFusion's analyzed, unoptimized plan as operators of the IR.
//!
//! Every construct either has an exact form here or is refused; nothing is dropped and nothing is approximated.

mod aggregate;
mod case_filter;
mod constant;
mod expr;
mod function;
mod input;
mod literal;
mod plan;
mod scope;

use std::ops::Range;
use std::sync::Arc;

use asap_types::{QueryExpr, UnresolvedQuery, resolve};
use datafusion_common::{Column, DataFusionError, Span};
use datafusion_expr::Expr;

pub(crate) use aggregate::SUPPORTED_AGGREGATES;

use crate::own_stack::on_own_stack;
use crate::source::{Source, parser_span};
use crate::{Catalog, Feature, FrontendError, Statement, check, plan_error, planner, refused};

/// Lowers a statement, and resolves it to check its columns; on a thread of its own, for its stack.
pub(crate) fn lower(
    statement: &Statement,
    catalog: &dyn Catalog,
) -> Result<(Arc<UnresolvedQuery>, Arc<QueryExpr>), FrontendError> {
    on_own_stack(|| lower_here(statement, catalog))
}

/// A name that is wrong is reported before a construct that is refused: it is wrong in any engine.
fn lower_here(
    statement: &Statement,
    catalog: &dyn Catalog,
) -> Result<(Arc<UnresolvedQuery>, Arc<QueryExpr>), FrontendError> {
    let source = &statement.source;
    let refused = refused::find(&statement.parsed)
        .map(|(feature, place)| FrontendError::Unsupported { feature, span: source.span(Some(place)) });
    if let Some(FrontendError::Unsupported { feature: Feature::NotAQuery, .. }) = refused
        && let Some(error) = refused
    {
        return Err(error);
    }
    let plan =
        planner::plan(statement.parsed.clone(), catalog).map_err(|error| plan_error::convert(&error, source, catalog));
    let plan = match (plan, refused) {
        (Err(error), Some(refused)) if !is_wrong_name(&error) => return Err(refused),
        (Ok(_), Some(refused)) => return Err(refused),
        (plan, _) => plan?,
    };
    let lowering = Lowering { source };
    let unresolved = lowering.plan(&plan)?.query;
    let query = lowering.ir(resolve(&unresolved))?;
    check::same_columns(&query, plan.schema(), source)?;
    Ok((unresolved, query))
}

fn is_wrong_name(error: &FrontendError) -> bool {
    matches!(
        error,
        FrontendError::UnknownTable { .. }
            | FrontendError::UnknownColumn { .. }
            | FrontendError::AmbiguousColumn { .. }
    )
}

/// Lowers one statement; knows its text, to say where a refused construct stands.
struct Lowering<'a> {
    source: &'a Source,
}

impl Lowering<'_> {
    /// A refusal of an expression; its place is that of the columns in it, if it has any.
    fn refuse_expr(&self, feature: Feature, expr: &Expr) -> FrontendError {
        FrontendError::Unsupported { feature, span: self.place_of(expr) }
    }

    /// Where the columns of an expression stand; the whole statement if it has none.
    fn place_of(&self, expr: &Expr) -> Range<usize> {
        let mut columns: Vec<&Column> = expr.column_refs().into_iter().collect();
        columns.sort();
        let span = Span::union_iter(columns.into_iter().flat_map(|column| column.spans.iter().copied()));
        self.source.span(span.map(parser_span))
    }

    /// A refusal of the statement.
    fn refuse(&self, feature: Feature) -> FrontendError {
        FrontendError::Unsupported { feature, span: self.source.whole() }
    }

    fn ir<T>(&self, result: Result<T, asap_types::TypesError>) -> Result<T, FrontendError> {
        result.map_err(|source| FrontendError::Ir { source, span: self.source.whole() })
    }

    fn planned<T>(&self, result: Result<T, DataFusionError>) -> Result<T, FrontendError> {
        result.map_err(|error| FrontendError::Plan { message: error.strip_backtrace(), span: self.source.whole() })
    }
}
