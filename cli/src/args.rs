//! The command line.

use std::path::PathBuf;

use asap_aware_mapping::FloatPolicy;
use clap::{Args, Parser, Subcommand, ValueEnum};
use datafusion::common::TableReference;

const AFTER_HELP: &str = "\
Exit status:
  0  every query was answered, and with --compare every answer was equal to the plain one
  1  an answer differed from the plain one, or only one of the two sides had one
  2  the input was wrong: arguments, SQL, a table that cannot be opened; nothing was answered
  3  a query failed while it ran; all others were answered

A planned query that fails is answered again by its text alone. If that fails too, its error goes to
standard error, and the answers of the others are printed.

Examples:
  asap run dashboard.sql --table lineitem=lineitem.lance --compare
  asap plan dashboard.sql --table lineitem=lineitem.lance --format mermaid
  asap query \"SELECT count(*) FROM lineitem WHERE l_returnflag = 'R'\" --table lineitem=lineitem.lance";

/// Answers a workload of SQL aggregate queries with as little reading as possible.
#[derive(Debug, Parser)]
#[command(name = "asap", version, about, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan all queries of a file together and answer them.
    Run(RunArgs),
    /// Show how the queries of a file would be answered: candidates, choices and refusals.
    Plan(PlanArgs),
    /// Answer one or more statements, given as an argument.
    Query(QueryArgs),
}

/// Tables and session settings, common to all commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionArgs {
    /// A table: a Lance dataset (directory), a .parquet or a .csv file with a header. May be given several times. The name
    /// is read as SQL reads it: in lower case, unless it is in quotes.
    #[arg(long = "table", value_name = "NAME=PATH", required = true, value_parser = TableArg::parse)]
    pub(crate) tables: Vec<TableArg>,
    /// Whether sums of floats may be added up in another order, as DataFusion's own parallel plans do.
    #[arg(long, value_enum, default_value_t = FloatArg::Reassociate)]
    pub(crate) float: FloatArg,
    /// Partitions that a plan runs in; the number of cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) target_partitions: Option<u16>,
}

/// What is printed, common to the commands that answer.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Also answer every query plainly (DataFusion without asap), twice, and compare the answers. Floats are equal within
    /// a relative error of 1e-9; with --float exact, only bit by bit.
    #[arg(long)]
    pub(crate) compare: bool,
    /// Show the workload before and after planning, and what each scan was answered from.
    #[arg(long)]
    pub(crate) explain: bool,
    /// How answers are printed.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) format: AnswerFormat,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A file of SQL statements.
    #[arg(value_name = "WORKLOAD.sql")]
    pub(crate) workload: PathBuf,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A file of SQL statements.
    #[arg(value_name = "WORKLOAD.sql")]
    pub(crate) workload: PathBuf,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// How the plan is printed. `json` is the versioned wire form.
    #[arg(long, value_enum, default_value_t = PlanFormat::Tree)]
    pub(crate) format: PlanFormat,
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// One or more SQL statements, separated by ';'.
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// A named table.
#[derive(Clone, Debug)]
pub(crate) struct TableArg {
    pub(crate) name: String,
    pub(crate) path: String,
}

impl TableArg {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, path) = match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => (name, path),
            _ => return Err("expected NAME=PATH, for example lineitem=data/lineitem.lance".to_owned()),
        };
        let reference = TableReference::from(name);
        if reference.schema().is_some() {
            let bare = reference.table();
            return Err(format!(
                "a table has a plain name, without a schema: write {bare}={path}, or \"{name}\" in quotes"
            ));
        }
        Ok(Self { name: name.to_owned(), path: path.to_owned() })
    }
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Boxed tables; long answers are cut.
    Table,
    /// CSV with a header; answers of a workload are separated by an empty line. NULL is an empty field, as an empty string
    /// is: JSON tells them apart.
    Csv,
    /// One JSON document. Rows are arrays in the order of the columns; decimals, NaN and infinities are strings. A query
    /// that failed has an "error" in place of columns and rows.
    Json,
}

/// How plans are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// Indented trees, then candidates, choices and refusals.
    Tree,
    /// Graphviz.
    Dot,
    /// A Mermaid flowchart.
    Mermaid,
    /// The versioned wire form of the chosen plan.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FloatArg {
    /// Never: float sums are not derived from other float sums.
    Exact,
    /// Yes.
    Reassociate,
}

impl From<FloatArg> for FloatPolicy {
    fn from(arg: FloatArg) -> Self {
        match arg {
            FloatArg::Exact => Self::Exact,
            FloatArg::Reassociate => Self::Reassociate,
        }
    }
}
