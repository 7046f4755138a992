//! Makes text from a server safe to print. Strangers can write names, conditions and error messages. On a
//! terminal they must not move the cursor, set a title, fake a link, or reverse the line.

use std::borrow::Cow;

use crate::characters::is_unseen;

/// Returns the text on one line, with every character that acts on a terminal replaced by its escape.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(' '),
            c if is_unseen(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_terminal_controls() {
        assert_eq!(harmless("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(harmless("a\nb\tc"), "a b c");
        assert_eq!(harmless("\u{9b}31m\u{202e}x"), "\\u{9b}31m\\u{202e}x");
        assert_eq!(
            harmless("pay\u{ad}\u{3164}\u{e0041}\u{fff9}x"),
            "pay\\u{ad}\\u{3164}\\u{e0041}\\u{fff9}x"
        );
        assert!(matches!(harmless("größer 你好 ✓"), Cow::Borrowed(_)));
    }
}
