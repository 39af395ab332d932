//! What the comparison of a plan's answer with the model's says.

use std::fmt::{self, Display, Formatter};

use datafusion::prelude::SessionContext;

use crate::answer::Difference;
use crate::dataset::sql_answer;
use crate::defects::{Defect, recognize};
use crate::model::{ModelError, Table};
use crate::query::Query;
use crate::{OracleError, Result};

/// How a plan's answer stands to the model's.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Equal.
    Equal,
    /// Neither has an answer.
    BothFail {
        /// Why the model has none.
        model: ModelError,
        /// Why the plan has none.
        plan: OracleError,
    },
    /// The plan's answer is wrong, and a numbered defect of the libraries is why.
    Defect(Defect),
    /// Different: the model's answer is on the left.
    Different(Difference),
    /// Only the plan has an answer.
    ModelFails(ModelError),
    /// Only the model has one.
    PlanFails(OracleError),
}

impl Verdict {
    /// Is it a failure of the case?
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Equal | Self::BothFail { .. } | Self::Defect(_))
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::BothFail { model, plan } => write!(f, "both fail: the model with {model}, the plan with {plan}"),
            Self::Defect(defect) => write!(f, "upstream defect {}", defect.number()),
            Self::Different(difference) => write!(f, "different (left: model, right: plan): {difference}"),
            Self::ModelFails(error) => write!(f, "only the model fails: {error}"),
            Self::PlanFails(error) => write!(f, "only the plan fails: {error}"),
        }
    }
}

/// Compares `ctx.sql` of the query's text in a stock session with the model.
///
/// # Errors
/// DataFusion cannot show its optimized plan for a query that it has just answered.
pub async fn judge_plain(table: &Table, session: &SessionContext, query: &Query) -> Result<Verdict> {
    let (model, plain) = match (table.answer(query), sql_answer(session, query).await) {
        (Ok(model), Ok(plain)) => (model, plain),
        (Err(model), Err(plan)) => return Ok(Verdict::BothFail { model, plan }),
        (Err(model), Ok(_)) => return Ok(Verdict::ModelFails(model)),
        (Ok(_), Err(plan)) => return Ok(Verdict::PlanFails(plan)),
    };
    let Some(difference) = model.difference(&plain) else { return Ok(Verdict::Equal) };
    let optimized = session.sql(&query.to_string()).await?.into_optimized_plan()?;
    Ok(recognize(query, &optimized, &difference).map_or(Verdict::Different(difference), Verdict::Defect))
}
