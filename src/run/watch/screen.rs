//! Where the changes go: lines in a pipe, JSON, or a terminal that is drawn again and again.

use std::io::{IsTerminal as _, Write as _, stdout};

use super::followed::Followed;
use crate::{
    error::Error,
    output,
    report::watch::{ChangeReport, Standing},
    run::terminal,
};

/// How many changes a terminal keeps.
const KEPT: usize = 20;

/// The reader.
pub(super) enum Screen {
    Lines,
    Json,
    Terminal {
        changes: Vec<ChangeReport>,
        /// The last drawing.
        drawn: String,
    },
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        match json {
            true => Screen::Json,
            false if stdout().is_terminal() && !terminal::is_dumb() => Screen::Terminal {
                changes: Vec::new(),
                drawn: String::new(),
            },
            false => Screen::Lines,
        }
    }

    /// Prints one change, or keeps it for the next drawing.
    pub(super) fn tell(&mut self, change: ChangeReport) -> Result<(), Error> {
        let mut out = stdout().lock();
        match self {
            Screen::Lines => output::watch::write_line(&change, &mut out)?,
            Screen::Json => output::json::write_line(&change, &mut out)?,
            Screen::Terminal { changes, .. } => changes.push(change),
        }
        out.flush()?;
        Ok(())
    }

    /// Draws where the objects stand, over the last drawing.
    pub(super) fn draw(&mut self, followed: &[Followed]) -> Result<(), Error> {
        let left = followed.iter().filter(|followed| !followed.gone);
        let left: Vec<_> = left.filter_map(|followed| followed.report.as_ref()).collect();
        self.draw_text(|changes| output::watch::screen(&left, changes, terminal::rows(), &terminal::style()))
    }

    /// Draws where everything in deletion stands.
    pub(super) fn draw_board(&mut self, standing: impl FnOnce() -> Standing) -> Result<(), Error> {
        self.draw_text(|changes| {
            output::watch::board(&standing(), changes, terminal::rows(), &terminal::style())
        })
    }

    fn draw_text(&mut self, text: impl FnOnce(&[ChangeReport]) -> String) -> Result<(), Error> {
        let Screen::Terminal { changes, drawn } = self else {
            return Ok(());
        };
        // Only the last ones are shown.
        changes.drain(..changes.len().saturating_sub(KEPT));
        let text = text(changes);
        if text == *drawn {
            return Ok(());
        }
        let mut out = stdout().lock();
        let lines = drawn.lines().count();
        if lines > 0 {
            // Up to the first line of the last drawing, and clear from there.
            write!(out, "\x1b[{lines}A\x1b[J")?;
        }
        write!(out, "{text}")?;
        out.flush()?;
        *drawn = text;
        Ok(())
    }
}
