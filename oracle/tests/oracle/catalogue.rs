//! The catalogue of coverage points is whole, and what it names is there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use asap_aware_mapping::Refusal as RollUpRefusal;
use asap_frontend_sql::{FrontendError, TableCatalog, TableSchema, lower_workload};
use asap_oracle::fuzz::{Point, Proof, catalogue};
use asap_oracle::generate::case;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use lance_pushdown::{PushdownOptions, Refusal, ScanReason, Undecided};
use rstest::rstest;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn of_group(group: &str) -> BTreeSet<String> {
    catalogue().filter(|known| known.point.group == group).map(|known| known.point.name).collect()
}

#[test]
fn each_point_stands_once() {
    let points: Vec<Point> = catalogue().map(|known| known.point).collect();
    for (position, point) in points.iter().enumerate() {
        assert!(!points[..position].contains(point), "{point}");
    }
}

#[test]
fn reasons_are_those_of_the_crates() {
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(of_group("pushdown refusal"), names(Refusal::ALL.iter().map(|reason| reason.name()).collect()));
    assert_eq!(of_group("scan reason"), names(ScanReason::ALL.iter().map(|reason| reason.name()).collect()));
    assert_eq!(of_group("undecided"), names(Undecided::ALL.iter().map(|reason| reason.name()).collect()));
    assert_eq!(of_group("roll-up refusal"), names(RollUpRefusal::ALL.iter().map(|reason| reason.name()).collect()));
    assert_eq!(of_group("front end refusal"), features());
    let entries = datafusion::common::config::ExtensionOptions::entries(&PushdownOptions::default());
    let switches = entries.iter().filter_map(|entry| entry.key.rsplit('.').next()).collect();
    assert_eq!(of_group("switched off"), names(switches));
}

/// `Feature` lists no values of its own: what `Feature::name` matches.
fn features() -> BTreeSet<String> {
    let source = std::fs::read_to_string(root().join("frontend-sql/src/feature.rs")).unwrap();
    let (_, body) = source.split_once("pub fn name(&self)").unwrap();
    let (body, _) = body.split_once("pub fn hint").unwrap();
    let names = body.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split('"').nth(1));
    names.map(str::to_owned).collect()
}

/// As `cargo xtask tidy` checks the tests that docs/seeds.md names.
#[test]
fn tests_that_prove_points_exist() {
    let mut tests = 0;
    for known in catalogue() {
        if let Proof::Constructed { test } = known.proof {
            let (file, name) = test.split_once("::").unwrap();
            let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(source.contains(&format!("fn {name}(")), "{}: {test} does not exist", known.point);
            tests += 1;
        }
    }
    assert!(tests > 0);
}

/// Drawn only: what running cases reach is checked where they run.
#[test]
fn what_recipes_show_is_in_the_catalogue() {
    let known: BTreeSet<Point> = catalogue().map(|known| known.point).collect();
    for index in 0..300 {
        for point in asap_oracle::fuzz::static_points(&case(1, index).recipe) {
            assert!(known.contains(&point), "{point}");
        }
    }
}

/// What the front end refuses and no query of the generator holds.
#[rstest]
#[case("SELECT count(*) FROM LATERAL (SELECT a FROM t) AS s", "lateral")]
#[case("SELECT count(*) FROM t PIVOT (sum(a) FOR b IN (1, 2))", "table-factor")]
#[case("SELECT a FROM t LIMIT 1 + 1", "limit-expression")]
#[case("SELECT a FROM t DISTRIBUTE BY a", "relation")]
fn refused_by_the_front_end(#[case] sql: &str, #[case] feature: &str) {
    let field = |name| Field::new(name, DataType::Int64, true);
    let mut catalog = TableCatalog::new();
    catalog.insert("t", TableSchema::new(Arc::new(Schema::new(vec![field("a"), field("b")]))));
    let error = match lower_workload(sql, &catalog) {
        Ok(mut statements) => statements.remove(0).query.unwrap_err(),
        Err(error) => error,
    };
    assert!(
        matches!(&error, FrontendError::Unsupported { feature: found, .. } if found.name() == feature),
        "{error:?}"
    );
}
