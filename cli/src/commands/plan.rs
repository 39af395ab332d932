use std::io::Write;
use std::process::ExitCode;

use asap_types::GraphFormat;

use crate::args::{PlanArgs, PlanFormat};
use crate::error::CliError;
use crate::explain;
use crate::leaf_cost::Priced;
use crate::planning;
use crate::progress::Progress;
use crate::tables::AsapSession;
use crate::workload::{WorkloadText, lower};

/// `asap plan`: shows how a workload would be answered.
pub(crate) async fn plan(args: &PlanArgs) -> Result<ExitCode, CliError> {
    let workload = WorkloadText::read(&args.workload)?;
    let progress = Progress::start("opening tables");
    let session = AsapSession::open(&args.session).await?;
    progress.say("planning the workload".to_owned());
    let queries = lower(&workload, &args.session, &session.context).await?;
    let planned = planning::plan(&queries, Priced::Every, &session, &args.session).await?;
    progress.finish();
    let out = &mut std::io::stdout().lock();
    match args.format {
        PlanFormat::Tree => {
            let sources = explain::sources(&workload, &queries, &planned, &[]);
            explain::write_plan(out, &queries, &planned, &sources)?;
            write!(out, "Candidates (* is chosen), and why not others:\n\n{}", planned.explain())?;
        }
        PlanFormat::Dot => out.write_all(planned.selection.dag.render(GraphFormat::Dot).as_bytes())?,
        PlanFormat::Mermaid => out.write_all(planned.selection.dag.render(GraphFormat::Mermaid).as_bytes())?,
        PlanFormat::Json => {
            let json = planned.selection.dag.to_json().map_err(|error| CliError::Planning(error.to_string()))?;
            writeln!(out, "{json}")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
