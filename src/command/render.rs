//! Makes the line to paste, and the words that the program then gets.

use std::fmt;

use super::{Command, Part, Shell, Word, form::in_one_form, powershell, shell::in_quotes};
use crate::characters::is_unclear_in_a_command;

/// Why a command has no line to paste.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// A word has characters that cannot be seen. Quotes would keep them from the shell, but the reader could not tell what
    /// the command acts on.
    Unprintable,
    /// A name stands in a selector, a filter or a path of fields, and has characters that mean something there. Quotes
    /// keep them from the shell, but not from the program.
    Selecting,
    /// PowerShell has no form for its pipe.
    NotInPowerShell,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Withheld::Unprintable => {
                "the command is not shown, because a name in it has control or invisible characters"
            }
            Withheld::Selecting => {
                "the command is not shown, because a name in it would change what it selects"
            }
            Withheld::NotInPowerShell => {
                "the command is not shown, because PowerShell has no form for it: add --shell posix"
            }
        })
    }
}

/// Short flags whose value is the next word, but for `-n`.
const TAKES_VALUE: &[&str] = &["-c", "-f", "-l", "-o", "-p", "-e", "-L"];

impl Command {
    /// The line for the chosen shell.
    ///
    /// # Errors
    /// If there is no line to paste.
    pub fn render(&self) -> Result<String, Withheld> {
        self.render_for(Shell::chosen())
    }

    /// The line for this shell.
    ///
    /// # Errors
    /// If there is no line to paste.
    pub fn render_for(&self, shell: Shell) -> Result<String, Withheld> {
        Ok(self.pieces(shell)?.join(" "))
    }

    /// The parts of the line between which it can be continued on another line: a word, or a flag with its value.
    ///
    /// # Errors
    /// If there is no line to paste.
    pub fn pieces(&self, shell: Shell) -> Result<Vec<String>, Withheld> {
        if self
            .all_words()
            .any(|word| word.text().contains(is_unclear_in_a_command))
        {
            return Err(Withheld::Unprintable);
        }
        if !is_selecting_what_we_wrote(&self.words) {
            return Err(Withheld::Selecting);
        }
        match shell {
            Shell::Posix => Ok(self.posix_pieces()),
            Shell::PowerShell => self.powershell_pieces().ok_or(Withheld::NotInPowerShell),
        }
    }

    fn posix_pieces(&self) -> Vec<String> {
        let quoted = |word: &Word| word.quoted(Shell::Posix);
        let mut pieces = Vec::new();
        if let Some(input) = &self.input {
            pieces.push(format!("printf %s {} |", quoted(input)));
        }
        pieces.extend(together(&in_safe_order(&self.words), quoted));
        if let Some(filter) = &self.filter {
            pieces.push(format!("| grep {}", joined(&in_safe_order(filter), quoted)));
        }
        if let Some(output) = &self.output {
            pieces.push(format!("> {}", quoted(output)));
        }
        pieces
    }

    fn powershell_pieces(&self) -> Option<Vec<String>> {
        let words = in_safe_order(&self.words);
        let escapes = words
            .iter()
            .any(|word| powershell::is_given_differently(&word.text()));
        let quoted = |word: &Word| {
            if escapes {
                Shell::PowerShell.quoted(&powershell::escaped(&word.text()))
            } else {
                word.quoted(Shell::PowerShell)
            }
        };
        let mut pieces = Vec::new();
        if escapes {
            pieces.extend(powershell::BLOCK.map(str::to_owned));
        }
        if let Some(input) = &self.input {
            pieces.push(format!("{} |", powershell::input(&input.text())?));
        }
        pieces.extend(together(&words, quoted));
        if let Some(filter) = &self.filter {
            pieces.push(format!(
                "| {}",
                powershell::select_string(&in_safe_order(filter))?
            ));
        }
        if let Some(output) = &self.output {
            pieces.push(powershell::into_file(&output.text()));
        }
        if escapes {
            pieces.push(powershell::END_OF_BLOCK.to_owned());
        }
        Some(pieces)
    }

    /// One object in words that can follow `kubectl get`: `pvc/data-0 -n db`. Characters that cannot be seen are left to
    /// whoever prints it.
    pub fn object_words(type_name: &str, name: &str, namespace: &str) -> String {
        let get = Command::of("kubectl get {}/{} -n {}", [type_name, name, namespace]);
        let object: Vec<Word> = get.words.into_iter().skip(2).collect();
        joined(&in_safe_order(&object), |word| word.quoted(Shell::chosen()))
    }

    /// The program and its words, as the shell gives them.
    pub fn argv(&self) -> Vec<String> {
        in_safe_order(&self.words).iter().map(Word::text).collect()
    }

    /// The standard input of the program.
    pub fn input(&self) -> Option<String> {
        self.input.as_ref().map(Word::text)
    }

    /// The `grep` that the result goes through, and its words.
    pub fn filter(&self) -> Option<Vec<String>> {
        let words = in_safe_order(self.filter.as_deref()?);
        Some(
            [&Word::ours("grep")]
                .into_iter()
                .chain(&words)
                .map(Word::text)
                .collect(),
        )
    }

    /// The file that the result goes into.
    pub fn output(&self) -> Option<String> {
        self.output.as_ref().map(Word::text)
    }
}

impl fmt::Display for Command {
    /// The line to paste, or why there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.render() {
            Ok(line) => f.write_str(&line),
            Err(why) => write!(f, "({why})"),
        }
    }
}

/// The words in quotes, each flag together with its value.
fn together(words: &[Word], quoted: impl Fn(&Word) -> String) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_value = false;
    for word in words {
        match found.last_mut() {
            Some(flag) if is_value => flag.extend([" ", &quoted(word)]),
            _ => found.push(quoted(word)),
        }
        is_value = !is_value && word.takes_value();
    }
    found
}

fn joined(words: &[Word], quoted: impl Fn(&Word) -> String) -> String {
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Flags whose value is a selector.
const SELECTORS: &[&str] = &["-l", "--selector", "--field-selector"];
/// Begins a word whose rest is a selector, a filter or a path of fields.
const SELECTING: &[&str] = &[
    "--selector=",
    "--field-selector=",
    "--filter=",
    "jsonpath=",
    "custom-columns=",
    "go-template=",
];

/// Whether names of strangers are only names in each selector, filter and path. A comma in a name would add a
/// requirement to a selector of labels.
fn is_selecting_what_we_wrote(words: &[Word]) -> bool {
    let mut is_selector = false;
    words.iter().all(|word| {
        let begins = |beginning: &&str| matches!(word.0.first(), Some(Part::Ours(text)) if text.starts_with(beginning));
        let selects = is_selector || SELECTING.iter().any(begins);
        is_selector = word.ours_alone().is_some_and(|flag| SELECTORS.contains(&flag));
        !selects || word.0.iter().all(Part::is_plain_in_a_selector)
    })
}

/// The words in one form, such that no program takes a stranger's word for a flag: a value stands behind `=`, and an argument
/// behind `--`, which ends the flags.
fn in_safe_order(words: &[Word]) -> Vec<Word> {
    let words = in_one_form(words);
    let mut flags = Vec::new();
    let mut ordered = Vec::new();
    let mut rest = words.iter();
    let mut ended = None;
    while let Some(word) = rest.next() {
        let takes_value = word.takes_value();
        let into = if ended.is_some() && word.is_flag() {
            &mut flags
        } else {
            &mut ordered
        };
        if takes_value && let Some(value) = rest.next() {
            match word.long().filter(|_| value.is_dashed_by_a_stranger()) {
                Some(long) => into.push(value.behind(&format!("{long}="))),
                None => into.extend([word.clone(), value.clone()]),
            }
            continue;
        }
        if ended.is_none() && word.is_dashed_by_a_stranger() {
            ended = Some(ordered.len());
            ordered.push(Word::ours("--"));
            ordered.push(word.clone());
            continue;
        }
        into.push(word.clone());
    }
    if let Some(at) = ended {
        ordered.splice(at..at, flags);
    }
    ordered
}

impl Part {
    /// Whether the part is ours, or has only characters of names, and of indexes in a path of fields.
    fn is_plain_in_a_selector(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:[]".contains(c);
        match self {
            Part::Cluster(text) => text.chars().all(is_plain),
            Part::Ours(_) | Part::Open(_) => true,
        }
    }
}

impl Word {
    pub(super) fn ours(text: &str) -> Self {
        Word(vec![Part::Ours(text.to_owned())])
    }

    /// Whether the next word is the value of this flag.
    pub(super) fn takes_value(&self) -> bool {
        let text = self.text();
        self.is_flag() && (TAKES_VALUE.contains(&&*text) || self.long().is_some())
    }

    /// The long form of a flag whose value is the next word. It also takes the value after `=`.
    fn long(&self) -> Option<String> {
        match self.text() {
            short if short == "-n" => Some("--namespace".to_owned()),
            text => VALUED.contains(&&*text).then_some(text),
        }
    }

    /// The word behind a text of ours.
    fn behind(&self, text: &str) -> Self {
        let ours = Part::Ours(text.to_owned());
        Word([ours].into_iter().chain(self.0.iter().cloned()).collect())
    }

    /// The word for this shell. In a POSIX shell, what we wrote in front of a `=` stays outside of the quotes.
    fn quoted(&self, shell: Shell) -> String {
        let text = self.text();
        if shell == Shell::Posix
            && !shell.is_plain(&text)
            && let Some(Part::Ours(ours)) = self.0.first()
            && let Some((name, _)) = ours.split_once('=')
            && shell.is_plain(name)
        {
            let (_, value) = text.split_at(name.len() + 1);
            return format!("{name}={}", in_quotes(value));
        }
        shell.quoted(&text)
    }
}

/// Long flags whose value is the next word.
const VALUED: &[&str] = &[
    "--by",
    "--finalizer",
    "--raw",
    "--from",
    "--kubeconfig",
    "--context",
    "--type",
    "--accept",
    "--field-selector",
];
