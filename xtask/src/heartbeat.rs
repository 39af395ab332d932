//! A sign of life where cargo shows no progress bar.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(15);

/// Prints what is being waited for, and since when, until dropped. Silent on a terminal, where cargo draws its own bar.
pub(crate) struct Heartbeat {
    _stop: Option<Sender<()>>,
}

impl Heartbeat {
    pub(crate) fn start(what: &'static str) -> Self {
        if std::io::stderr().is_terminal() {
            return Self { _stop: None };
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let started = Instant::now();
        thread::spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                eprintln!("        {what}: {} s", started.elapsed().as_secs());
            }
        });
        Self { _stop: Some(stop) }
    }
}
