//! `explain`: find the names in what was given, report what is known, show. Asks no cluster.

use std::io::{BufWriter, Read, Write, stderr, stdin, stdout};

use super::terminal;
use crate::{
    cli::Format,
    error::Error,
    exit::Exit,
    knowledge::{Knowledge, paste},
    output::{self, safe::harmless},
    report::FinalizersReport,
    settings::{Asked, Explain, Target},
};

/// More than a person pastes and than any manifest holds, so that a wrong pipe does not fill the memory.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

pub(super) fn run(explain: &Explain, knowledge: &Knowledge) -> Result<Exit, Error> {
    let targets = match &explain.asked {
        Asked::Stdin => paste::names(&read_stdin()?)
            .into_iter()
            .map(Target::Finalizer)
            .collect(),
        Asked::Words(words) => Target::of_words(words, knowledge),
    };
    let names = finalizers(&targets, explain)?;
    let report = FinalizersReport::new(names, knowledge);
    show(&report, explain.format)?;
    Ok(Exit::Done)
}

/// Only finalizers can be explained yet.
fn finalizers<'a>(targets: &'a [Target], explain: &Explain) -> Result<Vec<&'a str>, Error> {
    if targets.is_empty() {
        let (place, example) = match explain.asked {
            Asked::Stdin => (
                "on standard input",
                "kubectl get pv NAME -o yaml | kubectl finalizers explain -",
            ),
            Asked::Words(_) => (
                "in what was given",
                "kubectl finalizers explain kubernetes.io/pv-protection",
            ),
        };
        return Err(Error::Usage {
            message: format!("there is no name of a finalizer {place}"),
            hint: Some(format!("for example: {example}")),
        });
    }
    targets
        .iter()
        .map(|target| match target {
            Target::Finalizer(name) => Ok(name.as_str()),
            Target::Object { resource, name } => Err(not_a_finalizer(
                resource,
                name.as_deref(),
                explain.namespace.as_deref(),
            )),
        })
        .collect()
}

fn not_a_finalizer(resource: &str, name: Option<&str>, namespace: Option<&str>) -> Error {
    let Some(name) = name else {
        return Error::Usage {
            message: format!("{resource} is a type, not a finalizer"),
            hint: Some(format!(
                "what may hold its objects: kubectl finalizers catalog --kinds {}; what does: kubectl finalizers \
                 scan {0}",
                word(resource, "TYPE")
            )),
        };
    };
    let (ty, object) = (word(resource, "TYPE"), word(name, "NAME"));
    let namespace = namespace
        .map(|namespace| format!(" -n {}", word(namespace, "NAMESPACE")))
        .unwrap_or_default();
    Error::Usage {
        message: format!("{resource}/{name} is an object; this version explains finalizers, not objects"),
        hint: Some(format!(
            "kubectl get {ty} {object}{namespace} -o jsonpath='{{.metadata.finalizers}}' | kubectl finalizers \
             explain -   or, to see what is stuck: kubectl finalizers scan {ty}{namespace}"
        )),
    }
}

/// What can be put into a command as it is; for anything else what it stands for.
fn word<'a>(given: &'a str, otherwise: &'a str) -> &'a str {
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

fn show(report: &FinalizersReport, format: Format) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    match format {
        Format::Json => output::json::write(report, &mut out)?,
        Format::Yaml => output::yaml::write(report, &mut out)?,
        Format::Name => {
            output::finalizer::write_names(report, &mut out)?;
            for unknown in report.finalizers.iter().filter(|one| !one.in_catalogue) {
                // Nothing is left out without a word.
                drop(writeln!(
                    stderr(),
                    "{} is not in the catalogue",
                    harmless(&unknown.name)
                ));
            }
        }
        Format::Table | Format::Wide => {
            output::finalizer::write(report, format == Format::Wide, &terminal::style(), &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}
