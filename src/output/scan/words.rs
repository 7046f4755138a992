//! The words of a scan for a page that has its own layout.

use std::io;

use super::{Options, Scan};
use crate::{
    output::{Style, flow::Flow},
    report::{ScanReport, root_causes::RootCauseReport},
};

/// Columns of a line in a pipe.
const WIDTH: usize = 100;

/// The words of this scan. They are the same as those on a terminal.
pub(in crate::output) struct Words<'a>(Scan<'a>);

impl<'a> Words<'a> {
    /// `filtered` if the user limited the objects.
    pub(in crate::output) fn new(report: &'a ScanReport, filtered: bool) -> Self {
        let options = Options {
            filtered,
            ..Options::default()
        };
        let style = Style {
            unicode: true,
            width: Some(WIDTH),
            ..Style::default()
        };
        Words(Scan {
            report,
            options,
            style,
        })
    }

    /// How much is stuck.
    pub(in crate::output) fn answer(&self) -> String {
        self.0.answer_in_words()
    }

    /// How much was read.
    pub(in crate::output) fn totals(&self) -> String {
        self.0.totals_in_words()
    }

    /// What the cause with this number is, counted from 0, and what a removal by hand costs.
    pub(in crate::output) fn cause(&self, number: usize, cause: &RootCauseReport) -> Flow {
        self.0.sentences(number, cause)
    }

    /// What nobody removes, and who should.
    pub(in crate::output) fn held(&self, cause: &RootCauseReport) -> String {
        let words = self.0.held(cause).parts().into_iter().map(|(text, _)| text);
        words.collect()
    }

    /// The tables about what is not in deletion: leftovers, other objects, finalizers in use.
    pub(in crate::output) fn others(&self) -> io::Result<String> {
        let mut out = Vec::new();
        self.0.leftovers(&mut out)?;
        self.0.leftover_gaps(&mut out)?;
        self.0.others(&mut out)?;
        if self.0.shows_finalizers() {
            self.0.finalizers(&mut out)?;
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
