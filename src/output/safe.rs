//! Text from a server is text from strangers: names, conditions and error messages may hold anything. On a
//! terminal it must not move the cursor, set a title, fake a link, or turn the line around.

use std::borrow::Cow;

/// The text with every character that could act on a terminal shown as its escape, on one line.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(' '),
            c if acts(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Controls (C0, DEL, C1), characters that change the direction of what follows, that break lines without
/// being controls, or that are invisible and so can make two names look alike.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{61C}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_and_not_done() {
        assert_eq!(harmless("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(harmless("a\nb\tc"), "a b c");
        assert_eq!(harmless("\u{9b}31m\u{202e}x"), "\\u{9b}31m\\u{202e}x");
        assert!(matches!(harmless("größer 你好 ✓"), Cow::Borrowed(_)));
    }
}
