//! The shells that a command can be printed for, and how each keeps a word together.
//!
//! A process prints for one shell, as it has one set of colours. So the shell is chosen once, and no text that holds a
//! command has to carry it.

use std::sync::OnceLock;

/// A shell that people paste commands into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// sh, bash, zsh, and others that read a POSIX command.
    Posix,
    /// Windows PowerShell 5.1 and PowerShell 7.
    PowerShell,
}

static CHOSEN: OnceLock<Shell> = OnceLock::new();

impl Shell {
    /// The usual shell of this platform.
    pub const USUAL: Shell = Shell::usual(cfg!(windows));

    /// The usual shell of a platform. PowerShell runs everywhere, and a person says so with `--shell`.
    const fn usual(on_windows: bool) -> Shell {
        if on_windows {
            Shell::PowerShell
        } else {
            Shell::Posix
        }
    }

    /// Prints all commands of this process for this shell. Only the first call counts.
    pub fn choose(self) {
        CHOSEN.get_or_init(|| self);
    }

    /// The shell that commands are printed for.
    pub fn chosen() -> Shell {
        *CHOSEN.get().unwrap_or(&Self::USUAL)
    }

    /// The last character of a line that goes on in the next one.
    pub fn continuation(self) -> char {
        match self {
            Shell::Posix => '\\',
            Shell::PowerShell => '`',
        }
    }

    /// The text as one word.
    pub(super) fn quoted(self, text: &str) -> String {
        match self {
            _ if self.is_plain(text) => text.to_owned(),
            Shell::Posix => in_quotes(text),
            Shell::PowerShell => in_powershell_quotes(text),
        }
    }

    /// Whether the shell takes this for one word without quotes.
    pub(super) fn is_plain(self, text: &str) -> bool {
        let also = match self {
            Shell::Posix => "-_./:@%+=,",
            // `@` and `,` make lists, and `%` ends what the shell parses.
            Shell::PowerShell => "-_./:+=",
        };
        // A leading `=` is a command's path in zsh. PowerShell splits a word with a dash in front at a dot or a colon.
        let is_split = self == Shell::PowerShell && text.starts_with('-') && text.contains(['.', ':']);
        !text.is_empty()
            && !text.starts_with('=')
            && !is_split
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
    }
}

pub(super) fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In PowerShell, nothing has a meaning in single quotes but these quotes, and typographic ones count as single quotes.
pub(super) fn in_powershell_quotes(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::Shell;

    #[test]
    fn the_platform_decides_the_usual_shell() {
        assert_eq!(Shell::usual(false), Shell::Posix);
        assert_eq!(Shell::usual(true), Shell::PowerShell);
        assert_eq!(Shell::USUAL, Shell::usual(cfg!(windows)));
    }
}
