//! Where the changes go: lines in a pipe, JSON, or a terminal that is drawn again and again.

use std::io::{IsTerminal as _, Write as _, stdout};

use super::followed::Followed;
use crate::{error::Error, output, report::watch::ChangeReport, run::terminal};

/// The reader.
pub(super) enum Screen {
    Lines,
    Json,
    Terminal {
        changes: Vec<ChangeReport>,
        /// How many lines the last drawing has.
        drawn: usize,
    },
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        match json {
            true => Screen::Json,
            false if stdout().is_terminal() && !terminal::is_dumb() => Screen::Terminal {
                changes: Vec::new(),
                drawn: 0,
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
        let Screen::Terminal { changes, drawn } = self else {
            return Ok(());
        };
        let left: Vec<_> = followed
            .iter()
            .filter(|followed| !followed.gone)
            .filter_map(|followed| followed.report.as_ref())
            .collect();
        let text = output::watch::screen(&left, changes, terminal::rows(), &terminal::style());
        let mut out = stdout().lock();
        if *drawn > 0 {
            // Up to the first line of the last drawing, and clear from there.
            write!(out, "\x1b[{drawn}A\x1b[J")?;
        }
        write!(out, "{text}")?;
        out.flush()?;
        *drawn = text.lines().count();
        Ok(())
    }
}
