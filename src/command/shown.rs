//! A command in a report or in JSON: the line to paste, and its words for programs.

use serde::{Serialize, Serializer};

use super::{Command, Shell, Withheld};

/// A command as text and as words; all fields are empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The line for the chosen shell.
    pub command: Option<String>,
    /// The program and its words, without quotes.
    pub argv: Option<Vec<String>>,
    /// The standard input of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The `grep` that the result goes through, and its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Vec<String>>,
    /// The file that the result goes into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The parts of the line between which it can be continued on another line.
    #[serde(skip)]
    pub pieces: Vec<String>,
    /// Why there is a command and it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

impl Shown {
    /// The line to paste, or why it is not shown.
    pub fn line(&self) -> Option<&str> {
        self.command.as_deref().or(self.withheld.as_deref())
    }

    fn words(command: &Command) -> Self {
        Shown {
            argv: Some(command.argv()),
            input: command.input(),
            filter: command.filter(),
            output: command.output(),
            ..Shown::default()
        }
    }
}

impl From<&Command> for Shown {
    fn from(command: &Command) -> Self {
        match command.pieces(Shell::chosen()) {
            Ok(pieces) => Shown {
                command: Some(pieces.join(" ")),
                pieces,
                ..Shown::words(command)
            },
            Err(why) => Shown {
                withheld: Some(format!("({why})")),
                ..match why {
                    // Words that cannot be seen are no help to a program, either.
                    Withheld::Unprintable | Withheld::Selecting => Shown::default(),
                    Withheld::NotInPowerShell => Shown::words(command),
                }
            },
        }
    }
}

impl From<Option<&Command>> for Shown {
    fn from(command: Option<&Command>) -> Self {
        command.map(Into::into).unwrap_or_default()
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown::from(self).serialize(serializer)
    }
}
