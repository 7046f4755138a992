//! A sheet of facts: labels on the left, text beside them. It grows with the terminal, to a width that is still easy to
//! read. On a narrow terminal the text goes below its label.
//!
//! Commands are not wrapped, because a wrapped command cannot be copied. Words longer than a line, such as
//! names and paths, are not wrapped either.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::{Style, safe::harmless, table::wrap};

/// The longest line that is easy to read.
const WIDEST: usize = 120;
/// The width where no terminal says one, so that documents look alike.
pub(super) const WIDTH_IN_PIPE: usize = 100;
/// Columns before text beside a label.
const BESIDE: usize = 18;
/// Columns before text below a label.
const BELOW: usize = 4;
/// With less room than this beside the labels, the text goes below.
const NARROW: usize = 50;
/// The minimum width of a readable text.
const NARROWEST: usize = 20;

/// Writes facts one after the other.
pub struct Sheet<'a, W> {
    out: &'a mut W,
    style: &'a Style,
    width: usize,
    margin: usize,
}

impl<'a, W: Write> Sheet<'a, W> {
    /// Creates a sheet as wide as the terminal allows.
    pub fn new(style: &'a Style, out: &'a mut W) -> Self {
        let width = style.width.unwrap_or(WIDTH_IN_PIPE).clamp(NARROWEST, WIDEST);
        let margin = if width < NARROW { BELOW } else { BESIDE };
        Sheet {
            out,
            style,
            width,
            margin,
        }
    }

    /// The style of the output.
    pub fn style(&self) -> &'a Style {
        self.style
    }

    /// A heading on its own line.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.style.heading(&harmless(text)))
    }

    /// A heading that begins with its verdict.
    pub fn verdict(&mut self, verdict: &str, text: &str) -> io::Result<()> {
        let verdict = self.style.warning(verdict);
        writeln!(self.out, "{verdict}  {}", self.style.heading(&harmless(text)))
    }

    /// Sentences from the left margin.
    pub fn sentence(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", wrap(&harmless(text), Some(self.width), 0))
    }

    /// A sentence that qualifies everything else.
    pub fn warning(&mut self, text: &str) -> io::Result<()> {
        let text = wrap(&harmless(text), Some(self.width), 0);
        for line in text.lines() {
            writeln!(self.out, "{}", self.style.warning(line))?;
        }
        Ok(())
    }

    /// An empty line.
    pub fn gap(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// A label and its text.
    pub fn fact(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.wrap_fact(label, &harmless(text), 0)
    }

    /// A label and a text that starts with a warning.
    pub fn warning_fact(&mut self, label: &str, words: &str, text: &str) -> io::Result<()> {
        let whole = format!("{words}: {text}");
        let lines = self.lines(&harmless(&whole), 0);
        let lines = lines.map(|line| match line.strip_prefix(words) {
            Some(rest) => format!("{}{rest}", self.style.warning(words)),
            None => line,
        });
        let lines: Vec<_> = lines.collect();
        self.write(label, lines, 0)
    }

    /// A label and several texts, each on a new line.
    pub fn facts<T: AsRef<str>>(
        &mut self,
        label: &str,
        texts: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let mut label = label;
        for text in texts {
            self.fact(label, text.as_ref())?;
            label = "";
        }
        Ok(())
    }

    /// A label and several texts of some sentences each, with a bullet each if there is more than one.
    pub fn bullets(&mut self, label: &str, texts: impl ExactSizeIterator<Item = String>) -> io::Result<()> {
        let mark = if texts.len() > 1 { "- " } else { "" };
        let mut label = label;
        for text in texts {
            self.wrap_fact(label, &format!("{mark}{}", harmless(&text)), mark.len())?;
            label = "";
        }
        Ok(())
    }

    /// A label and numbered steps, with their commands if any.
    pub fn steps<'s>(
        &mut self,
        label: &str,
        steps: impl IntoIterator<Item = (String, Option<&'s str>)>,
    ) -> io::Result<()> {
        let mut label = label;
        for (at, (text, command)) in steps.into_iter().enumerate() {
            let number = format!("{}. ", at + 1);
            self.wrap_fact(label, &format!("{number}{}", harmless(&text)), number.len())?;
            label = "";
            for line in command.into_iter().flat_map(str::lines) {
                let indent = " ".repeat(self.margin + number.len());
                writeln!(self.out, "{indent}{}", harmless(line.trim_end()))?;
            }
        }
        Ok(())
    }

    /// A label, a text, and a command below it.
    pub fn command(&mut self, label: &str, text: &str, command: &str) -> io::Result<()> {
        self.fact(label, text)?;
        let indent = " ".repeat(self.margin);
        writeln!(self.out, "{indent}{}", harmless(command))
    }

    fn wrap_fact(&mut self, label: &str, text: &str, hanging: usize) -> io::Result<()> {
        let lines: Vec<_> = self.lines(text, hanging).collect();
        self.write(label, lines, hanging)
    }

    fn lines(&self, text: &str, hanging: usize) -> impl Iterator<Item = String> + use<W> {
        let room = self.width - self.margin;
        // The text contains the hanging part of the first line, so that line is not shortened.
        let wrapped = wrap(text, Some(room), hanging);
        wrapped
            .lines()
            .map(|line| line.trim_start().to_owned())
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn write(&mut self, label: &str, lines: Vec<String>, hanging: usize) -> io::Result<()> {
        let beside = self.margin == BESIDE;
        if !beside && !label.is_empty() {
            writeln!(self.out, "  {}", self.style.faint(label))?;
        }
        for (at, line) in lines.into_iter().enumerate() {
            if at == 0 && beside && !label.is_empty() {
                let space = " ".repeat(self.margin.saturating_sub(1 + label.width()));
                writeln!(self.out, " {}{space}{line}", self.style.faint(label))?;
            } else {
                let indent = self.margin + if at == 0 { 0 } else { hanging };
                writeln!(self.out, "{}{line}", " ".repeat(indent))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(width: Option<usize>) -> String {
        let style = Style {
            width,
            ..Style::default()
        };
        let mut out = Vec::new();
        let mut sheet = Sheet::new(&style, &mut out);
        let text =
            "No Pod of the same namespace that has a node may name the claim any more, whatever its phase";
        sheet.fact("waits for", text).expect("written");
        let command =
            "kubectl -n NAMESPACE get pods --field-selector=status.phase!=Running,status.phase!=Pending";
        sheet
            .steps("what to do", [(text.to_owned(), Some(command))])
            .expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn puts_text_beside_its_label() {
        assert_eq!(
            sheet(Some(80)),
            " waits for        No Pod of the same namespace that has a node may name the
                  claim any more, whatever its phase
 what to do       1. No Pod of the same namespace that has a node may name the
                     claim any more, whatever its phase
                     kubectl -n NAMESPACE get pods --field-selector=status.phase!=Running,status.phase!=Pending
"
        );
        assert_eq!(sheet(None), sheet(Some(100)));
        let widest = |text: String| text.lines().map(str::len).filter(|len| *len < 100).max();
        assert!(widest(sheet(Some(60))) < widest(sheet(Some(80))));
        assert_eq!(sheet(Some(200)), sheet(Some(120)));
    }

    #[test]
    fn puts_text_below_its_label_on_a_narrow_terminal() {
        let narrow = sheet(Some(40));
        assert!(
            narrow.starts_with("  waits for\n    No Pod of the same namespace"),
            "{narrow}"
        );
        assert!(
            narrow
                .lines()
                .all(|line| line.len() <= 40 || line.trim_start().starts_with("kubectl")),
            "{narrow}"
        );
    }
}
