//! Progress while a run is under way.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use asap_oracle::fuzz::FuzzReport;

/// Progress on standard error: one line that is rewritten on a terminal, a line a quarter of a minute elsewhere.
pub(super) struct LiveLine {
    terminal: bool,
    shown: Instant,
}

impl LiveLine {
    pub(super) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), shown: Instant::now() }
    }

    pub(super) fn show(&mut self, report: &FuzzReport) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(15) };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let (start, end) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let plans = report.plans.counts();
        let text = format!(
            "{start}{} s · {} cases · {} comparisons · {:.0}/s · {} plans · {} points · {} different{end}",
            report.elapsed.as_secs(),
            report.cases,
            report.comparisons,
            report.rate(),
            plans.pushdown + plans.workload,
            report.coverage.len(),
            report.failed.len()
        );
        _ = std::io::stderr().write_all(text.as_bytes());
    }

    pub(super) fn clear(&self) {
        if self.terminal {
            _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
