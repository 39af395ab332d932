//! `x IN (…)` twice in one expression, in words that DataFusion does not merge.
//!
//! DataFusion 54.1 simplifies `x NOT IN (1) OR x NOT IN (2)` to `x NOT IN ()`, which is TRUE also where `x` is NULL, and
//! `x IN (1) AND x IN (2)` to FALSE, which a NOT above turns into TRUE, and `x IN (2) AND x NOT IN (1, NULL)` to `x IN (2)`
//! (defect 14 of the oracle). It does so after it has made lists of `x = 1 OR x = 2`, and also of expressions that it has
//! moved together from several nodes of the plan.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit, when};

/// A predicate whose rows with FALSE and with unknown go alike. A conjunct in which lists of one value could be merged for
/// the worse is guarded; conjuncts of lists without NULL can only be merged to what drops the same rows.
pub(crate) fn guard_conjuncts(predicate: Expr, schema: &DFSchema) -> Result<Expr, DataFusionError> {
    let conjuncts = split_conjunction_owned(split_items(predicate)?).into_iter();
    let guarded = conjuncts.map(|conjunct| match has_plural(&conjunct)? && tells_unknown(&conjunct)? {
        true => guard(conjunct, schema),
        false => Ok(conjunct),
    });
    let guarded = guarded.collect::<Result<Vec<_>, DataFusionError>>()?;
    conjunction(guarded).ok_or_else(|| DataFusionError::Internal("a predicate has no conjunct".to_owned()))
}

/// A value, of which all rows count. Filters above it may take it apart, so one list is enough to guard a condition.
pub(crate) fn guard_value(value: Expr, schema: &DFSchema) -> Result<Expr, DataFusionError> {
    let value = split_items(value)?;
    let is_condition = match &value {
        Expr::InList(_) | Expr::Not(_) => true,
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Operator::And | Operator::Or),
        _ => false,
    };
    if is_condition || has_plural(&value)? { guard(value, schema) } else { Ok(value) }
}

/// Takes what is, or may fold to, NULL out of lists:
///
/// ```text
/// x IN (1, y, NULL)      =>  x IN (1) OR x = y OR NULL
/// x NOT IN (1, y, NULL)  =>  x NOT IN (1) AND x <> y AND NULL
/// ```
fn split_items(expr: Expr) -> Result<Expr, DataFusionError> {
    #[cfg(feature = "faults")]
    let verbatim = expr.clone();
    let split = expr.transform_up(|part| {
        Ok(match part {
            Expr::InList(list) if !list.list.iter().all(is_known) && !list.expr.is_volatile() => {
                Transformed::yes(without_unknown_items(list))
            }
            other => Transformed::no(other),
        })
    })?;
    let split = split.data;
    #[cfg(feature = "faults")]
    let split = asap_faults::inject(asap_faults::Fault::UnknownItemsListed, split, |_| verbatim);
    Ok(split)
}

fn without_unknown_items(InList { expr, list, negated }: InList) -> Expr {
    let (known, unknown): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(is_known);
    let known = (!known.is_empty()).then(|| Expr::InList(InList::new(expr.clone(), known, negated)));
    let compared = unknown.into_iter().map(|item| match item {
        Expr::Literal(..) => lit(ScalarValue::Boolean(None)),
        item if negated => (*expr).clone().not_eq(item),
        item => (*expr).clone().eq(item),
    });
    let all = known.into_iter().chain(compared);
    let joined = if negated { all.reduce(Expr::and) } else { all.reduce(Expr::or) };
    joined.unwrap_or_else(|| lit(negated))
}

/// A constant other than NULL.
fn is_known(item: &Expr) -> bool {
    matches!(item, Expr::Literal(value, _) if !value.is_null())
}

/// Guards each test of a nullable value against a list, and against single values where these may become lists:
///
/// ```text
/// x IN (a, b)  =>  CASE WHEN x IS NOT NULL THEN x IN (a, b) END
/// ```
fn guard(expr: Expr, schema: &DFSchema) -> Result<Expr, DataFusionError> {
    #[cfg(feature = "faults")]
    let verbatim = expr.clone();
    let (lists, equalities) = (count(&expr, is_list)?, count(&expr, |part| equality(part).is_some())?);
    let with_equalities = equalities > 3 || lists > 0 && equalities > 1;
    let guarded = expr.transform_up(|part| {
        let tested = match &part {
            Expr::InList(list) => Some(&*list.expr),
            part if with_equalities => equality(part),
            _ => None,
        };
        let tested = tested.filter(|tested| !tested.is_volatile() && tested.nullable(schema).unwrap_or(true)).cloned();
        Ok(match tested {
            Some(tested) => Transformed::yes(when(tested.is_not_null(), part).end()?),
            None => Transformed::no(part),
        })
    })?;
    let guarded = guarded.data;
    #[cfg(feature = "faults")]
    let guarded = asap_faults::inject(asap_faults::Fault::ListsMerged, guarded, |_| verbatim);
    Ok(guarded)
}

/// May there be two lists?
fn has_plural(expr: &Expr) -> Result<bool, DataFusionError> {
    let (lists, equalities) = (count(expr, is_list)?, count(expr, |part| equality(part).is_some())?);
    Ok(lists > 1 || lists == 1 && equalities > 1 || equalities > 3)
}

/// Is there anything but AND, OR and tests that drop what is unknown?
fn tells_unknown(expr: &Expr) -> Result<bool, DataFusionError> {
    let is_positive = |part: &Expr| match part {
        Expr::InList(InList { negated, .. }) => !negated,
        Expr::BinaryExpr(BinaryExpr { op, .. }) => *op != Operator::NotEq,
        Expr::Column(_) | Expr::Literal(..) | Expr::Cast(_) | Expr::TryCast(_) | Expr::Between(_) | Expr::Like(_) => {
            true
        }
        _ => false,
    };
    Ok(count(expr, |part| !is_positive(part))? > 0)
}

fn is_list(expr: &Expr) -> bool {
    matches!(expr, Expr::InList(_))
}

/// The `x` of `x = 1`, `1 = x` and their negations.
fn equality(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq | Operator::NotEq, right }) => {
            Some(if matches!(**left, Expr::Literal(..)) { right } else { left })
        }
        _ => None,
    }
}

fn count(expr: &Expr, counts: impl Fn(&Expr) -> bool) -> Result<usize, DataFusionError> {
    let mut found = 0;
    expr.apply(|part| {
        found += usize::from(counts(part));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
