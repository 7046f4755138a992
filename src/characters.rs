//! Characters that people cannot see, or that act on a terminal. Output escapes them, and a command that holds one is
//! not printed.

/// Whether a character is invisible or acts on a terminal: controls (C0, DEL, C1), characters that change the text
/// direction, that break or join lines without being controls, and that take no room, so that two names look alike.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}' | '\u{1160}'
            | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::is_unseen;

    #[test]
    fn letters_of_any_script_are_seen_and_fillers_are_not() {
        assert!(!"größer 你好 ✓ a'b".chars().any(is_unseen));
        for c in "\u{0}\n\u{7f}\u{9b}\u{ad}\u{115f}\u{202e}\u{2066}\u{3164}\u{feff}\u{fff9}\u{e0041}".chars()
        {
            assert!(is_unseen(c), "{c:?}");
        }
    }
}
