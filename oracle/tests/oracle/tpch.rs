//! The demo's data has what it promises.

use asap_oracle::OracleError;
use asap_oracle::tpch::{LineitemOptions, write_lineitem};
use lance::Dataset;

const SMALL: LineitemOptions = LineitemOptions { scale: 0.002, indexed_parts: 8 };

#[tokio::test(flavor = "multi_thread")]
async fn lineitem_has_indexes_deletions_nulls_and_an_uncovered_fragment() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("lineitem.lance");
    let lines = std::cell::RefCell::new(Vec::new());
    let summary = write_lineitem(&target, &SMALL, |step| lines.borrow_mut().push(step.to_string())).await.unwrap();
    assert_eq!((summary.fragments, summary.unindexed_fragments, summary.fragments_with_deletions), (9, 1, 2));
    assert!(summary.deleted_rows > 0, "{summary}");
    assert_eq!(lines.borrow().len(), 9 + 3 + 2);

    let dataset = Dataset::open(&target.to_string_lossy()).await.unwrap();
    assert_eq!(dataset.count_rows(None).await.unwrap() as u64, summary.rows);
    for column in ["l_tax", "l_commitdate", "l_shipmode", "l_comment"] {
        assert!(dataset.count_rows(Some(format!("{column} IS NULL"))).await.unwrap() > 0, "{column}");
    }
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 1, "only the dataset is left");

    let again = write_lineitem(&target, &SMALL, |_| ()).await;
    assert!(matches!(again, Err(OracleError::TargetExists(_))), "{again:?}");
}

#[tokio::test]
async fn a_scale_without_rows_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let options = LineitemOptions { scale: 0.000_001, ..SMALL };
    let error = write_lineitem(&directory.path().join("x"), &options, |_| ()).await.unwrap_err();
    assert!(matches!(error, OracleError::Options(_)), "{error}");
}
