use std::fmt::Write;

use super::label::node_label;
use crate::{NodeId, PostAsapDag, PostOperator};

/// A text form of a DAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// One indented tree per result; a shared node is printed once and referred to by its number after that.
    Tree,
    /// Graphviz DOT; arrows follow the data, from producer to reader.
    Dot,
    /// A Mermaid flowchart; arrows follow the data, from producer to reader.
    Mermaid,
}

impl PostAsapDag {
    /// The DAG as text.
    #[must_use]
    pub fn render(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Tree => self.render_tree(),
            GraphFormat::Dot => self.render_dot(),
            GraphFormat::Mermaid => self.render_mermaid(),
        }
    }

    fn render_tree(&self) -> String {
        let readers = self.reader_counts();
        let mut printed = vec![false; self.nodes().len()];
        let mut out = String::new();
        for root in self.roots() {
            let _ = writeln!(out, "{}", root.name);
            let (mut next, mut depth) = (Some(root.node), 1);
            while let Some(id) = next {
                let indent = "  ".repeat(depth);
                let shared = readers.get(id.0).is_some_and(|&count| count > 1);
                if shared && printed.get(id.0).copied().unwrap_or(false) {
                    let _ = writeln!(out, "{indent}n{} (see above)", id.0);
                    break;
                }
                let mark = if shared { format!("n{} = ", id.0) } else { String::new() };
                let _ = writeln!(out, "{indent}{mark}{}", node_label(self, id));
                if let Some(printed) = printed.get_mut(id.0) {
                    *printed = true;
                }
                next = self.node(id).and_then(PostOperator::input);
                depth += 1;
            }
        }
        out
    }

    fn render_dot(&self) -> String {
        let mut out = String::from("digraph workload {\n  rankdir=LR;\n  node [shape=box];\n");
        for id in self.ids() {
            let _ = writeln!(out, "  n{} [label=\"{}\"];", id.0, escape_dot(&node_label(self, id)));
        }
        for (index, root) in self.roots().iter().enumerate() {
            let _ = writeln!(out, "  q{index} [shape=ellipse, label=\"{}\"];", escape_dot(&root.name));
        }
        self.edges(|from, to| {
            let _ = writeln!(out, "  n{from} -> {to};");
        });
        out.push_str("}\n");
        out
    }

    fn render_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for id in self.ids() {
            let _ = writeln!(out, "  n{}[\"{}\"]", id.0, escape_mermaid(&node_label(self, id)));
        }
        for (index, root) in self.roots().iter().enumerate() {
            let _ = writeln!(out, "  q{index}([\"{}\"])", escape_mermaid(&root.name));
        }
        self.edges(|from, to| {
            let _ = writeln!(out, "  n{from} --> {to}");
        });
        out
    }

    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes().len()).map(NodeId)
    }

    /// Calls `edge` with the producer's number and the reader's name for every edge.
    fn edges(&self, mut edge: impl FnMut(usize, String)) {
        for id in self.ids() {
            if let Some(input) = self.node(id).and_then(PostOperator::input) {
                edge(input.0, format!("n{}", id.0));
            }
        }
        for (index, root) in self.roots().iter().enumerate() {
            edge(root.node.0, format!("q{index}"));
        }
    }
}

fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Mermaid reads HTML entities inside quoted labels.
fn escape_mermaid(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('\n', " ")
}
