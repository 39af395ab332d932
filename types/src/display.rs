//! Plans for people: an indented tree, DOT and Mermaid, deterministic to the byte.

mod expr;
mod graph;
mod label;

pub use expr::ExprDisplay;
pub use graph::GraphFormat;
