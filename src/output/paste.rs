//! A command in lines that a shell joins again, so that no line is wider than the terminal and the whole can be pasted.

use unicode_width::UnicodeWidthStr;

use crate::command::Shown;

/// What a POSIX shell joins with the next line.
const MORE: &str = " \\";

/// The lines of a command, each at most `width` columns wide. A word is never broken, so a long one gives a wider line.
pub(super) fn lines(command: &Shown, width: usize) -> Vec<String> {
    let whole = command.line().unwrap_or_default();
    if command.words.is_empty() || whole.width() <= width {
        return vec![whole.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for (word, with_next) in with_next(&command.words) {
        let needed = match with_next {
            Some(value) => word.width() + 1 + value.width(),
            None => word.width(),
        };
        match lines.last_mut() {
            Some(line) if line.width() + 1 + needed + MORE.len() <= width => {
                line.extend([" ", word]);
            }
            Some(line) => {
                line.push_str(MORE);
                lines.push(format!("  {word}"));
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Each word, and the value that has to stay on its line if it is a flag.
fn with_next(words: &[String]) -> impl Iterator<Item = (&str, Option<&str>)> {
    let next = words.iter().skip(1).map(|word| Some(word.as_str())).chain([None]);
    words.iter().zip(next).map(|(word, next)| {
        let is_flag = word.starts_with('-') && word != "--";
        (
            word.as_str(),
            next.filter(|next| is_flag && !next.starts_with('-')),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    #[test]
    fn breaks_a_command_between_words_only() {
        let command = Command::remove("challenges.acme.cert-manager.io", "a b", "pay", "x.example/y");
        let shown = Shown::from(&command);
        assert_eq!(lines(&shown, 200).len(), 1);
        let broken = lines(&shown, 60);
        assert_eq!(
            broken,
            [
                "kubectl finalizers remove \\",
                "  'challenges.acme.cert-manager.io/a b' -n pay \\",
                "  --finalizer x.example/y"
            ]
        );
        // A shell reads the same words.
        let joined = broken.join("\n").replace(" \\\n  ", " ");
        assert_eq!(Some(joined), shown.command);
    }
}
