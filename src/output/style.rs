//! How text may look here. Decided once, from the terminal and the environment, by whoever starts the output;
//! the plain default is what tests see.

use owo_colors::OwoColorize;

/// What the reader's side can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are welcome.
    pub colour: bool,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
    /// Columns of the terminal; none where lines may be of any length, as in a pipe.
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

    /// Something that weakens what else is said.
    pub fn warning(&self, text: &str) -> String {
        if self.colour {
            text.yellow().to_string()
        } else {
            text.to_owned()
        }
    }

    /// Something that matters less.
    pub fn faint(&self, text: &str) -> String {
        if self.colour {
            text.dimmed().to_string()
        } else {
            text.to_owned()
        }
    }

    /// What stands for text that was left out.
    pub fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}
