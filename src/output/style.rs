//! The style of text output. The caller decides it once, from the terminal and the environment. Tests use the
//! plain default.
//!
//! Each colour has one meaning, and a word always says the same: a reader without colours misses nothing.

use owo_colors::{OwoColorize, Style as Codes};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours.
    pub colour: bool,
    /// Whether to use characters outside ASCII.
    pub unicode: bool,
    /// Columns of a line; none if lines can have any length.
    pub width: Option<usize>,
}

impl Style {
    /// A heading, or the name of an object in it: bold.
    pub fn heading(&self, text: &str) -> String {
        self.coded(text, Codes::new().bold())
    }

    /// Something is wrong or will be lost: orphaned, failing, rejected, DATA LOSS. Red.
    pub fn fault(&self, text: &str) -> String {
        self.coded(text, Codes::new().red())
    }

    /// Something may be wrong: stalled, unknown, switched off, at risk, NOT READ. Yellow.
    pub fn caution(&self, text: &str) -> String {
        self.coded(text, Codes::new().yellow())
    }

    /// Something goes on: waiting, slow. Cyan.
    pub fn progress(&self, text: &str) -> String {
        self.coded(text, Codes::new().cyan())
    }

    /// Nothing is wrong: in use, done. Green.
    pub fn fine(&self, text: &str) -> String {
        self.coded(text, Codes::new().green())
    }

    /// A text that qualifies other text.
    pub fn warning(&self, text: &str) -> String {
        self.caution(text)
    }

    /// A less important text, such as evidence: dim.
    pub fn faint(&self, text: &str) -> String {
        self.coded(text, Codes::new().dimmed())
    }

    /// The mark for omitted text.
    pub fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    fn coded(self, text: &str, codes: Codes) -> String {
        if self.colour {
            text.style(codes).to_string()
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Style;

    #[test]
    fn each_meaning_has_a_colour_of_its_own_and_the_same_words() {
        let all = |style: &Style| {
            [
                style.heading("text"),
                style.fault("text"),
                style.caution("text"),
                style.progress("text"),
                style.fine("text"),
                style.faint("text"),
            ]
        };
        let colour = Style {
            colour: true,
            ..Style::default()
        };
        let codes = ["1", "31", "33", "36", "32", "2"];
        for (coded, code) in all(&colour).iter().zip(codes) {
            assert!(coded.starts_with(&format!("\x1b[{code}mtext\x1b[")), "{coded:?}");
        }
        assert_eq!(all(&Style::default()), ["text"; 6].map(str::to_owned));
    }
}
