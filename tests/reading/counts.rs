//! What is counted, and the limits.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{commands, printed::Printed, recording::Recorded};

/// A clause of fewer words is a phrase that anybody uses twice.
const CLAUSE: usize = 5;

/// One count.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    WordsBeforeCause,
    LinesBeforeCommand,
    Lines,
    LongestSentence,
    RepeatedClauses,
    WrongCommands,
}

impl Count {
    pub const ALL: [Count; 6] = [
        Count::WordsBeforeCause,
        Count::LinesBeforeCommand,
        Count::Lines,
        Count::LongestSentence,
        Count::RepeatedClauses,
        Count::WrongCommands,
    ];

    /// The cause within 25 words, the next command within 12 lines, all within 30 lines, and no sentence over 20 words.
    pub fn limit(self) -> usize {
        match self {
            Count::WordsBeforeCause => 24,
            Count::LinesBeforeCommand => 11,
            Count::Lines => 30,
            Count::LongestSentence => 20,
            Count::RepeatedClauses | Count::WrongCommands => 0,
        }
    }

    pub fn heading(self) -> &'static str {
        match self {
            Count::WordsBeforeCause => "words before cause",
            Count::LinesBeforeCommand => "lines before command",
            Count::Lines => "lines",
            Count::LongestSentence => "longest sentence",
            Count::RepeatedClauses => "repeated clauses",
            Count::WrongCommands => "wrong commands",
        }
    }
}

/// The counts of one explanation.
#[derive(Debug)]
pub struct Counts {
    words_before_cause: usize,
    lines_before_command: usize,
    lines: usize,
    sentences: Vec<String>,
    repeated: Vec<String>,
    pub wrong_commands: Vec<String>,
}

impl Counts {
    /// Counts in a text and the JSON of the same explanation. An error if the text does not name the cause.
    pub fn new(
        text: &str,
        json: &Value,
        cause: &str,
        quoted: &[String],
        recorded: &[Recorded],
    ) -> Result<Self, String> {
        let steps = json["steps"].as_array().into_iter().flatten();
        let commands: Vec<_> = steps
            .clone()
            .filter_map(|step| step["command"].as_str())
            .collect();
        // An explanation of a cluster has no such line.
        let is_of_cluster = |line: &&str| !line.starts_with("Recorded ");
        let text = &text.lines().filter(is_of_cluster).collect::<Vec<_>>().join("\n");
        let printed = Printed::new(text, &commands, quoted);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (before, _) = flat
            .split_once(cause)
            .ok_or_else(|| format!("{cause} is not named"))?;
        Ok(Counts {
            words_before_cause: words(before),
            lines_before_command: printed.first_command.unwrap_or_default(),
            lines: text.lines().count(),
            repeated: repeated(&printed),
            sentences: printed.sentences,
            wrong_commands: steps
                .flat_map(|step| [commands::fault(step), commands::missing(step, recorded)])
                .flatten()
                .collect(),
        })
    }

    pub fn of(&self, count: Count) -> usize {
        match count {
            Count::WordsBeforeCause => self.words_before_cause,
            Count::LinesBeforeCommand => self.lines_before_command,
            Count::Lines => self.lines,
            Count::LongestSentence => self
                .sentences
                .iter()
                .map(|sentence| words(sentence))
                .max()
                .unwrap_or_default(),
            Count::RepeatedClauses => self.repeated.len(),
            Count::WrongCommands => self.wrong_commands.len(),
        }
    }

    /// The sentences, clauses and commands that are over a limit.
    pub fn over_limit(&self) -> impl Iterator<Item = String> {
        let long = self.sentences.iter().filter_map(|sentence| {
            let words = words(sentence);
            (words > Count::LongestSentence.limit()).then(|| format!("{words} words: {sentence}"))
        });
        let twice = self.repeated.iter().map(|clause| format!("repeated: {clause}"));
        long.chain(twice).chain(self.wrong_commands.iter().cloned())
    }
}

/// The words of a text. A quotation counts as one, and the namespace behind an object's name is a part of that name.
fn words(text: &str) -> usize {
    // A quotation is one word.
    let unquoted: Vec<_> = text.split('"').step_by(2).collect();
    let text = unquoted.join("…");
    let mut count = 0;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word == "-n" {
            words.next();
        } else if word.contains(|c: char| c.is_alphanumeric() || c == '…') {
            count += 1;
        }
    }
    count
}

/// The clauses that are said more than once.
fn repeated(printed: &Printed) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for text in printed.sentences.iter().chain(&printed.states) {
        let ends = |c: char| ",;()".contains(c);
        for clause in text.split(ends).flat_map(|part| part.split(": ")) {
            let clause = clause.trim().trim_end_matches(['.', '?', ':']).to_lowercase();
            if words(&clause) >= CLAUSE {
                *seen.entry(clause).or_default() += 1;
            }
        }
    }
    seen.retain(|_, times| *times > 1);
    seen.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counts(text: &str) -> Counts {
        Counts::new(text, &json!({}), "the cause", &[], &[]).unwrap()
    }

    #[test]
    fn counts_words_and_repeated_clauses() {
        let text = "STALLED  pvc/x -n db\n\nOne two the cause. Here it is said a second time: yes, so.\n\
            Do not do it: here it is said a second time.\n";
        let counts = counts(text);
        assert_eq!(counts.of(Count::WordsBeforeCause), 4);
        assert_eq!(counts.of(Count::LongestSentence), 11);
        assert_eq!(counts.of(Count::RepeatedClauses), 1);
        assert_eq!(counts.over_limit().count(), 1);
        assert!(Counts::new(text, &json!({}), "something else", &[], &[]).is_err());
    }
}
