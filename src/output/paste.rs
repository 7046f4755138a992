//! Commands to paste: never cut, and continued on more lines only between words.

use unicode_width::UnicodeWidthStr;

use crate::command::{Shell, Shown};

/// Columns before the lines that continue a command.
const DEEPER: usize = 2;

/// The lines of a command below `indent` columns, or why it is not shown. All but the last end in what the shell has for it (a
/// backslash, in PowerShell a backtick), so that they can be pasted together.
pub(super) fn lines(command: &Shown, indent: usize, width: Option<usize>) -> Vec<String> {
    let margin = " ".repeat(indent);
    let Some(line) = command.line() else {
        return Vec::new();
    };
    let whole = format!("{margin}{line}");
    let Some(width) = width.filter(|&width| whole.width() > width && !command.pieces.is_empty()) else {
        return vec![whole];
    };
    let room = width.saturating_sub(2);
    let mut lines = Vec::new();
    let mut line = margin;
    for (at, piece) in command.pieces.iter().enumerate() {
        if at > 0 && line.width() + 1 + piece.width() > room {
            lines.push(format!("{line} {}", Shell::chosen().continuation()));
            line = " ".repeat(indent + DEEPER);
        } else if at > 0 {
            line.push(' ');
        }
        line.push_str(piece);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    #[test]
    fn a_long_command_is_continued_between_words_and_a_flag_keeps_its_value() {
        let command =
            Command::explain("volumes.longhorn.io", "pvc-18e2", "longhorn-system").flag("--from", "my dump");
        assert_eq!(
            lines(&Shown::from(&command), 3, Some(60)),
            [
                "   kubectl finalizers explain volumes.longhorn.io/pvc-18e2 \\",
                "     -n longhorn-system --from 'my dump'",
            ]
        );
        assert_eq!(lines(&Shown::from(&command), 3, None).len(), 1);
        let pasted = lines(&Shown::from(&command), 3, Some(10))
            .join("\n")
            .replace("\\\n", "");
        let words: Vec<_> = pasted.split_whitespace().collect();
        assert_eq!(words.join(" "), command.render().expect("printable"));
    }

    #[test]
    fn a_command_with_characters_that_cannot_be_seen_is_not_shown() {
        let command = Command::explain("cm", "a\u{202e}b", "db");
        assert!(lines(&Shown::from(&command), 3, Some(60))[0].contains("the command is not shown"));
    }
}
