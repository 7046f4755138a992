//! Waits for the server with a user at the terminal: a progress line shows the current work, and Ctrl-C ends
//! it.

use std::pin::{Pin, pin};

use tokio::time::Interval;

use crate::run::progress::{Line, REDRAW_INTERVAL};

/// Watches all work of a run. Ctrl-C ends the current work and everything after it.
pub(in crate::run) struct Watch {
    line: Option<Line>,
    ticks: Interval,
    stop: Pin<Box<dyn Future<Output = ()>>>,
    stopped: bool,
}

impl Watch {
    pub(in crate::run) fn new() -> Self {
        let stop = async {
            // If the process cannot listen for the signal, it ends the process as usual.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        Watch {
            line: Line::on_terminal(),
            ticks: tokio::time::interval(REDRAW_INTERVAL),
            stop: Box::pin(stop),
            stopped: false,
        }
    }

    /// Whether the user pressed Ctrl-C.
    pub(in crate::run) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Does the work and shows the progress; none if the user stopped it.
    pub(in crate::run) async fn show_progress<T>(
        &mut self,
        doing: impl Fn() -> String,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        if self.stopped {
            return None;
        }
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                () = &mut self.stop => {
                    self.stopped = true;
                    return None;
                }
                _ = self.ticks.tick() => {
                    if let Some(line) = &mut self.line {
                        line.update(&doing());
                    }
                }
            }
        }
    }

    /// Shows no progress from now on.
    pub(in crate::run) fn end_progress(&mut self) {
        self.line = None;
    }

    /// Waits for the user without a progress line; none if the user stopped it.
    pub(in crate::run) async fn without_progress<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        if self.stopped {
            return None;
        }
        self.line.take_if(|line| line.is_shown());
        tokio::select! {
            done = work => Some(done),
            () = &mut self.stop => {
                self.stopped = true;
                None
            }
        }
    }
}
