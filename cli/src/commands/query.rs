use std::process::ExitCode;

use crate::args::QueryArgs;
use crate::commands::run::answer;
use crate::error::CliError;
use crate::workload::WorkloadText;

/// `asap query`: a workload of one text.
pub(crate) async fn query(args: &QueryArgs) -> Result<ExitCode, CliError> {
    let workload = WorkloadText { name: "query".to_owned(), text: args.sql.clone() };
    answer(&workload, &args.session, args.answer).await
}
