//! The dashboard of the demo: every tile lowers, or is refused with a typed reason.

use asap_frontend_sql::{FrontendError, lower_workload};
use asap_types::canonicalize;

use crate::{assert_snapshot, catalog, tree};

#[test]
fn every_tile_lowers() {
    let path = "examples/dashboards/lineitem.sql";
    let text = std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let workload = lower_workload(&text, &catalog()).unwrap();
    assert!(workload.len() >= 30, "{} tiles", workload.len());
    let mut out = String::new();
    for tile in &workload {
        match &tile.query {
            Ok(query) => out += &tree(&canonicalize(query).unwrap()),
            Err(FrontendError::Unsupported { feature, .. }) => out += &format!("refused: {feature}\n"),
            Err(error) => unreachable!("{}: {error}", tile.statement.sql()),
        }
    }
    assert_snapshot(path, &out);
}
