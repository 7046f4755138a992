//! An explanation as its reader meets it: sentences, commands, and the chain.

/// One explanation.
#[derive(Debug, Default)]
pub struct Printed {
    /// All sentences in front of the chain and behind it, without the first lines and without headings.
    pub sentences: Vec<String>,
    /// What stands behind the names in the chain.
    pub states: Vec<String>,
    /// The line of the first command, from 0.
    pub first_command: Option<usize>,
}

impl Printed {
    /// Reads a text that prints these commands. `quoted` are the words of the cluster; each quotation becomes one word.
    pub fn new(text: &str, commands: &[&str], quoted: &[String]) -> Self {
        let lines: Vec<_> = text.lines().collect();
        let mut printed = Printed::default();
        let mut paragraphs: Vec<String> = Vec::new();
        let mut states: Vec<String> = Vec::new();
        let mut at = lines.iter().take_while(|line| !line.is_empty()).count();
        let (mut in_chain, mut begins) = (false, true);
        while let Some(line) = lines.get(at) {
            if let Some(taken) = command_lines(&lines[at..], commands) {
                printed.first_command.get_or_insert(at);
                at += taken;
                begins = true;
                continue;
            }
            at += 1;
            if line.is_empty() {
                (in_chain, begins) = (false, true);
            } else if line.starts_with("Chain") {
                in_chain = true;
            } else if in_chain {
                if line.contains("─ ") {
                    states.push(String::new());
                }
                if let Some(state) = states.last_mut() {
                    let line = line.trim_start_matches([' ', '│', '├', '└', '─']);
                    state.extend([line, " "]);
                }
            } else if is_step(line) || lines.get(at).is_none_or(|next| !is_step(next)) {
                begins |= is_step(line) || line.starts_with("  - ") || line.starts_with("Do not ");
                match paragraphs.last_mut() {
                    Some(paragraph) if !begins => paragraph.extend([" ", line.trim()]),
                    _ => paragraphs.push(line.trim().to_owned()),
                }
                begins = line.ends_with(['.', '?', '!', ':']);
            }
        }
        let unquoted = |text: &String| {
            quoted
                .iter()
                .fold(text.clone(), |text, quote| text.replace(quote, "…"))
        };
        for paragraph in paragraphs.iter().map(unquoted) {
            printed.sentences.extend(sentences(without_label(&paragraph)));
        }
        printed.states = states
            .iter()
            .filter_map(|state| Some(unquoted(&state.split_once("   ")?.1.to_owned())))
            .filter(|state| {
                !state.trim_end().ends_with("remove it") && !state.trim_end().ends_with("removes it")
            })
            .collect();
        printed
    }
}

/// How many lines the command takes that these lines begin with; none if they do not begin with one.
fn command_lines(lines: &[&str], commands: &[&str]) -> Option<usize> {
    let continued = lines.iter().take_while(|line| line.ends_with(" \\")).count();
    let whole = lines.get(..=continued)?;
    let words: Vec<_> = whole
        .iter()
        .map(|line| line.trim_end_matches('\\').trim())
        .collect();
    commands.contains(&&*words.join(" ")).then_some(continued + 1)
}

/// `  1. [safe] …`.
fn is_step(line: &str) -> bool {
    let line = line.trim_start();
    line.split_once(". [")
        .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn without_label(paragraph: &str) -> &str {
    let text = paragraph.strip_prefix("- ").unwrap_or(paragraph);
    if is_step(text) {
        text.split_once("] ").map_or(text, |(_, text)| text)
    } else {
        text
    }
}

fn sentences(paragraph: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in paragraph.split_whitespace() {
        if let Some(sentence) = sentences.last_mut() {
            sentence.extend([word, " "]);
        }
        if word.ends_with(['.', '?', '!']) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "IN USE  pvc/data-0 -n db, Terminating for 3m

No fault: pod/db-0 -n db uses it. It says: the volume
is busy.

What to do
  1. [read-only] See it. Then
     wait.
     kubectl get pod db-0 \\
       -n db
Do not remove it: the disk
  is lost.

Chain
  pvc/data-0 -n db
  └─ pod/db-0 -n db   keeps it: Running
     │                on node-7
";

    #[test]
    fn distinguishes_sentences_commands_and_the_chain() {
        let quoted = ["the volume is busy".to_owned()];
        let printed = Printed::new(TEXT, &["kubectl get pod db-0 -n db"], &quoted);
        assert_eq!(
            printed.sentences,
            [
                "No fault: pod/db-0 -n db uses it. ",
                "It says: …. ",
                "See it. ",
                "Then wait. ",
                "Do not remove it: the disk is lost. "
            ]
        );
        assert_eq!(printed.states, ["keeps it: Running on node-7 "]);
        assert_eq!(printed.first_command, Some(8));
    }
}
