//! The progress line on stderr: the current work and what it waits for. Only on a terminal.

use std::{
    io::{IsTerminal, Write, stderr},
    time::Duration,
};

use super::terminal;
use crate::{cluster::Progress, output::safe::harmless};

/// Time between two updates of the line.
pub(super) const REDRAW_INTERVAL: Duration = Duration::from_millis(120);
/// A scan that ends before this many updates shows no line.
const TICKS_BEFORE_FIRST_LINE: u32 = 3;
/// Erases the line.
const ERASE: &str = "\r\x1b[K";

/// A line that overwrites itself.
pub(super) struct Line {
    shown: bool,
    ticks: u32,
    width: usize,
}

impl Line {
    /// None if stderr is not a terminal, or one that cannot erase a line.
    pub(super) fn on_terminal() -> Option<Self> {
        let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
        (stderr().is_terminal() && !terminal::is_dumb()).then_some(Line {
            shown: false,
            ticks: 0,
            width,
        })
    }

    /// Whether the line is on the terminal.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Updates the line, unless it is still too early to show one.
    pub(super) fn update(&mut self, text: &str) {
        self.ticks += 1;
        if self.ticks < TICKS_BEFORE_FIRST_LINE || text.is_empty() {
            return;
        }
        let text: String = harmless(text)
            .chars()
            .take(self.width.saturating_sub(1))
            .collect();
        // A failed progress update is no reason to stop.
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

/// The progress of reading a cluster, in words.
pub(super) fn reading_in_words(progress: &Progress) -> String {
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
