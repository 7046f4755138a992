//! Sentences with a few coloured words, wrapped between words. Colours take no room.

use unicode_width::UnicodeWidthStr;

use super::{Style, safe::harmless, table::truncate};
use crate::diagnose::CauseState;

/// How a part of a sentence looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As the rest.
    Plain,
    /// The name of an object.
    Name,
    /// A fault or a loss.
    Fault,
    /// A state in doubt.
    Caution,
    /// Work that goes on.
    Progress,
    /// Nothing is wrong.
    Fine,
}

impl Look {
    /// The text in this look.
    pub fn paint(self, text: &str, style: &Style) -> String {
        match self {
            Look::Plain => text.to_owned(),
            Look::Name => style.heading(text),
            Look::Fault => style.fault(text),
            Look::Caution => style.caution(text),
            Look::Progress => style.progress(text),
            Look::Fine => style.fine(text),
        }
    }
}

/// The colour of a state.
pub fn look_of_state(state: CauseState) -> Look {
    match state {
        CauseState::Gone
        | CauseState::Down
        | CauseState::NotReady
        | CauseState::Failing
        | CauseState::Refused => Look::Fault,
        CauseState::SwitchedOff | CauseState::Stalled | CauseState::Unknown => Look::Caution,
        CauseState::Waiting => Look::Progress,
        CauseState::InUse => Look::Fine,
    }
}

/// Sentences. A word can have parts of several looks, such as a name and the comma behind it.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    words: Vec<Vec<(String, Look)>>,
}

impl Flow {
    /// Appends text. Without a space in front it continues the last word.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.styled(Look::Plain, text)
    }

    /// Appends text in a look.
    #[must_use]
    pub fn styled(mut self, look: Look, text: &str) -> Self {
        for (at, word) in harmless(text).split(' ').enumerate() {
            if at > 0 || self.words.is_empty() {
                self.words.push(Vec::new());
            }
            if let Some(last) = self.words.last_mut().filter(|_| !word.is_empty()) {
                last.push((word.to_owned(), look));
            }
        }
        self
    }

    /// Appends other sentences, after a space.
    #[must_use]
    pub fn and(mut self, other: Flow) -> Self {
        self.words.extend(other.words);
        self
    }

    /// The lines, each at most `room` columns wide. A word that is wider is cut.
    pub fn lines(&self, room: usize, style: &Style) -> Vec<String> {
        self.lines_behind(room, room, style)
    }

    /// The lines, if the first has another room than the others.
    pub fn lines_behind(&self, first: usize, others: usize, style: &Style) -> Vec<String> {
        let lines = self.laid_out(first, others, style);
        lines.iter().map(|line| line.painted(style)).collect()
    }

    /// The sentences in one piece, as parts that look alike.
    pub fn parts(&self) -> Vec<(String, Look)> {
        let lines = self.laid_out(usize::MAX, usize::MAX, &Style::default());
        lines.into_iter().flat_map(|line| line.parts).collect()
    }

    fn laid_out(&self, first: usize, others: usize, style: &Style) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        for word in self.words.iter().filter(|word| !word.is_empty()) {
            let width: usize = word.iter().map(|(text, _)| text.width()).sum();
            let used = lines.last().map_or(0, |line| line.width);
            let room = if lines.len() == 1 { first } else { others };
            let is_full = used > 0 && used + 1 + width > room;
            if is_full {
                lines.push(Line::default());
            }
            let room = if lines.len() == 1 { first } else { others };
            if let Some(line) = lines.last_mut() {
                line.space_before(word.first().map_or(Look::Plain, |(_, look)| *look));
                let mut after = width;
                for (text, look) in word {
                    // A comma behind a name that is cut stays, so the name leaves it room.
                    after = after.saturating_sub(text.width());
                    let left = room.saturating_sub(line.width).saturating_sub(after).max(1);
                    line.push(&truncate(text, left, style), *look);
                }
            }
        }
        lines
    }
}

/// A line, as parts that look alike.
#[derive(Default)]
struct Line {
    parts: Vec<(String, Look)>,
    width: usize,
}

impl Line {
    fn push(&mut self, text: &str, look: Look) {
        self.width += text.width();
        match self.parts.last_mut() {
            Some((last, other)) if *other == look => last.push_str(text),
            _ => self.parts.push((text.to_owned(), look)),
        }
    }

    /// The space between two words looks as both, if they look alike.
    fn space_before(&mut self, next: Look) {
        let last = self.parts.last().map(|(_, look)| *look);
        if let Some(last) = last {
            self.push(" ", if last == next { next } else { Look::Plain });
        }
    }

    fn painted(&self, style: &Style) -> String {
        self.parts
            .iter()
            .map(|(text, look)| look.paint(text, style))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence() -> Flow {
        Flow::default()
            .text("The disk of ")
            .styled(Look::Name, "pvc/data-0 -n db")
            .text(", in use, is ")
            .styled(Look::Fault, "DESTROYED")
            .text(".")
    }

    #[test]
    fn wraps_between_words_and_keeps_commas_at_their_names() {
        assert_eq!(
            sentence().lines(20, &Style::default()),
            ["The disk of", "pvc/data-0 -n db, in", "use, is DESTROYED."]
        );
    }

    #[test]
    fn colours_take_no_room() {
        let colour = Style {
            colour: true,
            ..Style::default()
        };
        let lines = sentence().lines(20, &colour);
        assert_eq!(lines.len(), 3);
        assert!(lines[2].contains("\x1b[31mDESTROYED\x1b["), "{lines:?}");
        assert!(lines[1].starts_with("\x1b[1mpvc/data-0 -n db\x1b["), "{lines:?}");
    }

    #[test]
    fn cuts_a_word_that_is_too_long_and_shows_it() {
        let style = Style::default();
        let long = Flow::default().text(&"x".repeat(253)).text(" is long");
        assert_eq!(
            long.lines(20, &style),
            [format!("{}...", "x".repeat(17)), "is long".into()]
        );
    }
}
