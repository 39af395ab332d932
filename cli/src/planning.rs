//! Plans a workload.

use std::sync::Arc;

use asap_aware_mapping::{CandidateSpace, Selection, search_workload, select};
use asap_execution::catch_panic;
use asap_types::{PostAsapDag, QueryExpr};

use crate::args::SessionArgs;
use crate::error::CliError;
use crate::leaf_cost::{PlannedCost, Priced};
use crate::tables::AsapSession;
use crate::workload::Query;

/// A planned workload: its lowered queries together; refused ones are not part of it.
pub(crate) struct Planned {
    /// The workload as it was written, equal nodes shared.
    pub(crate) before: PostAsapDag,
    pub(crate) space: CandidateSpace,
    pub(crate) selection: Selection,
    /// The names of the DAG's roots.
    pub(crate) names: Vec<String>,
    /// For each query, the position of its root in the DAG.
    pub(crate) roots: Vec<Option<usize>>,
    /// Why nothing is planned, if planning failed.
    pub(crate) failed: Option<String>,
}

impl Planned {
    fn name_refs(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Candidates, choices and refusals as text.
    pub(crate) fn explain(&self) -> String {
        self.space.explain(&self.selection, &self.name_refs())
    }

    /// For each query, the name of the query from whose aggregate it is answered, if it is.
    pub(crate) fn sources(&self) -> Vec<Option<String>> {
        let names = self.name_refs();
        let sources = self.space.sources(&self.selection, &names);
        self.roots.iter().map(|root| sources.get((*root)?).copied().flatten().map(str::to_owned)).collect()
    }

    /// For each query, the name of an earlier query that is the same computation, if there is one.
    pub(crate) fn repeats(&self) -> Vec<Option<String>> {
        self.roots
            .iter()
            .map(|root| {
                let own = self.space.roots.get((*root)?)?;
                let first = self.space.roots.iter().position(|other| Arc::ptr_eq(own, other))?;
                (Some(first) != *root).then(|| self.names.get(first).cloned())?
            })
            .collect()
    }
}

/// Plans the queries that were lowered.
pub(crate) async fn plan(
    queries: &[Query],
    priced: Priced,
    session: &AsapSession,
    args: &SessionArgs,
) -> Result<Planned, CliError> {
    let planned = catch_panic(plan_some(queries, Query::root, priced, session, args)).await;
    planned.map_err(|panic| CliError::Planning(panic.to_string()))?
}

/// [`plan`] by the prices that decide, and no query planned if that fails: each is then answered by its text, and the plan
/// says why.
pub(crate) async fn plan_or_none(
    queries: &[Query],
    session: &AsapSession,
    args: &SessionArgs,
) -> Result<Planned, CliError> {
    match plan(queries, Priced::Compared, session, args).await {
        Ok(planned) => Ok(planned),
        Err(error) => {
            let planned = plan_some(queries, no_root, Priced::Compared, session, args).await?;
            Ok(Planned { failed: Some(error.to_string()), ..planned })
        }
    }
}

fn no_root(_: &Query) -> Option<&Arc<QueryExpr>> {
    None
}

async fn plan_some(
    queries: &[Query],
    root: fn(&Query) -> Option<&Arc<QueryExpr>>,
    priced: Priced,
    session: &AsapSession,
    args: &SessionArgs,
) -> Result<Planned, CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::Planning(error.to_string());
    let chosen: Vec<(&Query, &Arc<QueryExpr>)> =
        queries.iter().filter_map(|query| Some((query, root(query)?))).collect();
    let roots: Vec<Arc<QueryExpr>> = chosen.iter().map(|(_, root)| Arc::clone(root)).collect();
    let names: Vec<String> = chosen.iter().map(|(query, _)| query.name.clone()).collect();
    let name_refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = search_workload(&roots).map_err(|error| failed(&error))?;
    let before =
        PostAsapDag::from_queries(name_refs.iter().copied().zip(&space.roots)).map_err(|error| failed(&error))?;
    let costs = PlannedCost::of(&space, priced, session).await;
    let selection = select(&space, &name_refs, &costs, args.float.into()).map_err(|error| failed(&error))?;
    let mut positions = 0..;
    let positions = queries.iter().map(|query| root(query).and_then(|_| positions.next())).collect();
    Ok(Planned { before, space, selection, names, roots: positions, failed: None })
}
