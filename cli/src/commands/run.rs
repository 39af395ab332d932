use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use asap_execution::{QueryResult, run_observed};
use datafusion::prelude::SessionContext;

use crate::args::{AnswerArgs, AnswerFormat, RunArgs, SessionArgs};
use crate::compare::{Pass, difference, write_times};
use crate::error::CliError;
use crate::explain::{self, PushdownLog};
use crate::output::{Answer, write_answers};
use crate::plain::{self, PlainAnswer};
use crate::planning::{self, Planned};
use crate::progress::Progress;
use crate::tables::{AsapSession, plain_session};
use crate::workload::{Query, WorkloadText, lower};

/// `asap run`: answers a workload.
pub(crate) async fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let workload = WorkloadText::read(&args.workload)?;
    answer(&workload, &args.session, args.answer).await
}

/// Answers a workload, prints the answers, and explains and compares them as asked.
pub(crate) async fn answer(
    workload: &WorkloadText,
    args: &SessionArgs,
    show: AnswerArgs,
) -> Result<ExitCode, CliError> {
    let progress = Progress::start("opening tables");
    let session = AsapSession::open(args).await?;
    let queries = lower(workload, args, &session.context).await?;
    let planned = planning::plan(&queries, &session, args).await?;
    let job = Job { workload, args, queries: &queries, planned: &planned, progress: &progress };
    let mut log = PushdownLog::new(&session.pushdown);
    let results = job.asap_pass(&session, &mut log).await?;
    let compared = if show.compare { Some(job.compare(&session, &results).await?) } else { None };
    progress.finish();

    let out = &mut std::io::stdout().lock();
    // With a format that is read by programs, standard output holds the answers and nothing else.
    let notes: &mut dyn Write = &mut std::io::stderr().lock();
    let answers: Vec<Answer<'_>> = queries
        .iter()
        .zip(&results)
        .map(|(query, result)| Answer {
            name: &query.name,
            sql: &query.sql,
            schema: &result.schema,
            batches: &result.batches,
        })
        .collect();
    write_answers(out, &answers, show.format)?;
    out.flush()?;
    let notes: &mut dyn Write = if show.format == AnswerFormat::Table { out } else { notes };
    if show.explain {
        explain::write_plan(notes, &queries, &planned)?;
        explain::write_scans(notes, &queries, &planned, &log)?;
    }
    let mut code = ExitCode::SUCCESS;
    if let Some(compared) = compared {
        code = compared.write(notes, &job)?;
    }
    notes.flush()?;
    Ok(code)
}

struct Job<'a> {
    workload: &'a WorkloadText,
    args: &'a SessionArgs,
    queries: &'a [Query],
    planned: &'a Planned,
    progress: &'a Progress,
}

impl Job<'_> {
    /// Answers every query: those of the plan together, refused ones by themselves.
    async fn asap_pass(&self, session: &AsapSession, log: &mut PushdownLog) -> Result<Vec<QueryResult>, CliError> {
        self.progress.say(format!("answering {} queries", self.queries.len()));
        let ran = run_observed(&self.planned.selection.dag, &session.context, log).await;
        let mut planned = ran.into_iter();
        let mut results = Vec::with_capacity(self.queries.len());
        for query in self.queries {
            let result = match query.lowered {
                Ok(_) => {
                    let ran = planned.next();
                    let ran = ran.ok_or_else(|| CliError::Planning(format!("{} has no plan", query.name)))?;
                    ran.map_err(|error| self.failed(query, error.into()))?
                }
                Err(_) => {
                    let plain = plain::answer(query, &session.context, self.workload).await?;
                    let PlainAnswer { schema, batches, elapsed } = plain;
                    QueryResult { name: query.name.clone(), schema, batches, elapsed }
                }
            };
            results.push(result);
        }
        Ok(results)
    }

    fn failed(&self, query: &Query, error: CliError) -> CliError {
        let CliError::Execution(reason) = error else { return error };
        CliError::Query {
            query: query.name.clone(),
            reason,
            source_name: self.workload.name.clone(),
            text: self.workload.text.clone(),
            span: query.span.clone(),
        }
    }

    async fn plain_pass(&self, context: &SessionContext) -> Result<Vec<PlainAnswer>, CliError> {
        let mut answers = Vec::with_capacity(self.queries.len());
        for query in self.queries {
            self.progress.say(format!("answering {} plainly", query.name));
            answers.push(plain::answer(query, context, self.workload).await?);
        }
        Ok(answers)
    }

    /// Answers plainly and compares; then both sides once more, to time them warm.
    async fn compare(&self, session: &AsapSession, cold: &[QueryResult]) -> Result<Compared, CliError> {
        let context = plain_session(self.args).await?;
        let plain = self.plain_pass(&context).await?;
        let differences = self
            .queries
            .iter()
            .zip(cold.iter().zip(&plain))
            .map(|(query, (asap, plain))| {
                let found = difference(query, asap, plain, self.args)?;
                Ok(found.map(|difference| format!("{}: {difference} (asap against plain)", query.name)))
            })
            .collect::<Result<Vec<_>, CliError>>()?;
        let warm = self.asap_pass(session, &mut PushdownLog::new(&session.pushdown)).await?;
        let warm_plain = self.plain_pass(&context).await?;
        let of_asap = |results: &[QueryResult]| results.iter().map(|result| result.elapsed).collect::<Vec<Duration>>();
        let of_plain = |answers: &[PlainAnswer]| answers.iter().map(|answer| answer.elapsed).collect();
        Ok(Compared {
            differences: differences.into_iter().flatten().collect(),
            cold: Pass { asap: of_asap(cold), plain: of_plain(&plain) },
            warm: Pass { asap: of_asap(&warm), plain: of_plain(&warm_plain) },
        })
    }
}

struct Compared {
    differences: Vec<String>,
    cold: Pass,
    warm: Pass,
}

impl Compared {
    fn write(&self, out: &mut dyn Write, job: &Job<'_>) -> Result<ExitCode, CliError> {
        let sources = explain::answered_from(job.queries, job.planned);
        write_times(out, job.queries, &sources, &self.cold, &self.warm)?;
        for difference in &self.differences {
            writeln!(out, "DIFFERENT {difference}")?;
        }
        let total = job.queries.len();
        writeln!(out, "\nequal: {}/{total}", total - self.differences.len())?;
        Ok(if self.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
