//! Scalar functions: known by name, with the facts of the call.

use asap_types::{ColumnRef, Expr as IrExpr, FunctionFacts, Volatility};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::{Expr, ExprSchemable};

use super::Lowering;
use super::scope::Scope;
use crate::FrontendError;

/// The functions that raise no error, whatever the values of their arguments. Every other function is taken to be able
/// to fail: parsing, overflow, a bad pattern, an unknown part of a date.
const CANNOT_FAIL: [&str; 14] = [
    "ascii",
    "bit_length",
    "btrim",
    "character_length",
    "coalesce",
    "contains",
    "ends_with",
    "isnan",
    "lower",
    "nullif",
    "octet_length",
    "starts_with",
    "strpos",
    "upper",
];

impl Lowering<'_> {
    pub(super) fn function(
        &self,
        call: &ScalarFunction,
        whole: &Expr,
        scope: Scope<'_>,
    ) -> Result<IrExpr<ColumnRef>, FrontendError> {
        let (_, field) = self.planned(whole.to_field(scope.planned))?;
        let name = call.func.name().to_owned();
        let facts = FunctionFacts {
            data_type: field.data_type().clone(),
            nullable: field.is_nullable(),
            volatility: volatility(call.func.signature().volatility),
            can_fail: !CANNOT_FAIL.contains(&name.as_str()),
        };
        let args = call.args.iter().map(|arg| self.expr(arg, scope)).collect::<Result<_, _>>()?;
        Ok(IrExpr::Function { name, args, facts })
    }
}

fn volatility(volatility: datafusion_expr::Volatility) -> Volatility {
    match volatility {
        datafusion_expr::Volatility::Immutable => Volatility::Immutable,
        datafusion_expr::Volatility::Stable => Volatility::Stable,
        datafusion_expr::Volatility::Volatile => Volatility::Volatile,
    }
}
