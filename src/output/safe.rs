//! Makes text from a server safe to print. Strangers can write names, conditions and error messages. On a
//! terminal they must not move the cursor, set a title, fake a link, or reverse the line.

use std::borrow::Cow;

/// Returns the text on one line, with every character that acts on a terminal replaced by its escape.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(' '),
            c if is_terminal_control(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Whether a character acts on a terminal: controls (C0, DEL, C1), characters that change the text direction,
/// characters that break lines without being controls, and invisible characters that make two names look
/// alike.
pub fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{61C}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_terminal_controls() {
        assert_eq!(harmless("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(harmless("a\nb\tc"), "a b c");
        assert_eq!(harmless("\u{9b}31m\u{202e}x"), "\\u{9b}31m\\u{202e}x");
        assert!(matches!(harmless("größer 你好 ✓"), Cow::Borrowed(_)));
    }
}
