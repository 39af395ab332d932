//! What can be wrong with a plan.

use arrow_schema::DataType;
use thiserror::Error;

use crate::{ColumnRef, Schema};

/// Errors of building, resolving and reading plans.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TypesError {
    /// A name matches no column.
    #[error("column '{column}' not found; available columns: {}", candidates.join(", "))]
    ColumnNotFound {
        /// The name that was looked up.
        column: ColumnRef,
        /// The columns in scope.
        candidates: Vec<String>,
    },
    /// A name matches several columns.
    #[error("column '{column}' is ambiguous; it could be any of: {}", candidates.join(", "))]
    AmbiguousColumn {
        /// The name that was looked up.
        column: ColumnRef,
        /// The columns that match.
        candidates: Vec<String>,
    },
    /// A positional reference is past the end of its input.
    #[error("column #{column} is out of range: the input has {columns} columns")]
    ColumnOutOfRange {
        /// The zero-based position.
        column: usize,
        /// The number of columns of the input.
        columns: usize,
    },
    /// The filters of an aggregate are not parallel to its measures.
    #[error("an aggregate with {measures} measures has {filters} filters; give one entry per measure, or none at all")]
    FilterCount {
        /// The number of measures.
        measures: usize,
        /// The number of filter entries.
        filters: usize,
    },
    /// The output names of an aggregate do not fit its outputs.
    #[error("an aggregate with {columns} output columns has {names} output names")]
    OutputNameCount {
        /// The number of keys and measures.
        columns: usize,
        /// The number of names.
        names: usize,
    },
    /// A predicate is not Boolean.
    #[error("a predicate has type {data_type}; it must be Boolean")]
    PredicateNotBoolean {
        /// The expression's type.
        data_type: DataType,
    },
    /// A function does not take an argument type.
    #[error("{function} does not accept {data_type}")]
    ArgumentType {
        /// The function or operator.
        function: String,
        /// The argument's type.
        data_type: DataType,
    },
    /// Operands that must have one type differ.
    #[error("{operator} has operands of different types, {left} and {right}; insert a cast")]
    OperandTypes {
        /// The operator.
        operator: &'static str,
        /// The left operand's type.
        left: DataType,
        /// The right operand's type.
        right: DataType,
    },
    /// A CASE without branches.
    #[error("CASE needs at least one WHEN branch")]
    EmptyCase,
    /// A replacement does not have the schema of what it replaces.
    #[error("the replacement's schema {found} differs from {expected}")]
    SchemaMismatch {
        /// The schema of what is replaced.
        expected: Schema,
        /// The schema of the replacement.
        found: Schema,
    },
    /// A node is read before it is built: a defect of whoever orders the nodes.
    #[error("{0} is missing")]
    MissingNode(&'static str),
    /// A node of a DAG refers to itself or to a later node.
    #[error("node {node} refers to node {input}; a node may refer only to earlier nodes")]
    NodeOrder {
        /// The referring node.
        node: usize,
        /// The node that is referred to.
        input: usize,
    },
    /// An estimate reads something that is not a summary, or a summary is read as rows.
    #[error("node {node}: {problem}")]
    SummaryKind {
        /// The node.
        node: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A serialized DAG was written by a newer version.
    #[error("this DAG has wire version {found}; versions {oldest} to {newest} are understood: update asap")]
    WireVersion {
        /// The version in the document.
        found: u32,
        /// The oldest version that is read.
        oldest: u32,
        /// The newest version that is read.
        newest: u32,
    },
    /// A serialized DAG holds a predicate of a measure, which its version does not have.
    #[error("node {node} filters a measure, which wire version {version} cannot say")]
    FilterBeforeVersion {
        /// The node.
        node: usize,
        /// The version in the document.
        version: u32,
    },
    /// A serialized DAG is not valid.
    #[error("invalid serialized DAG: {0}")]
    Wire(String),
}
