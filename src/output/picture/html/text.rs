//! HTML as a type: markup is part of this program, and everything else is escaped. So no name can become markup.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use crate::output::{flow::Look, safe::harmless};

/// A piece of a page.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup of this program.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A number, in text or in an attribute.
    pub(super) fn number(&mut self, number: impl Into<i128>) -> &mut Self {
        let _ = write!(self.0, "{}", number.into());
        self
    }

    /// Any text, in text or in an attribute with quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// An element that holds only text.
    pub(super) fn element(&mut self, tag: &'static str, text: &str) -> &mut Self {
        self.markup("<").markup(tag).markup(">");
        self.text(text);
        self.markup("</").markup(tag).markup(">")
    }

    /// Text in a look, whose word says the same.
    pub(super) fn styled(&mut self, look: Look, text: &str) -> &mut Self {
        match look {
            Look::Plain => self.text(text),
            Look::Name => self.element("code", text),
            look => {
                self.markup("<strong class=").markup(class(look)).markup(">");
                self.text(text).markup("</strong>")
            }
        }
    }

    /// A command to paste, or why it is not shown.
    pub(super) fn command(&mut self, command: &crate::command::Shown) -> &mut Self {
        match (&command.command, command.line()) {
            (Some(line), _) => self.element("pre", line),
            (None, Some(why)) => self.element("p", why),
            (None, None) => self,
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.0.as_bytes())
    }
}

/// The class of a look.
pub(super) fn class(look: Look) -> &'static str {
    match look {
        Look::Fault => "fault",
        Look::Caution => "caution",
        Look::Progress => "progress",
        Look::Fine => "fine",
        Look::Plain | Look::Name => "faint",
    }
}

/// The text with nothing in it that is markup, or that acts on the text around it.
fn escaped(text: &str) -> String {
    let text = harmless(text);
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            escaped("</script><img src='x' alt=\"&amp;\">\u{202e}\n"),
            "&lt;/script&gt;&lt;img src=&#39;x&#39; alt=&quot;&amp;amp;&quot;&gt;\\u{202e} "
        );
    }
}
