//! `explain`: separate finalizers from objects. This file explains finalizers, from the catalogue and without
//! a cluster; [`target`] explains objects.

use std::{
    io::{self, Read, Write, stderr, stdin},
    slice,
};

use super::{
    print::{Out, Printable, print, separate},
    target::{self, Named, Requested},
};
use crate::{
    command::Command,
    error::Error,
    exit::Exit,
    knowledge::{Knowledge, paste},
    object::one_of,
    output::{self, Style, safe::harmless},
    report::FinalizersReport,
    settings::{Asked, Explain, NamespaceChoice, Target, explained},
};

/// More than anybody pastes and more than any manifest has, so that a wrong pipe does not fill the memory.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

pub(super) fn run(explain: &Explain, knowledge: &Knowledge) -> Result<Exit, Error> {
    let targets = match &explain.asked {
        Asked::Stdin => paste::names(&read_stdin()?)
            .into_iter()
            .map(Target::Finalizer)
            .collect(),
        Asked::Words(words) => {
            let in_namespace = matches!(explain.place, NamespaceChoice::In(_));
            explained(words, knowledge, in_namespace)
        }
    };
    match &targets[..] {
        [] => return Err(nothing_named(&explain.asked)),
        [Target::Finalizer(word)] if explain.is_typed() && is_neither(word, knowledge) => {
            return Err(neither(word));
        }
        _ => {}
    }
    let mut names = Vec::new();
    let mut objects = Requested::default();
    for target in &targets {
        match target {
            Target::Finalizer(name) => names.push(name.as_str()),
            Target::Object { resource, name } => objects.certain.push(named(resource, name)?),
            Target::Open {
                objects: open,
                finalizers,
            } => {
                let wanted: Result<_, _> = open
                    .iter()
                    .map(|(resource, name)| named(resource, name))
                    .collect();
                objects.open.push((wanted?, finalizers));
            }
            Target::Type(resource) => return Err(only_a_type(resource)),
        }
    }
    // Finalizers come first: they need no cluster, and a missing cluster must not hide them.
    if objects.open.is_empty() && !names.is_empty() {
        print(&FinalizersReport::new(names.drain(..), knowledge), explain.format)?;
        if !objects.is_empty() {
            separate(explain.format)?;
        }
    }
    if objects.is_empty() {
        return Ok(Exit::Done);
    }
    let explained = target::run(&objects, explain, knowledge);
    let finalizers = match &explained {
        Ok((_, finalizers)) => finalizers.clone(),
        // Without the types of a cluster, the form decides.
        Err(_) => objects.open.iter().flat_map(|(_, words)| *words).collect(),
    };
    for word in &finalizers {
        super::warn(&format!("{} is read as a finalizer", harmless(word)));
    }
    let open: usize = objects.open.iter().map(|(_, words)| words.len()).sum();
    let has_objects = explained.is_ok() && (!objects.certain.is_empty() || finalizers.len() < open);
    names.extend(finalizers.into_iter().map(String::as_str));
    if !names.is_empty() {
        if has_objects {
            separate(explain.format)?;
        }
        print(&FinalizersReport::new(names, knowledge), explain.format)?;
    }
    match explained {
        Err(error) if objects.certain.is_empty() => {
            super::warn(&format!("no cluster was asked whether it is an object: {error}"));
            Ok(Exit::Done)
        }
        explained => explained.map(|(exit, _)| exit),
    }
}

fn named<'a>(resource: &'a str, name: &'a str) -> Result<Named<'a>, Error> {
    match why_not_a_name(name) {
        Some(why) => Err(not_a_name(resource, name, why)),
        None => Ok(Named { resource, name }),
    }
}

/// Whether the word can only be a mistake: not in the catalogue, and without the domain that finalizers have.
fn is_neither(word: &str, knowledge: &Knowledge) -> bool {
    !word.contains(['/', '.']) && knowledge.recognise(word).is_none()
}

fn neither(word: &str) -> Error {
    let name = plain_or(word, "NAME");
    Error::Usage {
        message: format!("{word} is neither a type of Kubernetes nor a finalizer of the catalogue"),
        hint: Some(format!(
            "name the type of an object too: TYPE/{name}; objects with a finalizer of this name: {}",
            Command::of("kubectl finalizers scan --finalizer {}", [word])
        )),
    }
}

fn nothing_named(asked: &Asked) -> Error {
    let (place, example) = match asked {
        Asked::Stdin => (
            "on standard input",
            "kubectl get pv NAME -o yaml | kubectl finalizers explain -",
        ),
        Asked::Words(_) => (
            "in what was given",
            "kubectl finalizers explain kubernetes.io/pv-protection",
        ),
    };
    Error::Usage {
        message: format!("there is no name of a finalizer {place}"),
        hint: Some(format!("for example: {example}")),
    }
}

fn only_a_type(resource: &str) -> Error {
    let (one, short) = one_of(resource);
    Error::Usage {
        message: format!("which {one}? Write {}/NAME", plain_or(short, "TYPE")),
        hint: Some(format!(
            "what is stuck: {}; what may hold its objects: {}",
            Command::of("kubectl finalizers scan {}", [resource]),
            Command::of("kubectl finalizers catalog --kinds {}", [resource])
        )),
    }
}

/// Why the API server rejects this name for every type. Other rules depend on the type
/// (`kubernetes/apimachinery:pkg/api/validation/path/name.go`). Such a name would lead to another URL path.
pub(super) fn why_not_a_name(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("there is no name behind the slash"),
        "." | ".." => Some("no object is called that"),
        _ if name.contains('/') => Some("no name of an object has a slash"),
        _ if name.contains('%') => Some("no name of an object has a percent sign"),
        _ => None,
    }
}

pub(super) fn not_a_name(resource: &str, name: &str, why: &str) -> Error {
    let kind = plain_or(resource, "TYPE");
    Error::Usage {
        message: format!("{resource}/{name}: {why}"),
        hint: Some(format!(
            "write {kind}/NAME or {kind} NAME; what is stuck: kubectl finalizers scan {kind}"
        )),
    }
}

/// The given word if it is safe in a command, otherwise a placeholder.
fn plain_or<'a>(given: &'a str, otherwise: &'a str) -> &'a str {
    let plain = given
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c));
    if plain && !given.starts_with('-') {
        given
    } else {
        otherwise
    }
}

fn read_stdin() -> Result<String, Error> {
    let unreadable = |cause| Error::Read {
        path: "standard input".into(),
        cause,
    };
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .take(INPUT_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > INPUT_LIMIT {
        return Err(unreadable(std::io::Error::other("more than 64 MiB")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Printable for FinalizersReport {
    type Document = Self;

    fn documents(&self) -> &[Self] {
        slice::from_ref(self)
    }

    fn write_names(&self, out: &mut Out) -> Result<(), Error> {
        output::finalizer::write_names(self, out)?;
        for unknown in self.finalizers.iter().filter(|one| !one.in_catalogue) {
            // Report every name that the output leaves out.
            drop(writeln!(
                stderr(),
                "{} is not in the catalogue",
                harmless(&unknown.name)
            ));
        }
        Ok(())
    }

    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        output::finalizer::write(self, wide, style, out)
    }

    fn has_no_such_form(&self) -> Error {
        let names: Vec<_> = self.finalizers.iter().map(|one| &*one.name).collect();
        Error::Usage {
            message: format!("there is no picture of a finalizer alone: {}", names.join(", ")),
            hint: Some("name an object, TYPE/NAME, or use another format".to_owned()),
        }
    }
}
