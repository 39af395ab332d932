//! Which package depends on which, as far as shipped code goes.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, PackageId};

/// Normal and build dependencies by package name, with the workspace's features unified. Dependencies of tests and
/// benches are not in it.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    direct: BTreeMap<String, BTreeSet<String>>,
}

impl DependencyGraph {
    pub(super) fn of_shipped_code(metadata: &Metadata) -> Self {
        let names: BTreeMap<&PackageId, String> =
            metadata.packages.iter().map(|package| (&package.id, package.name.to_string())).collect();
        let mut graph = Self::default();
        for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
            let Some(from) = names.get(&node.id) else {
                continue;
            };
            for dependency in &node.deps {
                let is_shipped = dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development);
                if let (true, Some(to)) = (is_shipped, names.get(&dependency.pkg)) {
                    graph.add(from, to);
                }
            }
        }
        graph
    }

    pub(super) fn add(&mut self, from: &str, to: &str) {
        self.direct.entry(from.to_owned()).or_default().insert(to.to_owned());
    }

    /// The way to each package that `from` reaches: its own dependencies first, then theirs. Shortest ways.
    pub(super) fn ways_from(&self, from: &str) -> BTreeMap<String, Vec<String>> {
        let mut ways = BTreeMap::from([(from.to_owned(), vec![from.to_owned()])]);
        let mut frontier = vec![from.to_owned()];
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for package in &frontier {
                let way = ways.get(package).cloned().unwrap_or_default();
                for dependency in self.direct.get(package).into_iter().flatten() {
                    if !ways.contains_key(dependency) {
                        let longer = way.iter().chain([dependency]).cloned().collect();
                        ways.insert(dependency.clone(), longer);
                        next.push(dependency.clone());
                    }
                }
            }
            frontier = next;
        }
        ways.remove(from);
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_shortest_and_survive_cycles() {
        let mut graph = DependencyGraph::default();
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("c", "d")] {
            graph.add(from, to);
        }
        let ways = graph.ways_from("a");
        let shown: Vec<String> = ways.values().map(|way| way.join(" -> ")).collect();
        assert_eq!(shown, ["a -> b", "a -> c", "a -> c -> d"]);
    }
}
