//! A command for people to paste, as a value: a program and its words. Every word knows which parts of it we wrote and
//! which a cluster said. Quotes are added once, when the command is rendered, so text of strangers is never more than
//! (a part of) one word.
//!
//! The shell language that a command can use is small and fixed: one text into the program, one `grep` behind it, one
//! file for the result. There are no substitutions, lists and conditions. So each command can be printed for a POSIX shell,
//! and nearly each for PowerShell.

mod effect;
mod form;
mod powershell;
mod render;
mod run_flags;
mod shell;
mod shown;
mod template;
#[cfg(test)]
pub(crate) use powershell::tests::check as check_in_powershell;
#[cfg(test)]
pub(crate) mod tests;
mod usual;

pub use effect::Effect;
pub use render::Withheld;
pub use run_flags::RunFlags;
pub use shell::Shell;
pub use shown::Shown;
pub use template::Template;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The standard input of the program: `printf %s INPUT | …`.
    input: Option<Word>,
    /// The program and its words.
    words: Vec<Word>,
    /// The words of a `grep` that the result goes through.
    filter: Option<Vec<Word>>,
    /// The file that the result goes into: `… > FILE`.
    output: Option<Word>,
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Word(Vec<Part>);

/// A part of a word, by where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// We wrote it.
    Ours(String),
    /// A cluster, a dump or a user said it.
    Cluster(String),
    /// Nobody has filled it in. It is shown in capitals.
    Open(String),
}

impl Command {
    /// The command of a template in this program. Each `{}` takes the next value, and `{words}` stay open. `-n {}` with
    /// an empty value is left out, because the object has no namespace.
    pub fn of<const N: usize>(template: &'static str, values: [&str; N]) -> Self {
        let (mut command, mistake) = template::parse(template);
        debug_assert_eq!(mistake, None, "{template}");
        let mut values = values.iter().peekable();
        command.fill(|name| {
            let value = values.next_if(|_| name.is_empty());
            value.map(|value| (*value).to_owned())
        });
        debug_assert!(values.next().is_none(), "{template} takes fewer values");
        command.drop_empty_namespace();
        command
    }

    /// Whether it begins with these words.
    fn begins_with(&self, words: &[&str]) -> bool {
        words.len() <= self.words.len()
            && self
                .words
                .iter()
                .zip(words)
                .all(|(word, given)| word.text() == *given)
    }

    /// The words that are left to the reader, such as `namespace`.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.all_words()
            .flat_map(|word| &word.0)
            .filter_map(|part| match part {
                Part::Open(name) => Some(name.as_str()),
                _ => None,
            })
    }

    fn fill(&mut self, mut value: impl FnMut(&str) -> Option<String>) {
        for part in self.all_words_mut().flat_map(|word| &mut word.0) {
            if let Part::Open(name) = part
                && let Some(value) = value(name)
            {
                *part = Part::Cluster(value);
            }
        }
        // A name may be a path. The file stays where the reader is.
        for part in self.output.iter_mut().flat_map(|word| &mut word.0) {
            if let Part::Cluster(text) = part {
                *text = text.replace(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)), "_");
            }
        }
    }

    fn drop_empty_namespace(&mut self) {
        self.drop_pair(|pair| pair.iter().map(Word::text).eq(["-n", ""]));
    }

    /// The command for an object without a namespace: `-n {namespace}` is left out.
    #[must_use]
    pub fn without_namespace(mut self) -> Self {
        let open = Word(vec![Part::Open("namespace".to_owned())]);
        self.drop_pair(|pair| matches!(pair, [flag, value] if flag.text() == "-n" && *value == open));
        self
    }

    fn drop_pair(&mut self, is_it: impl Fn(&[Word]) -> bool) {
        if let Some(at) = self.words.windows(2).position(is_it) {
            self.words.drain(at..at + 2);
        }
    }

    fn all_words(&self) -> impl Iterator<Item = &Word> {
        let filter = self.filter.iter().flatten();
        self.input
            .iter()
            .chain(&self.words)
            .chain(filter)
            .chain(&self.output)
    }

    /// In the order of the text, so that values are taken in the order of their places.
    fn all_words_mut(&mut self) -> impl Iterator<Item = &mut Word> {
        let filter = self.filter.iter_mut().flatten();
        let words = self.words.iter_mut();
        self.input
            .iter_mut()
            .chain(words)
            .chain(filter)
            .chain(&mut self.output)
    }
}

/// Whether the word is always left to the reader: no object tells its value, and the step explains it.
pub fn is_for_the_reader(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// A word that is left to the reader, as it is printed. Who must act is a controller to readers.
pub fn in_capitals(name: &str) -> String {
    name.replace("holder", "controller").to_uppercase()
}

impl Word {
    /// The word without quotes, as the program gets it.
    fn text(&self) -> String {
        self.0.iter().map(Part::text).collect()
    }

    /// Whether a stranger's text begins the word with a dash, and so a program could take it for a flag.
    fn is_dashed_by_a_stranger(&self) -> bool {
        let mut parts = self.0.iter().filter(|part| !part.text().is_empty());
        matches!(parts.next(), Some(Part::Cluster(text)) if text.starts_with('-'))
    }

    /// Whether it is a flag of ours.
    fn is_flag(&self) -> bool {
        matches!(self.0.first(), Some(Part::Ours(text)) if text.starts_with('-') && text != "-")
    }
}

impl Part {
    fn text(&self) -> String {
        match self {
            Part::Ours(text) | Part::Cluster(text) => text.clone(),
            Part::Open(name) => in_capitals(name),
        }
    }
}
