//! `knowledge/rendered.results`: what the last run found. Written and read only here.
//!
//! A line `FILE KIND PLACE VERSION COMMIT DAY` begins an installation, and an indented one the controller of an entry. The
//! lines below that are its facts: a state, the fact, and what it recognised. At the end are the strangers.

use std::fmt::Write as _;

/// What became of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Found, also under another release name where there is one.
    Found,
    /// Only found under the usual release name and namespace.
    UsualOnly,
    /// Not rendered, but a text in the source of the program.
    InCode,
    /// Not found.
    Absent,
}

const WORDS: [(State, &str); 4] = [
    (State::Found, "found"),
    (State::UsualOnly, "usual-only"),
    (State::InCode, "in-code"),
    (State::Absent, "absent"),
];

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub state: State,
    pub fact: String,
    /// What it recognised, `Kind/name`.
    pub fits: Vec<String>,
}

/// The controller of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// `NAME KIND` of the first entry that has it.
    pub entry: String,
    pub lines: Vec<Line>,
}

/// One installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    pub file: String,
    pub what: String,
    pub place: String,
    pub version: String,
    pub revision: String,
    pub date: String,
    /// Why it could not be rendered.
    pub failure: Option<String>,
    pub controllers: Vec<Controller>,
}

/// A workload that an entry takes for its controller, though another product installs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stranger {
    /// The file of the entry.
    pub file: String,
    pub fact: String,
    /// What it takes for its controller, `Kind/name`.
    pub workload: String,
    /// Where that is installed from.
    pub place: String,
}

/// Everything in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    pub installations: Vec<Installation>,
    pub strangers: Vec<Stranger>,
}

const ARROW: &str = " -> ";

/// The text of the file.
pub fn write(results: &Results) -> String {
    let mut text = "# Written by scripts/rendered: FILE, PLACE, version, commit and its day; then each fact about the controller.\n"
        .to_owned();
    for one in &results.installations {
        let Installation {
            file,
            what,
            place,
            version,
            revision,
            date,
            ..
        } = one;
        let _ = writeln!(text, "{file} {what} {place} {version} {revision} {date}");
        if let Some(why) = &one.failure {
            let _ = writeln!(text, "  not-rendered {why}");
        }
        for controller in &one.controllers {
            let _ = writeln!(text, "  entry {}", controller.entry);
            for Line { state, fact, fits } in &controller.lines {
                let word = WORDS
                    .iter()
                    .find(|(one, _)| one == state)
                    .map_or("", |(_, word)| word);
                let arrow = if fits.is_empty() { "" } else { ARROW };
                let _ = writeln!(text, "    {word} {fact}{arrow}{}", fits.join(" "));
            }
        }
    }
    for Stranger {
        file,
        fact,
        workload,
        place,
    } in &results.strangers
    {
        let _ = writeln!(text, "stranger {file} {fact}{ARROW}{workload} {place}");
    }
    text
}

/// The results in the text of the file.
pub fn read(text: &str) -> Result<Results, String> {
    let mut results = Results::default();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
    {
        let wrong = || format!("line {} is not of the form that scripts/rendered writes", at + 1);
        add(&mut results, line).ok_or_else(wrong)?;
    }
    Ok(results)
}

/// Adds what one line says; nothing if it says nothing that is known.
fn add(results: &mut Results, line: &str) -> Option<()> {
    let (word, rest) = line.trim_start().split_once(' ')?;
    let depth = line.len() - line.trim_start().len();
    let last = results.installations.last_mut();
    match (depth, word) {
        (0, "stranger") => {
            let (file, rest) = rest.split_once(' ')?;
            let (fact, rest) = rest.split_once(ARROW)?;
            let (workload, place) = rest.split_once(' ')?;
            let [file, fact, workload, place] = [file, fact, workload, place].map(str::to_owned);
            results.strangers.push(Stranger {
                file,
                fact,
                workload,
                place,
            });
        }
        (0, file) => {
            let words: [&str; 5] = rest.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let [what, place, version, revision, date] = words.map(str::to_owned);
            results.installations.push(Installation {
                file: file.to_owned(),
                what,
                place,
                version,
                revision,
                date,
                failure: None,
                controllers: Vec::new(),
            });
        }
        (2, "not-rendered") => last?.failure = Some(rest.to_owned()),
        (2, "entry") => last?.controllers.push(Controller {
            entry: rest.to_owned(),
            lines: Vec::new(),
        }),
        (4, word) => {
            let (state, _) = WORDS.iter().find(|(_, one)| *one == word)?;
            let (fact, fits) = rest.split_once(ARROW).unwrap_or((rest, ""));
            last?.controllers.last_mut()?.lines.push(Line {
                state: *state,
                fact: fact.to_owned(),
                fits: fits.split_whitespace().map(str::to_owned).collect(),
            });
        }
        _ => return None,
    }
    Some(())
}
