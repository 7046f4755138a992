//! The style of text output. The caller decides it once, from the terminal and the environment. Tests use the
//! plain default.

use owo_colors::OwoColorize;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours.
    pub colour: bool,
    /// Whether to use characters outside ASCII.
    pub unicode: bool,
    /// Columns of the terminal; none if lines can have any length, as in a pipe.
    pub width: Option<usize>,
}

impl Style {
    /// A heading.
    pub fn heading(&self, text: &str) -> String {
        if self.colour {
            text.bold().to_string()
        } else {
            text.to_owned()
        }
    }

    /// A text that qualifies other text.
    pub fn warning(&self, text: &str) -> String {
        if self.colour {
            text.yellow().to_string()
        } else {
            text.to_owned()
        }
    }

    /// A less important text.
    pub fn faint(&self, text: &str) -> String {
        if self.colour {
            text.dimmed().to_string()
        } else {
            text.to_owned()
        }
    }

    /// The mark for omitted text.
    pub fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}
