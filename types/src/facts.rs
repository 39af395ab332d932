//! What a front end records about functions that the IR knows only by name. The IR never guesses these.

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// How often a function may be evaluated without changing a query's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Volatility {
    /// The same arguments give the same value for ever.
    Immutable,
    /// The same arguments give the same value within one statement (`now()`).
    Stable,
    /// Each evaluation may give another value (`random()`).
    Volatile,
}

/// Facts of a scalar function call, for the argument types of that call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionFacts {
    /// The type of the result.
    pub data_type: DataType,
    /// Whether the result can be NULL.
    pub nullable: bool,
    /// How often it may be evaluated.
    pub volatility: Volatility,
    /// Whether it can raise an error for some argument values.
    pub can_fail: bool,
}

/// Facts of an aggregate function call, for the argument types of that call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregateFacts {
    /// The type of the result.
    pub data_type: DataType,
    /// Whether the result can be NULL.
    pub nullable: bool,
    /// How often it may be evaluated.
    pub volatility: Volatility,
    /// Whether it can raise an error for some argument values.
    pub can_fail: bool,
    /// Whether rows whose argument is NULL leave the result unchanged.
    pub skips_nulls: bool,
    /// Whether the order of the rows matters to the result.
    pub order_matters: bool,
}
