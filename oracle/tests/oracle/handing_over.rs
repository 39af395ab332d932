//! What a failure leaves behind can be used as it is, and old recipes are read.

use std::path::{Path, PathBuf};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use asap_oracle::fuzz::{Failure, FailureClass, RecipeSize, write_artifacts};
use asap_oracle::query::{Column, Comparison, Expr, Function, Output, Query, SortKey, Spelling};
use asap_oracle::recipe::{Assignment, Case, IndexKind, Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use asap_oracle::value::{Type, Value};
use datafusion::prelude::SessionContext;

/// A count by a text, and all rows in order, after a deletion.
fn hand_made() -> Recipe {
    let column = |name: &str, data_type| Column { name: name.to_owned(), data_type, nullable: true };
    let columns = vec![column("c0", Type::Int64), column("c1", Type::Utf8)];
    let text = |text: &str| Value::Utf8(text.to_owned());
    let rows = vec![
        vec![Value::Int64(1), text("it's")],
        vec![Value::Int64(-2), text("")],
        vec![Value::Null, text("a")],
        vec![Value::Int64(7), Value::Null],
        vec![Value::Int64(9), text("a")],
    ];
    let is_nine = Expr::compare(Comparison::Equal, Expr::column("c0"), Expr::literal(Value::Int64(9), Type::Int64));
    let index = |kind| Operation::CreateIndex { column: "c1".to_owned(), kind, name: None };
    let added = |name: &str, value| Operation::AddColumn { column: column(name, Type::Int64), value };
    let history = vec![
        Operation::Create { rows },
        index(IndexKind::Bitmap),
        Operation::Append { rows: vec![vec![Value::Int64(4), text("b")]] },
        Operation::OptimizeIndices,
        Operation::Delete { predicate: is_nine },
        Operation::Update {
            set: vec![Assignment { column: "c1".to_owned(), value: Expr::literal(text("c"), Type::Utf8) }],
            predicate: Some(Expr::IsNull { operand: Box::new(Expr::column("c1")), negated: false }),
        },
        Operation::MergeInsert { on: "c0".to_owned(), rows: vec![vec![Value::Int64(4), text("d")]] },
        added("c2", None),
        Operation::RewriteColumns {
            on: "c1".to_owned(),
            columns: vec!["c0".to_owned()],
            rows: vec![vec![text("d"), Value::Int64(6)]],
        },
        added("c3", Some(Expr::column("c0"))),
        Operation::DropColumn { column: "c2".to_owned() },
        Operation::MergeIndices,
        index(IndexKind::ZoneMap),
        Operation::DropIndex { name: "c1_zonemap".to_owned() },
        Operation::Compact { target_rows: 4, defer_index_remap: false },
    ];
    let key = Expr::column("c1");
    let sum = Expr::aggregate(Function::Sum, Expr::column("c0"), None);
    let grouped = vec![Output::new(key.clone(), "c1"), Output::new(sum, "m0")];
    let by_text = Query { group_by: Some(vec![key]), ..Query::of_table("t", grouped) };
    let all = vec![Output::new(Expr::column("c0"), "c0")];
    let sorted = SortKey { output: 0, descending: true, nulls_first: Some(false), spelling: Spelling::Usual };
    let in_order = Query { order_by: vec![sorted], limit: Some(3), ..Query::of_table("t", all) };
    let table = TableRecipe::new("t", columns, history);
    Recipe { version: RECIPE_VERSION, table, workload: vec![by_text, in_order], settings: Settings::default() }
}

/// Pretends that the recipe fails.
async fn hand_over(recipe: &Recipe) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let drawn = asap_oracle::generate::case(7, 41).recipe;
    let case = Case { seed: 7, index: 41, recipe: drawn };
    let failure = Failure { class: FailureClass::Pushdown, query: Some(0), detail: "3 is not 2".to_owned() };
    let target = write_artifacts(directory.path(), &case, recipe, &failure).await.unwrap();
    (directory, target)
}

fn read(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_artifact_is_there_and_of_use() {
    let recipe = hand_made();
    let (_directory, target) = hand_over(&recipe).await;
    assert!(target.ends_with("7/41"));
    assert_eq!(Recipe::from_json(&read(&target, "recipe.json")).unwrap(), recipe);
    let original = Recipe::from_json(&read(&target, "original.json")).unwrap();
    assert_eq!(original, asap_oracle::generate::case(7, 41).recipe);
    let description = read(&target, "failure.txt");
    for part in ["seed 7 case 41", "3 is not 2", &RecipeSize::of(&recipe).to_string(), &recipe.workload[0].to_string()]
    {
        assert!(description.contains(part), "{part} is not in {description}");
    }
    let plain = read(&target, "plain-plan.txt");
    assert!(plain.contains("AggregateExec") && !plain.contains("choices:"), "{plain}");
    let optimized = read(&target, "optimized-plan.txt");
    assert!(optimized.contains("AggregateExec") && optimized.contains("choices:\n  1: "), "{optimized}");
}

/// A recipe that makes every plan panic leaves its artifacts all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_leaves_artifacts_too() {
    let mut recipe = hand_made();
    recipe.workload[1].order_by[0].output = 99;
    let (_directory, target) = hand_over(&recipe).await;
    assert!(read(&target, "plain-plan.txt").contains("AggregateExec"));
    for name in ["optimized-plan.txt", "reproduction.rs", "failure.slt"] {
        assert!(read(&target, name).contains("ended early: task"), "{name}: {}", read(&target, name));
    }
}

/// `golden/failure.rs` is a module of this binary: so what is written compiles, and runs.
#[tokio::test(flavor = "multi_thread")]
async fn the_rust_test_is_the_one_that_is_compiled_here() {
    let golden = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/golden"));
    let (_directory, target) = hand_over(&hand_made()).await;
    for name in ["failure.rs", "recipe.json", "reproduction.rs", "failure.slt"] {
        if std::env::var_os("ORACLE_BLESS").is_some() {
            std::fs::copy(target.join(name), golden.join(name)).unwrap();
        }
        assert_eq!(read(&target, name), read(golden, name), "set ORACLE_BLESS to write {name} anew");
    }
}

/// The sqllogictest's statements, run as they stand, give its rows.
#[tokio::test]
async fn the_sqllogictest_holds() {
    let (_directory, target) = hand_over(&hand_made()).await;
    let session = SessionContext::new();
    let (mut statements, mut queries) = (0, 0);
    for record in read(&target, "failure.slt").split("\n\n").filter(|record| !record.starts_with('#')) {
        let (head, body) = record.split_once('\n').unwrap();
        if head == "statement ok" {
            session.sql(body).await.unwrap().collect().await.unwrap();
            statements += 1;
            continue;
        }
        let (sql, expected) = body.split_once("\n----\n").unwrap();
        let mut found = rows(&session, sql).await;
        if head.ends_with(" rowsort") {
            found.sort_unstable();
        }
        assert_eq!(found, expected.trim_end().lines().collect::<Vec<_>>(), "{record}");
        queries += 1;
    }
    assert_eq!((statements, queries), (3, 2));
}

/// As a sqllogictest has them.
async fn rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in session.sql(sql).await.unwrap().collect().await.unwrap() {
        let columns: Vec<_> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let values = columns.iter().map(|column| column.value(row).to_string());
            let values = values.map(|value| if value.is_empty() { "(empty)".to_owned() } else { value });
            rows.push(values.collect::<Vec<_>>().join(" "));
        }
    }
    rows
}

/// Errors are the same failure only for the same reason, whatever the names and numbers in them.
#[test]
fn signatures_tell_reasons_apart() {
    let signature = |class, detail: &str| Failure { class, query: None, detail: detail.to_owned() }.signature();
    let error = |detail: &str| signature(FailureClass::Error, detail);
    let cast = "the pushdown answer differs: the interpreter answers, but: (cast) Cannot cast '1' to c0";
    assert_eq!(error(cast), error(&cast.replace("'1' to c0", "'22' to c1")));
    assert_ne!(error(cast), error(&cast.replace("(cast)", "(internal)")));
    assert_ne!(error(cast), error(&cast.replace("pushdown", "workload plan's")));
    let panic = |detail: &str| signature(FailureClass::Panic, detail);
    assert_eq!(panic("index out of bounds: the len is 1"), panic("index out of bounds: the len is 2"));
    assert_ne!(panic("index out of bounds"), panic("attempt to add with overflow"));
    assert_eq!(signature(FailureClass::Workload, "1"), signature(FailureClass::Workload, "2"));
}

/// Written by a build of 2026-11-30, of version 1.
#[test]
fn an_old_recipe_is_read() {
    let old = include_str!("golden/version-1.json");
    let recipe = Recipe::from_json(old).unwrap();
    assert_eq!((recipe.version, recipe.table.history.len(), recipe.workload.len()), (1, 3, 2));
    // What it leaves out means what it meant.
    assert!(!recipe.table.stable_row_ids && recipe.table.read_after.is_none());
    assert_eq!(Recipe::from_json(&recipe.to_json().unwrap()).unwrap(), recipe);
}

#[test]
fn unknown_fields_and_newer_versions_are_refused() {
    let json = hand_made().to_json().unwrap();
    let refused = |old: &str, new: &str| {
        let changed = json.replacen(old, new, 1);
        assert_ne!(changed, json);
        Recipe::from_json(&changed).unwrap_err().to_string()
    };
    let newer = refused(r#""version": 1"#, r#""version": 2"#);
    assert!(newer.contains("version is 2, not 1"), "{newer}");
    for place in [r#""version": 1"#, r#""rows_per_file""#, r#""batch_size""#, r#""source": {"#, r#""group_by""#] {
        let unknown = refused(place, &format!(r#""surprise": 1, {place}"#));
        assert!(unknown.contains("unknown field `surprise`"), "{unknown}");
    }
    // A newer version's fields are not what is wrong with it.
    let newer = refused(r#""version": 1"#, r#""surprise": 1, "version": 2"#);
    assert!(newer.contains("version is 2, not 1"), "{newer}");
}
