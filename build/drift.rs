//! What `scripts/drift` found: for each upstream repository a revision, and whether it has the names that the catalogue
//! says it has. `knowledge/drift.results` is written and read only here.
//!
//! A line `owner/repo REVISION DATE` begins a repository; the indented lines below it are about its names.

use std::fmt::Write as _;

/// Where a name was at one revision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In a file that the entry's `sources` name.
    Source,
    /// A file that the entry's `sources` name has its end, and the repository has its domain: the program joins them.
    Parts,
    /// Only in another file.
    Elsewhere(String),
    /// In no file. The program may build it from the name of a kind.
    Nowhere,
}

impl Place {
    /// Whether a file that the entry names still says it.
    pub(crate) fn is_cited(&self) -> bool {
        matches!(self, Place::Source | Place::Parts)
    }
}

/// What one repository has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// The repository, `owner/repo`.
    pub(crate) repository: String,
    /// The commit.
    pub(crate) revision: String,
    /// The day of the commit.
    pub(crate) date: String,
    /// Each name with its place.
    pub(crate) names: Vec<(String, Place)>,
}

/// The results in the text of the file.
pub(crate) fn read(text: &str) -> Result<Vec<Look>, String> {
    let mut looks: Vec<Look> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = || format!("line {} is not of the form that scripts/drift writes", at + 1);
        if line.starts_with('#') {
            continue;
        }
        if let (false, [repository, revision, date]) = (line.starts_with(' '), &*words) {
            looks.push(Look {
                repository: (*repository).to_owned(),
                revision: (*revision).to_owned(),
                date: (*date).to_owned(),
                names: Vec::new(),
            });
            continue;
        }
        let (name, place) = match *words {
            ["found", name] => (name, Place::Source),
            ["parts", name] => (name, Place::Parts),
            ["elsewhere", name, path] => (name, Place::Elsewhere(path.to_owned())),
            ["nowhere", name] => (name, Place::Nowhere),
            _ => return Err(wrong()),
        };
        let look = looks.last_mut().ok_or_else(wrong)?;
        look.names.push((name.to_owned(), place));
    }
    Ok(looks)
}

/// The text of the file.
#[allow(dead_code, reason = "build.rs only reads it; the test that looks writes it")]
pub(crate) fn write(looks: &[Look]) -> String {
    let mut text = "# Written by scripts/drift: owner/repo, commit and its day; then each name that cites the repository.\n"
        .to_owned();
    for look in looks {
        let _ = writeln!(text, "{} {} {}", look.repository, look.revision, look.date);
        for (name, place) in &look.names {
            let _ = match place {
                Place::Source => writeln!(text, "  found {name}"),
                Place::Parts => writeln!(text, "  parts {name}"),
                Place::Elsewhere(path) => writeln!(text, "  elsewhere {name} {path}"),
                Place::Nowhere => writeln!(text, "  nowhere {name}"),
            };
        }
    }
    text
}
