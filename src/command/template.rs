//! Reads a command from text: a line of the catalogue, or a line in this program. The text uses the words and quotes
//! of a POSIX shell and little else. What a shell would act on is a mistake, and the build of the catalogue stops at it.

use serde::{Deserialize, Serialize};

use super::{Command, Effect, Part, Word, is_for_the_reader};

/// A command of the catalogue, with `{placeholders}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Template(String);

impl Template {
    /// The command with these values. A placeholder without a value stays open.
    pub fn fill(&self, value: impl FnMut(&str) -> Option<String>) -> Command {
        let (mut command, _) = parse(&self.0);
        command.fill(value);
        command
    }

    /// The effect of the command, for any values of its placeholders.
    pub fn effect(&self) -> Effect {
        self.fill(|_| None).effect()
    }

    /// The words in capitals, which the reader takes from what the step says.
    pub fn for_the_reader(&self) -> Vec<String> {
        let command = self.fill(|_| None);
        let words = command.open().filter(|name| is_for_the_reader(name));
        words.map(str::to_owned).collect()
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match parse(&text) {
            (_, Some(mistake)) => Err(format!("`{}` is no command: {mistake}", text.trim())),
            (_, None) => Ok(Template(text)),
        }
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.0
    }
}

/// Characters that a shell acts on outside quotes.
const ACTS: &str = ";&<>|$`()\\";
/// Characters that a shell acts on even in double quotes.
const ACTS_IN_QUOTES: &str = "$`\\";

/// The command in a text, and the first mistake. Whatever the mistake is, the command only has words, which are quoted
/// when it is rendered.
pub(super) fn parse(text: &str) -> (Command, Option<&'static str>) {
    let mut mistake = None;
    let mut stages = vec![Vec::new()];
    let mut output = None;
    let mut in_output = false;
    for token in tokens(text, &mut mistake) {
        match token {
            Token::Pipe => stages.push(Vec::new()),
            Token::Into => in_output = true,
            Token::Word(word) if in_output && output.is_none() => output = Some(word),
            Token::Word(word) => {
                if in_output {
                    mistake.get_or_insert("words follow the file that the result goes into");
                }
                if let Some(stage) = stages.last_mut() {
                    stage.push(word);
                }
            }
        }
    }
    if in_output && output.is_none() {
        mistake.get_or_insert("no file follows `>`");
    }
    if stages.iter().any(Vec::is_empty) {
        mistake.get_or_insert("a program is missing");
    }
    let begins = |stage: &[Word], word: &str| stage.first().is_some_and(|first| first.text() == word);
    let mut input = None;
    if let [first, _, ..] = &mut *stages
        && begins(first, "printf")
    {
        let is_text = matches!(&**first, [_, form, _] if form.text() == "%s");
        if is_text {
            input = first.pop();
        } else {
            mistake.get_or_insert("input is given with `printf %s TEXT`");
        }
        stages.remove(0);
    }
    let filter = match &mut *stages {
        [_, filter] if begins(filter, "grep") => {
            let words = filter.drain(1..).collect();
            stages.pop();
            Some(words)
        }
        _ => None,
    };
    if stages.len() > 1 {
        mistake.get_or_insert("a pipe leads only from `printf %s TEXT`, or into one `grep`");
    }
    let words: Vec<Word> = stages.into_iter().flatten().collect();
    if words.first().is_some_and(|program| {
        program
            .0
            .iter()
            .any(|part| !matches!(part, Part::Ours(text) if !text.contains('=')))
    }) {
        mistake.get_or_insert("the program is not a plain word");
    }
    let command = Command {
        input,
        words,
        filter,
        output,
    };
    (command, mistake)
}

enum Token {
    Word(Word),
    /// `|`
    Pipe,
    /// `>`
    Into,
}

fn tokens(text: &str, mistake: &mut Option<&'static str>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let (open, after_open) = placeholder(rest, quote.is_none());
        let is_alone = word.is_none() && after.starts_with(' ');
        match (quote, c) {
            _ if open.is_some() => {
                let word = word.get_or_insert_default();
                // A value inside of JSON could end the string that it stands in.
                if quote.is_some() && word.text().starts_with(['{', '[']) {
                    mistake.get_or_insert("a placeholder stands inside of JSON");
                }
                word.0.extend(open.map(|name| Part::Open(name.to_owned())));
                rest = after_open;
                continue;
            }
            (None, '|') if is_alone => tokens.push(Token::Pipe),
            (None, '>') if is_alone => tokens.push(Token::Into),
            (None, c) if c.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(end), c) if c == end => quote = None,
            (quote, c) => {
                match quote {
                    None if ACTS.contains(c) => {
                        mistake.get_or_insert(
                            "a shell would act on ; & < > | $ ` ( ) or \\; quote it, or write another step",
                        );
                    }
                    Some('"') if ACTS_IN_QUOTES.contains(c) => {
                        mistake
                            .get_or_insert("a shell acts on $, ` and \\ in double quotes; use single quotes");
                    }
                    None if word.is_none() && "#~".contains(c) => {
                        mistake.get_or_insert("a shell would act on # or ~ at the start of a word");
                    }
                    _ => {}
                }
                word.get_or_insert_default().push(c);
            }
        }
        rest = after;
    }
    if quote.is_some() {
        mistake.get_or_insert("a quote is not closed");
    }
    tokens.extend(word.take().map(Token::Word));
    tokens
}

impl Word {
    fn push(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Part::Ours(text)) => text.push(c),
            _ => self.0.push(Part::Ours(c.into())),
        }
    }
}

/// A leading `{placeholder}` and what follows it. One in capitals is always left to the reader. `{}` is one outside of quotes.
/// `{end}` belongs to jsonpath.
fn placeholder(text: &str, is_bare: bool) -> (Option<&str>, &str) {
    let Some((name, after)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return (None, text);
    };
    let is_name = (name != "end" && is_word_of(name, |c| c.is_ascii_lowercase()))
        || is_word_of(name, |c| c.is_ascii_uppercase());
    if is_name || (is_bare && name.is_empty()) {
        (Some(name), after)
    } else {
        (None, text)
    }
}

fn is_word_of(name: &str, is_letter: impl Fn(char) -> bool) -> bool {
    name.starts_with(&is_letter) && name.chars().all(|c| is_letter(c) || c == '-')
}
