use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use crate::answers;
use crate::args::{AnswerArgs, AnswerFormat, RunArgs, SessionArgs};
use crate::compare::{Pass, Verdict, verdicts, write_verdicts};
use crate::error::{CliError, DIFFERENT, FAILED};
use crate::explain::{self, PushdownLog};
use crate::output::write_answers;
use crate::planning::{self, Planned};
use crate::progress::Progress;
use crate::say;
use crate::tables::{AsapSession, plain_session};
use crate::times::{Preparation, write_times};
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
    let start = Instant::now();
    let session = AsapSession::open(args).await?;
    let opening = start.elapsed();
    let queries = lower(workload, args, &session.context).await?;
    progress.say("planning the workload".to_owned());
    let start = Instant::now();
    let planned = planning::plan_or_none(&queries, &session, args).await?;
    let before = Preparation { opening, planning: start.elapsed() };
    let mut log = PushdownLog::new(&session.pushdown);
    let asap = answers::with_asap(&queries, &planned, &session, &mut log, &progress).await;
    let mut cold = Pass { asap, plain: Vec::new() };
    let compared = match show.compare {
        true => Some(compare(&queries, &planned, &session, args, &mut cold, &progress).await?),
        false => None,
    };
    progress.finish();
    let done = Done { workload, args, queries, planned, before, log, cold, compared };
    done.print(show)
}

/// Answers plainly and compares; then both sides once more, which must agree again and is timed warm.
async fn compare(
    queries: &[Query],
    planned: &Planned,
    session: &AsapSession,
    args: &SessionArgs,
    cold: &mut Pass,
    progress: &Progress,
) -> Result<Compared, CliError> {
    let context = plain_session(args, session).await?;
    cold.plain = answers::plainly(queries, &context, progress).await;
    let mut log = PushdownLog::new(&session.pushdown);
    let asap = answers::with_asap(queries, planned, session, &mut log, progress).await;
    let warm = Pass { asap, plain: answers::plainly(queries, &context, progress).await };
    let verdicts = verdicts(queries, cold, &warm, args.float)?;
    Ok(Compared { warm, verdicts })
}

struct Compared {
    warm: Pass,
    verdicts: Vec<Verdict>,
}

/// A workload that was answered.
struct Done<'a> {
    workload: &'a WorkloadText,
    args: &'a SessionArgs,
    queries: Vec<Query>,
    planned: Planned,
    before: Preparation,
    log: PushdownLog,
    cold: Pass,
    compared: Option<Compared>,
}

impl Done<'_> {
    /// The exit status says what was found, also to a reader that does not read to the end.
    fn print(&self, show: AnswerArgs) -> Result<ExitCode, CliError> {
        let out = &mut std::io::stdout().lock();
        let answered = write_answers(out, &self.queries, &self.cold.asap, show.format)
            .and_then(|()| out.flush().map_err(CliError::from));
        self.report_failures();
        let printed = answered.and_then(|()| {
            // With a format that is read by programs, standard output holds the answers and nothing else.
            match show.format {
                AnswerFormat::Table => self.write_notes(out, show),
                _ => self.write_notes(&mut std::io::stderr().lock(), show),
            }
        });
        match printed {
            Err(error) if !error.is_broken_pipe() => Err(error),
            _ => Ok(self.exit_code()),
        }
    }

    fn exit_code(&self) -> ExitCode {
        let verdicts = self.compared.iter().flat_map(|compared| &compared.verdicts);
        if verdicts.into_iter().any(|verdict| matches!(verdict, Verdict::Different(_))) {
            return ExitCode::from(DIFFERENT);
        }
        let has_failed = self.cold.asap.iter().any(|answered| answered.result.is_err());
        if has_failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
    }

    /// One diagnostic for each query without an answer, and a line for each that was not answered as planned.
    fn report_failures(&self) {
        for (query, answered) in self.queries.iter().zip(&self.cold.asap) {
            match (&answered.result, &answered.plan_failed) {
                (Err(error), _) => {
                    say(format_args!("{:?}", CliError::failed_query(query, self.workload, error).into_report()));
                }
                (Ok(_), Some(error)) => {
                    say(format_args!("warning: {} was answered by itself: its plan failed: {error}", query.name));
                }
                (Ok(_), None) => {}
            }
        }
    }

    fn write_notes(&self, out: &mut dyn Write, show: AnswerArgs) -> Result<(), CliError> {
        let sources = explain::sources(self.workload, &self.queries, &self.planned, &self.cold.asap);
        if show.explain {
            explain::write_plan(out, &self.queries, &self.planned, &sources)?;
            explain::write_scans(out, &self.queries, &self.planned, &self.log)?;
        }
        if let Some(Compared { warm, verdicts }) = &self.compared {
            write_times(out, &self.queries, &sources, &self.before, &self.cold, warm)?;
            write_verdicts(out, &self.queries, verdicts, &self.cold, self.args.float)?;
        }
        Ok(out.flush()?)
    }
}
