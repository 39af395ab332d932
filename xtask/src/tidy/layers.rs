//! The layer invariants of `ARCHITECTURE.md`: what a crate must not depend on.

use super::graph::DependencyGraph;
use super::{Member, Violation};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Only what the crate's own manifest names.
    Direct,
    /// Also through others.
    Transitive,
}

/// `member` must not depend on a package that matches one of `forbidden` (a trailing `*` stands for any ending), save
/// `except`.
struct Layer {
    member: &'static str,
    reach: Reach,
    forbidden: &'static [&'static str],
    except: &'static [&'static str],
}

const fn layer(member: &'static str, reach: Reach, forbidden: &'static [&'static str]) -> Layer {
    Layer { member, reach, forbidden, except: &[] }
}

/// As every feature is off but the default ones, `asap-faults` is nowhere.
const LAYERS: &[Layer] = &[
    layer("asap-faults", Reach::Transitive, &["*"]),
    layer("asap-types", Reach::Transitive, &["asap*", "lance*", "datafusion*", "tokio*", "async-*", "futures*"]),
    layer("asap-frontend-sql", Reach::Transitive, &["lance*", "asap-oracle", "asap-faults"]),
    layer("asap-frontend-sql", Reach::Direct, &["datafusion", "datafusion-physical-*", "tokio"]),
    Layer {
        member: "asap-aware-mapping",
        reach: Reach::Transitive,
        forbidden: &["asap*", "lance*", "datafusion*", "tokio*"],
        except: &["asap-types"],
    },
    layer("asap-execution", Reach::Transitive, &["lance*", "asap-oracle", "asap-faults"]),
    layer("lance-pushdown", Reach::Transitive, &["asap*"]),
    layer("asap", Reach::Transitive, &["asap-oracle", "asap-faults"]),
    layer("asap-oracle", Reach::Transitive, &["asap", "asap-faults", "xtask"]),
    layer("xtask", Reach::Transitive, &["asap*", "lance*", "datafusion*"]),
];

pub(super) fn check(graph: &DependencyGraph, members: &[Member]) -> Vec<Violation> {
    let mut violations: Vec<Violation> = LAYERS.iter().flat_map(|layer| check_layer(graph, layer)).collect();
    for member in members {
        if !LAYERS.iter().any(|layer| layer.member == member.name) {
            let message = "no layer invariant is stated for this crate; add one to xtask/src/tidy/layers.rs";
            violations.push(Violation::new(&member.folder, message));
        }
    }
    violations
}

fn check_layer(graph: &DependencyGraph, layer: &Layer) -> Vec<Violation> {
    let is_forbidden = |package: &str| {
        !layer.except.contains(&package) && layer.forbidden.iter().any(|pattern| matches(pattern, package))
    };
    graph
        .ways_from(layer.member)
        .into_iter()
        .filter(|(_, way)| layer.reach == Reach::Transitive || way.len() == 2)
        // One violation is enough for all that is reached through a forbidden package.
        .filter(|(package, way)| {
            is_forbidden(package) && !way.iter().rev().skip(1).any(|step| is_inside(layer, step, &is_forbidden))
        })
        .map(|(package, way)| {
            Violation::new(layer.member, format!("must not depend on {package}: {}", way.join(" -> ")))
        })
        .collect()
}

/// Whether a step on the way, other than the crate itself, is reported already.
fn is_inside(layer: &Layer, step: &str, is_forbidden: &impl Fn(&str) -> bool) -> bool {
    step != layer.member && is_forbidden(step)
}

fn matches(pattern: &str, package: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => package.starts_with(start),
        None => pattern == package,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(edges: &[(&str, &str)]) -> Vec<String> {
        let mut graph = DependencyGraph::default();
        for (from, to) in edges {
            graph.add(from, to);
        }
        check(&graph, &[]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_designed_layers_hold() {
        let edges = [
            ("asap-types", "arrow-schema"),
            ("asap-frontend-sql", "asap-types"),
            ("asap-frontend-sql", "datafusion-sql"),
            ("datafusion-functions", "datafusion-physical-expr"),
            ("asap-frontend-sql", "datafusion-functions"),
            ("asap-aware-mapping", "asap-types"),
            ("asap-execution", "datafusion"),
            ("lance-pushdown", "lance"),
            ("asap-oracle", "lance-pushdown"),
            ("asap", "lance-pushdown"),
        ];
        assert_eq!(messages(&edges), Vec::<String>::new());
    }

    #[test]
    fn each_broken_layer_is_named_with_its_way() {
        for (edges, expected) in [
            (
                vec![("asap-types", "helper"), ("helper", "tokio")],
                "asap-types: must not depend on tokio: asap-types -> helper -> tokio",
            ),
            (vec![("asap-types", "lance-core")], "asap-types: must not depend on lance-core: asap-types -> lance-core"),
            (
                vec![("asap-frontend-sql", "datafusion")],
                "asap-frontend-sql: must not depend on datafusion: asap-frontend-sql -> datafusion",
            ),
            (
                vec![("asap-aware-mapping", "asap-frontend-sql"), ("asap-frontend-sql", "asap-types")],
                "asap-aware-mapping: must not depend on asap-frontend-sql: asap-aware-mapping -> asap-frontend-sql",
            ),
            (
                vec![("asap-execution", "lance-pushdown"), ("lance-pushdown", "lance")],
                "asap-execution: must not depend on lance-pushdown: asap-execution -> lance-pushdown",
            ),
            (
                vec![("lance-pushdown", "asap-types")],
                "lance-pushdown: must not depend on asap-types: lance-pushdown -> asap-types",
            ),
            (
                vec![("asap-execution", "asap-faults")],
                "asap-execution: must not depend on asap-faults: asap-execution -> asap-faults",
            ),
            (vec![("asap", "asap-oracle")], "asap: must not depend on asap-oracle: asap -> asap-oracle"),
            (vec![("xtask", "datafusion-sql")], "xtask: must not depend on datafusion-sql: xtask -> datafusion-sql"),
        ] {
            assert_eq!(messages(&edges), [expected]);
        }
    }

    #[test]
    fn a_crate_without_an_invariant_is_a_violation() {
        let new = Member { name: "asap-new".to_owned(), folder: "new".to_owned() };
        assert_eq!(check(&DependencyGraph::default(), &[new]).len(), 1);
    }
}
