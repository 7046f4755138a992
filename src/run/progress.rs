//! The one line on stderr that says that work is going on, and what it waits for. Only on a terminal.

use std::{
    io::{IsTerminal, Write, stderr},
    time::Duration,
};

use crate::{cluster::Progress, output::safe::harmless};

/// How often the line is drawn.
pub(super) const EVERY: Duration = Duration::from_millis(120);
/// A scan that ends sooner needs no line.
const QUIET: u32 = 3;
/// Takes the line away again.
const ERASE: &str = "\r\x1b[K";

/// Draws progress over itself.
pub(super) struct Line {
    shown: bool,
    ticks: u32,
    width: usize,
}

impl Line {
    /// None where nobody would see it.
    pub(super) fn on_terminal() -> Option<Self> {
        let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
        stderr().is_terminal().then_some(Line {
            shown: false,
            ticks: 0,
            width,
        })
    }

    /// Whether it stands on the terminal.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Draws it anew, unless it is still too early for a line.
    pub(super) fn say(&mut self, text: &str) {
        self.ticks += 1;
        if self.ticks < QUIET || text.is_empty() {
            return;
        }
        let text: String = harmless(text)
            .chars()
            .take(self.width.saturating_sub(1))
            .collect();
        // Losing a line of progress is no reason to stop.
        drop(write!(stderr(), "{ERASE}{text}"));
        drop(stderr().flush());
        self.shown = true;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.shown {
            drop(write!(stderr(), "{ERASE}"));
            drop(stderr().flush());
        }
    }
}

/// How far the reading of a cluster has come.
pub(super) fn reading(progress: &Progress) -> String {
    if progress.total == 0 {
        return "asking the server for its types".to_owned();
    }
    let waiting = match progress.waiting_for.as_slice() {
        [] => String::new(),
        [one] => format!(", waiting for {one}"),
        [first, rest @ ..] => format!(", waiting for {first} and {} more", rest.len()),
    };
    format!(
        "{}/{} types, {} objects{waiting}",
        progress.done, progress.total, progress.objects
    )
}
