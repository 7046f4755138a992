//! Checks `knowledge/` and embeds it, so that the program parses no built-in YAML at run time.
//!
//! Mistakes fail the build. All of them are reported at once, with file, line and column.

#[path = "build/causes.rs"]
mod causes;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/characters.rs"]
mod characters;
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/command/mod.rs"]
mod command;
#[path = "build/commit.rs"]
mod commit;
#[path = "build/drift.rs"]
mod drift;
#[path = "build/embed.rs"]
mod embed;
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/knowledge/schema/mod.rs"]
mod schema;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use drift::{Look, Place};
use schema::{
    Datastore, DefaultReference, Deployer, Entry, Fate, Located, Loss, Mark, Mistake, Platform, TopicWords,
    VerifiedIn,
};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=knowledge");
    println!("cargo::rerun-if-changed=src/knowledge/schema");
    println!("cargo::rerun-if-changed=src/command");
    println!("cargo::rerun-if-changed=src/characters.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", causes::FOLDER);
    commit::tell();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(error) = causes::write(&out) {
        return fail(&[format!("cannot list the causes: {error}")]);
    }

    match read_all(Path::new("knowledge")) {
        Ok(Ok(all)) => match embed::write(&all, &out) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&[format!("cannot write the embedded catalogue: {error}")]),
        },
        Ok(Err(mistakes)) => fail(&mistakes.iter().map(ToString::to_string).collect::<Vec<_>>()),
        Err(error) => fail(&[format!("cannot read knowledge/: {error}")]),
    }
}

fn fail(messages: &[String]) -> ExitCode {
    for message in messages {
        println!("cargo::error={message}");
    }
    ExitCode::FAILURE
}

/// The content of `knowledge/`.
struct All {
    entries: Vec<Located>,
    platforms: Vec<Platform>,
    deployers: Vec<Deployer>,
    marks: Vec<Mark>,
    fates: Vec<Fate>,
    losses: Vec<Loss>,
    topics: Vec<TopicWords>,
    defaults: Vec<DefaultReference>,
    datastores: Vec<Datastore>,
}

/// Files of `knowledge/` that are for people and tests.
const BESIDE: [&str; 5] = [
    "NAMES",
    "README.md",
    "audits.yaml",
    "charts.yaml",
    "rendered.results",
];

fn read_all(folder: &Path) -> io::Result<Result<All, Vec<Mistake>>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|item| Ok(item?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();

    let (mut entries, mut mistakes) = (Vec::new(), Vec::new());
    let (mut platforms, mut deployers, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut fates, mut losses, mut topics, mut defaults, mut datastores) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut looks = Vec::new();
    for path in paths {
        if BESIDE.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if path.ends_with("drift.results") {
            looks = drift::read(&fs::read_to_string(&path)?).map_err(io::Error::other)?;
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "yaml") {
            // Do not skip it: an ignored `.yml` would look like a part of the catalogue.
            let message = "only .yaml files belong here".to_owned();
            mistakes.push(Mistake {
                file: path.display().to_string(),
                line: 0,
                column: 0,
                message,
            });
            continue;
        }
        let (file, text) = (path.display().to_string(), fs::read_to_string(&path)?);
        if path.ends_with("platforms.yaml") {
            match schema::platforms(&file, &text) {
                Ok(read) => platforms = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("deployers.yaml") {
            match schema::deployers(&file, &text) {
                Ok(read) => deployers = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("datastores.yaml") {
            match schema::datastores(&file, &text) {
                Ok(read) => datastores = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("fates.yaml") {
            match schema::fates(&file, &text) {
                Ok(read) => fates = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("losses.yaml") {
            match schema::losses(&file, &text) {
                Ok(read) => losses = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("topics.yaml") {
            match schema::topics(&file, &text) {
                Ok(read) => topics = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("defaults.yaml") {
            match schema::defaults(&file, &text) {
                Ok(read) => defaults = read,
                Err(found) => mistakes.push(found),
            }
        } else if path.ends_with("marks.yaml") {
            match schema::marks(&file, &text) {
                Ok(read) => marks = read,
                Err(found) => mistakes.push(found),
            }
        } else {
            match schema::read(&file, &text) {
                Ok(read) => entries.extend(read),
                Err(found) => mistakes.extend(found),
            }
        }
    }
    for located in &mut entries {
        located.entry.verified_in = verified_in(&located.entry, &looks);
    }
    mistakes.extend(schema::conflicts(&entries));
    mistakes.extend(unknown_platforms(&entries, &platforms));
    Ok(if mistakes.is_empty() {
        Ok(All {
            entries,
            platforms,
            deployers,
            marks,
            fates,
            losses,
            topics,
            defaults,
            datastores,
        })
    } else {
        Err(mistakes)
    })
}

/// The revisions in which the sources of an entry have its name. That alone does not verify an entry that nobody read.
fn verified_in(entry: &Entry, looks: &[Look]) -> Vec<VerifiedIn> {
    let has = |look: &Look| {
        let cites = |source: &String| {
            let repository = source.split_once(':').map(|(repository, _)| repository);
            repository == Some(&*look.repository)
        };
        let is_cited = |(name, place): &(String, Place)| *name == entry.name && place.is_cited();
        entry.sources.iter().any(cites) && look.names.iter().any(is_cited)
    };
    let looks = looks.iter().filter(|look| entry.verified && has(look));
    looks
        .map(|look| VerifiedIn {
            repository: look.repository.clone(),
            revision: look.revision.clone(),
            date: look.date.clone(),
        })
        .collect()
}

/// A platform in `hidden-on` that nothing recognises would hide nothing.
fn unknown_platforms(entries: &[Located], platforms: &[Platform]) -> Vec<Mistake> {
    let is_known = |name: &String| platforms.iter().any(|platform| platform.name == *name);
    entries
        .iter()
        .flat_map(|located| {
            located
                .entry
                .holder
                .hidden_on
                .iter()
                .map(move |name| (located, name))
        })
        .filter(|(_, name)| !is_known(name))
        .map(|(located, name)| Mistake {
            file: located.file.clone(),
            line: located.line,
            column: 1,
            message: format!("`hidden-on` names {name}, which platforms.yaml does not have"),
        })
        .collect()
}
