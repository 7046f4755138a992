//! Characters that nobody sees, or that act on a terminal. Strangers use them to make two names look alike, or to reverse
//! a line. Output escapes them, and a command that holds one is not printed.

/// Whether a character acts on a terminal, or hides what the text says: controls (C0, DEL, C1), and characters that
/// nobody sees.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Whether a character makes it unclear what a command acts on. In text a variation selector is part of an ordinary
/// emoji; in a command it makes two names look alike.
pub fn is_unclear_in_a_command(c: char) -> bool {
    is_unseen(c) || matches!(c, '\u{FE00}'..='\u{FE0F}')
}

/// Whether a character is invisible, or changes the direction or the lines of the text around it, without being a
/// control character.
///
/// The table has the code points with the property `Default_Ignorable_Code_Point`
/// (<https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt>), line and paragraph separators,
/// interlinear annotation marks, and the blank Braille pattern, which looks like a space. Variation selectors 1 to 16
/// are left out: they are part of ordinary emoji, and only choose a form of the character before them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::{is_invisible, is_unclear_in_a_command, is_unseen};

    #[test]
    fn invisible_characters_are_known_and_visible_ones_stay() {
        for c in
            "\u{AD}\u{61C}\u{115F}\u{1160}\u{200B}\u{202E}\u{2066}\u{3164}\u{FEFF}\u{FFA0}\u{FFF9}\u{FFFB}\
                  \u{E0000}\u{E0001}\u{E0041}\u{E007F}\u{E0100}"
                .chars()
        {
            assert!(is_invisible(c), "{}", c.escape_unicode());
        }
        for c in "aé你Ω한✓✔\u{FE0F}\u{301}\u{1F469} -_./\u{FFFD}".chars() {
            assert!(!is_invisible(c), "{}", c.escape_unicode());
        }
    }

    #[test]
    fn controls_are_unseen_and_letters_of_any_script_are_not() {
        assert!("\u{0}\n\u{7f}\u{9b}\u{202e}".chars().all(is_unseen));
        assert!(!"größer 你好 ✓ a'b".chars().any(is_unclear_in_a_command));
        assert!(!is_unseen('\u{FE0F}') && is_unclear_in_a_command('\u{FE0F}'));
    }
}
