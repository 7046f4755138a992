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

    /// The text, to shorten it.
    pub(in crate::diagnose) fn text_to_shorten(&mut self) -> &mut String {
        &mut self.0
    }
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
