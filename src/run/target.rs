//! `explain TARGET`: find the object, look until nothing more is wanted, show.

use std::{
    io::{BufWriter, Write, stdout},
    time::{Duration, Instant},
};

use super::{block_on, terminal};
use crate::{
    cli::Format,
    cluster::{self, Server, connect::connect},
    diagnose::{Diagnosis, diagnose},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output,
    report::ExplainReport,
    settings::Explain,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
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
    let reports = block_on(async {
        let server = Server {
            connected: connect(&explain.connection).await?,
        };
        let mut facts = cluster::first_look(&server).await?;
        let mut reports = Vec::new();
        for target in targets {
            let object = find(&server, *target, explain.namespace.as_deref(), &mut facts).await?;
            let diagnosis = look(&server, &object, &mut facts, knowledge).await;
            reports.push(ExplainReport::from(&diagnosis));
        }
        Ok(reports)
    })?;
    show(&reports, explain.format)?;
    Ok(Exit::Done)
}

/// Looks, asks for what is wanted, and looks again.
async fn look(server: &Server, object: &Object, facts: &mut Facts, knowledge: &Knowledge) -> Diagnosis {
    let began = Instant::now();
    for _ in 0..ROUNDS {
        let progress = diagnose(object, facts, knowledge);
        if progress.wanted.is_empty() || began.elapsed() > LONGEST {
            return progress.diagnosis;
        }
        cluster::answer(server, progress.wanted, facts).await;
    }
    diagnose(object, facts, knowledge).diagnosis
}

async fn find(
    server: &Server,
    target: Named<'_>,
    namespace: Option<&str>,
    facts: &mut Facts,
) -> Result<Object, Error> {
    let selection = select(&[target.resource.to_owned()], &facts.types)
        .map_err(|unknown| Error::unknown_type(&unknown, &facts.gaps))?;
    let Some(ty) = selection.types.into_iter().next() else {
        return Err(Error::Usage {
            message: format!("{:?} is not one type", target.resource),
            hint: None,
        });
    };
    let namespace = ty
        .namespaced
        .then(|| namespace.unwrap_or(&server.connected.namespace).to_owned());
    let query = Query::Object {
        resource: Resource::new(&ty.group, &ty.plural),
        namespace: namespace.clone(),
        name: target.name.to_owned(),
    };
    cluster::answer(server, [query.clone()], facts).await;
    let place = namespace
        .as_ref()
        .map(|namespace| format!(" in namespace {namespace}"))
        .unwrap_or_default();
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
