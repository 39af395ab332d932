//! A line on the terminal for anything that takes a second; nothing when standard error is not a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A spinner that shows up after a second and is gone when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    timer: tokio::task::JoinHandle<()>,
}

impl Progress {
    pub(crate) fn start(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let shown = bar.clone();
        let timer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            shown.set_draw_target(ProgressDrawTarget::stderr());
            shown.enable_steady_tick(Duration::from_millis(100));
        });
        Self { bar, timer }
    }

    pub(crate) fn say(&self, what: String) {
        self.bar.set_message(what);
    }

    /// Clears the line, so that answers can be printed.
    pub(crate) fn finish(&self) {
        self.timer.abort();
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
