//! Waiting for the server with a person at the terminal: one line tells what is being done, and Ctrl-C ends it.

use std::pin::{Pin, pin};

use tokio::time::Interval;

use crate::run::progress::{EVERY, Line};

/// From the first piece of work to the last. Ctrl-C, once pressed, ends all that is still to come.
pub(in crate::run) struct Watch {
    line: Option<Line>,
    ticks: Interval,
    stop: Pin<Box<dyn Future<Output = ()>>>,
    stopped: bool,
}

impl Watch {
    pub(in crate::run) fn new() -> Self {
        let stop = async {
            // Where the signal cannot be listened for, it ends the process as it always did.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        Watch {
            line: Line::on_terminal(),
            ticks: tokio::time::interval(EVERY),
            stop: Box::pin(stop),
            stopped: false,
        }
    }

    /// Whether the user has had enough.
    pub(in crate::run) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Does the work and says meanwhile what it is doing; none if it was stopped before its end.
    pub(in crate::run) async fn over<T>(
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
                        line.say(&doing());
                    }
                }
            }
        }
    }

    /// Waits for a person, without a word; none if that person had enough.
    pub(in crate::run) async fn quietly<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
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
