//! `explain TARGET`: find the object, look until nothing more is wanted, show.

use std::{
    io::{BufWriter, Write, stdin, stdout},
    time::{Duration, Instant},
};

use super::{block_on, terminal, witness::Witness};
use crate::{
    cli::Format,
    cluster::{Server, connect::connect},
    diagnose::{Diagnosis, diagnose},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::ResourceType,
    output,
    report::ExplainReport,
    settings::Explain,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
        load,
        select::select,
    },
};

/// Rounds of looking. A chain of waits is rarely longer than four; what is not seen by then is said to be unseen.
const ROUNDS: usize = 12;
/// Looking ends after this much time, whatever is still wanted.
const LONGEST: Duration = Duration::from_secs(60);

/// An object that was asked about, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// The type, in any form that kubectl takes.
    pub(super) resource: &'a str,
    /// The name.
    pub(super) name: &'a str,
}

/// Explains each target, one after the other.
pub(super) fn run(targets: &[Named<'_>], explain: &Explain, knowledge: &Knowledge) -> Result<Exit, Error> {
    let reports = if explain.from.is_empty() {
        block_on(async {
            let server = Server {
                connected: connect(&explain.connection).await?,
            };
            each(Witness::Server(&server), targets, explain, knowledge).await
        })?
    } else {
        let mut stdin = stdin().lock();
        let Some(saved) = load::saved(&explain.from, &mut stdin)? else {
            return Err(Error::Usage {
                message: "--from: explain reads snapshots".into(),
                hint: Some("take one with: kubectl finalizers snapshot FILE".into()),
            });
        };
        block_on(each(Witness::Saved(&saved), targets, explain, knowledge))?
    };
    show(&reports, explain.format)?;
    Ok(Exit::Done)
}

async fn each(
    witness: Witness<'_>,
    targets: &[Named<'_>],
    explain: &Explain,
    knowledge: &Knowledge,
) -> Result<Vec<ExplainReport>, Error> {
    let mut facts = witness.first_look().await?;
    let mut reports = Vec::new();
    for target in targets {
        let object = find(witness, *target, explain.namespace.as_deref(), &mut facts).await?;
        let diagnosis = look(witness, &object, &mut facts, knowledge).await;
        reports.push(ExplainReport::from(&diagnosis));
    }
    Ok(reports)
}

/// Looks, asks for what is wanted, and looks again.
pub(super) async fn look(
    witness: Witness<'_>,
    object: &Object,
    facts: &mut Facts,
    knowledge: &Knowledge,
) -> Diagnosis {
    let began = Instant::now();
    for _ in 0..ROUNDS {
        let progress = diagnose(object, facts, knowledge);
        if progress.wanted.is_empty() || began.elapsed() > LONGEST {
            return progress.diagnosis;
        }
        if !witness.answer(progress.wanted, facts).await {
            break;
        }
    }
    diagnose(object, facts, knowledge).diagnosis
}

async fn find(
    witness: Witness<'_>,
    target: Named<'_>,
    namespace: Option<&str>,
    facts: &mut Facts,
) -> Result<Object, Error> {
    let (ty, query) = question(target, namespace.unwrap_or(witness.namespace()), facts)?;
    witness.answer([query.clone()], facts).await;
    let place = match &query {
        Query::Object {
            namespace: Some(namespace),
            ..
        } => format!(" in namespace {namespace}"),
        _ => String::new(),
    };
    let what = format!("{} {}{place}", ty.name(), target.name);
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(Some(object)))) => Ok((**object).clone()),
        Some(Ok(_)) => Err(Error::Server {
            message: format!("{what} does not exist"),
            hint: Some(if ty.namespaced {
                "name another namespace with -n, or see: kubectl finalizers scan".into()
            } else {
                "if it was stuck, it is gone now".into()
            }),
        }),
        Some(Err(why)) => Err(unreadable(&what, why)),
        None => Err(unreadable(&what, &Why::Interrupted)),
    }
}

/// The type of what was named, and the question after the object.
pub(super) fn question(
    target: Named<'_>,
    namespace: &str,
    facts: &Facts,
) -> Result<(ResourceType, Query), Error> {
    let selection = select(&[target.resource.to_owned()], &facts.types)
        .map_err(|unknown| Error::unknown_type(&unknown, &facts.gaps))?;
    let Some(ty) = selection.types.into_iter().next() else {
        return Err(Error::Usage {
            message: format!("{:?} is not one type", target.resource),
            hint: None,
        });
    };
    let query = Query::Object {
        resource: Resource::new(&ty.group, &ty.plural),
        namespace: ty.namespaced.then(|| namespace.to_owned()),
        name: target.name.to_owned(),
    };
    Ok((ty, query))
}

fn unreadable(what: &str, why: &Why) -> Error {
    Error::Server {
        message: format!("cannot read {what}: {}", why.message()),
        hint: None,
    }
}

fn show(reports: &[ExplainReport], format: Format) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    let style = terminal::style();
    for (at, report) in reports.iter().enumerate() {
        match format {
            Format::Json => output::json::write(report, &mut out)?,
            Format::Yaml => {
                if at > 0 {
                    writeln!(out, "---")?;
                }
                output::yaml::write(report, &mut out)?;
            }
            Format::Name => writeln!(out, "{}/{}", report.target.resource, report.target.name)?,
            Format::Table | Format::Wide => {
                if at > 0 {
                    writeln!(out)?;
                }
                output::explain::write(report, format == Format::Wide, &style, &mut out)?;
            }
        }
    }
    out.flush()?;
    Ok(())
}
