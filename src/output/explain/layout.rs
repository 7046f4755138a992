//! Lines of an explanation: how wide they are, and how text is wrapped and indented.

use crate::output::{Style, safe::harmless, table::wrap};

/// Width in a pipe.
const USUAL: usize = 100;
/// Maximum width: longer lines are hard to read.
const WIDEST: usize = 120;
/// Minimum width of a wrapped line.
const NARROWEST: usize = 30;

/// The style, and the width of a line.
pub(super) struct Layout<'a> {
    pub(super) style: &'a Style,
    pub(super) width: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn new(style: &'a Style) -> Self {
        Layout {
            style,
            width: style.width.unwrap_or(USUAL).clamp(NARROWEST, WIDEST),
        }
    }

    /// The text in lines of the width minus `used` columns. Lines after the first have `hanging` spaces in front.
    pub(super) fn lines(&self, text: &str, used: usize, hanging: usize) -> Vec<String> {
        let room = self.width.saturating_sub(used).max(NARROWEST);
        wrap(&harmless(text), Some(room), hanging)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// A paragraph behind `indent` spaces.
    pub(super) fn paragraph(&self, text: &str, indent: usize) -> String {
        self.hanging(text, indent, indent)
    }

    /// A paragraph whose first line has `first` spaces in front, and the others `rest`.
    pub(super) fn hanging(&self, text: &str, first: usize, rest: usize) -> String {
        let space = " ".repeat(first);
        self.lines(text, first, rest.saturating_sub(first))
            .iter()
            .flat_map(|line| [&*space, line, "\n"])
            .collect()
    }

    /// A heading on a line of its own.
    pub(super) fn heading(&self, text: &str) -> String {
        self.lines(text, 0, 0)
            .iter()
            .flat_map(|line| [self.style.heading(line), "\n".to_owned()])
            .collect()
    }
}

/// The text as a sentence: with a capital letter in front and a full stop behind it.
pub(in crate::output) fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    // A name keeps its letters: kube-controller-manager.
    let word: &str = text.split_whitespace().next().unwrap_or_default();
    let is_name = word.contains(['-', '.', '/', '"', '_']);
    let mut sentence: String = if is_name {
        first.to_string()
    } else {
        first.to_uppercase().collect()
    };
    sentence.push_str(letters.as_str());
    if !sentence.ends_with(['.', '!', '?', ':', '…']) {
        sentence.push('.');
    }
    sentence
}
