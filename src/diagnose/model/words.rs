//! Words that are said to people.

use std::fmt;

/// Words of a blocker. Only the output prints them. They give no `&str`, so no code can take them apart to learn what
/// happened: what code must know has a field of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Words(String);

impl Words {
    /// Adds more at the end.
    pub(in crate::diagnose) fn add(&mut self, more: &str) {
        self.0.push_str(more);
    }

    /// Whether both say the same, apart from counts and times, which change all the time.
    pub(crate) fn differs_in_numbers_only(&self, other: &Self) -> bool {
        without_numbers(&self.0) == without_numbers(&other.0)
    }

    /// The text, to shorten it.
    pub(in crate::diagnose) fn text_to_shorten(&mut self) -> &mut String {
        &mut self.0
    }
}

/// The words of a text, without those that begin with a digit: `3m12s`, `2026-01-01T11:00:00Z`, `7`.
fn without_numbers(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || ",;:()\"'".contains(c));
    words
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Words(text)
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Words(text.to_owned())
    }
}

/// Tests look at what is said.
#[cfg(test)]
impl std::ops::Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
impl PartialEq<&str> for Words {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
