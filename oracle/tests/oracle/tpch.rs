//! The demo's data has what it promises.

use std::cell::RefCell;
use std::path::Path;

use asap_oracle::OracleError;
use asap_oracle::tpch::{LineitemOptions, LineitemProgress, write_lineitem};
use lance::Dataset;
use lance::index::DatasetIndexExt;
use rstest::rstest;
use tpchgen::generators::LineItemGenerator;

const SMALL: LineitemOptions = LineitemOptions { scale: 0.001, indexed_parts: 8 };

async fn open(path: &Path) -> Dataset {
    Dataset::open(path.to_str().unwrap()).await.unwrap()
}

fn entries(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn lineitem_has_indexes_deletions_nulls_and_an_uncovered_fragment() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("lineitem.lance");
    let lines = RefCell::new(Vec::new());
    let summary = write_lineitem(&target, &SMALL, |step| lines.borrow_mut().push(step.to_string())).await.unwrap();
    assert_eq!((summary.fragments, summary.unindexed_fragments, summary.fragments_with_deletions), (9, 1, 2));
    assert!(summary.deleted_rows > 0, "{summary}");
    assert_eq!(lines.borrow().len(), 9 + 3 + 2);
    assert_eq!(entries(directory.path()), 1, "only the dataset is left");

    let generated = LineItemGenerator::new(SMALL.scale, 1, 1).iter().count() as u64;
    assert_eq!(summary.rows + summary.deleted_rows, generated);
    let dataset = open(&target).await;
    assert_eq!(dataset.count_rows(None).await.unwrap() as u64, summary.rows);
    for field in &dataset.schema().fields {
        let nulls = dataset.count_rows(Some(format!("{} IS NULL", field.name))).await.unwrap();
        let promised = ["l_tax", "l_commitdate", "l_shipmode", "l_comment"].contains(&field.name.as_str());
        assert_eq!((field.nullable, nulls > 0), (promised, promised), "{}", field.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_index_covers_all_fragments_but_the_last() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("lineitem.lance");
    write_lineitem(&target, &SMALL, |_| ()).await.unwrap();
    let dataset = open(&target).await;
    let mut columns = Vec::new();
    for index in dataset.load_indices().await.unwrap().iter() {
        let covered: Vec<u32> = index.fragment_bitmap.as_ref().unwrap().iter().collect();
        assert_eq!(covered, (0..8).collect::<Vec<_>>(), "{}", index.name);
        columns.push(dataset.schema().field_by_id(index.fields[0]).unwrap().name.clone());
    }
    columns.sort();
    assert_eq!(columns, ["l_linestatus", "l_returnflag", "l_shipmode"]);
    let with_deletions = dataset.fragments().iter().filter(|fragment| fragment.deletion_file.is_some());
    assert_eq!(with_deletions.map(|fragment| fragment.id).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_options_give_the_same_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let summary = write_lineitem(&first, &SMALL, |_| ()).await.unwrap();
    assert_eq!(write_lineitem(&second, &SMALL, |_| ()).await.unwrap(), summary);
    let rows = async |path: &Path| open(path).await.scan().try_into_batch().await.unwrap();
    assert_eq!(rows(&first).await, rows(&second).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_the_target_stays() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("lineitem.lance");
    let file = target.join("mine.txt");
    let come_between = |step: &LineitemProgress| {
        if matches!(step, LineitemProgress::Index { .. }) {
            std::fs::create_dir_all(&target).unwrap();
            std::fs::write(&file, "mine").unwrap();
        }
    };
    let late = write_lineitem(&target, &SMALL, come_between).await;
    assert!(matches!(late, Err(OracleError::Io { .. })), "{late:?}");
    assert_eq!((entries(directory.path()), entries(&target)), (1, 1), "nothing unfinished is left");

    let early = write_lineitem(&target, &SMALL, |_| ()).await;
    assert!(matches!(early, Err(OracleError::TargetExists(_))), "{early:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leads_nowhere_and_a_name_that_is_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;

    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let error = write_lineitem(&link, &SMALL, |_| ()).await.unwrap_err();
    assert!(matches!(error, OracleError::TargetExists(_)), "{error}");

    let odd = directory.path().join(std::ffi::OsStr::from_bytes(b"odd\xff")).join("lineitem.lance");
    let error = write_lineitem(&odd, &SMALL, |_| ()).await.unwrap_err();
    assert!(matches!(error, OracleError::NotUtf8(_)), "{error}");
    assert_eq!(entries(directory.path()), 1, "only the link is left");
}

#[rstest]
#[case::nothing(0.0, 8)]
#[case::negative(-1.0, 8)]
#[case::not_a_number(f64::NAN, 8)]
#[case::infinite(f64::INFINITY, 8)]
#[case::no_supplier(0.000_02, 8)]
#[case::one_supplier(0.000_1, 8)]
#[case::overflow(1e300, 8)]
#[case::fewer_parts_than_deletions(0.1, 3)]
#[case::more_parts_than_orders(0.001, i32::MAX)]
#[tokio::test]
async fn options_that_cannot_keep_the_promise_are_refused(#[case] scale: f64, #[case] indexed_parts: i32) {
    let directory = tempfile::tempdir().unwrap();
    let options = LineitemOptions { scale, indexed_parts };
    let error = write_lineitem(&directory.path().join("x"), &options, |_| ()).await.unwrap_err();
    assert!(matches!(error, OracleError::Options(_)), "{error}");
    assert_eq!(entries(directory.path()), 0);
}
