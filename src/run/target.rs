//! `explain TARGET`: find each object, look until nothing more is wanted, show. One that cannot be explained does
//! not keep the others from it.

mod find;
mod look;
mod near;
mod watch;

use std::{
    collections::BTreeSet,
    io::{BufWriter, Write, stdout},
};

use self::watch::Watch;
use super::{block_on, terminal};
use crate::{
    cli::Format,
    cluster::{self, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::ObjectRef,
    output,
    report::ExplainReport,
    settings::Explain,
    snapshot::facts::Facts,
};

/// An object that was asked about, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// The type, in any form that kubectl takes.
    pub(super) resource: &'a str,
    /// The name.
    pub(super) name: &'a str,
}

/// What came of it.
#[derive(Default)]
struct Told {
    reports: Vec<ExplainReport>,
    errors: Vec<Error>,
    /// Where a word could have meant another type as well.
    notes: BTreeSet<String>,
    stopped: bool,
}

/// Explains each target, one after the other.
pub(super) fn run(targets: &[Named<'_>], explain: &Explain, knowledge: &Knowledge) -> Result<Exit, Error> {
    let told = block_on(tell(targets, explain, knowledge))?;
    told.notes.iter().for_each(|note| super::warn(note));
    show(&told.reports, explain.format)?;
    told.errors.iter().for_each(super::complain);
    Ok(told.exit())
}

async fn tell(targets: &[Named<'_>], explain: &Explain, knowledge: &Knowledge) -> Result<Told, Error> {
    let server = Server {
        connected: connect(&explain.connection).await?,
    };
    let mut watch = Watch::new();
    let mut told = Told::default();
    let asking = || "asking the server for its types".to_owned();
    let first = watch.over(asking, cluster::first_look(&server));
    if let Some(facts) = first.await {
        told.all(targets, explain, &server, facts?, knowledge, &mut watch)
            .await;
    } else {
        told.errors.push(stopped(None));
    }
    told.stopped = watch.stopped();
    Ok(told)
}

impl Told {
    async fn all(
        &mut self,
        targets: &[Named<'_>],
        explain: &Explain,
        server: &Server,
        mut facts: Facts,
        knowledge: &Knowledge,
        watch: &mut Watch,
    ) {
        // `pvc/a` and `persistentvolumeclaims a` are one object.
        let mut known: BTreeSet<ObjectRef> = BTreeSet::new();
        for target in targets {
            let name = format!("{}/{}", target.resource, target.name);
            let finding = find::find(server, *target, &explain.place, &mut facts, &mut self.notes);
            let objects = match watch.over(|| format!("{name}: looking for it"), finding).await {
                Some(Ok(objects)) => objects,
                Some(Err(error)) => {
                    self.errors.push(error);
                    continue;
                }
                None => {
                    self.errors.push(stopped(Some(&name)));
                    continue;
                }
            };
            for object in objects {
                if known.insert(object.reference()) {
                    let report = look::look(server, &name, object, &mut facts, knowledge, watch).await;
                    self.reports.push(report);
                }
            }
        }
    }

    /// What failed counts for more than what was wrongly typed: a script may try it again.
    fn exit(&self) -> Exit {
        let mut exits = self.errors.iter().map(Exit::from);
        if self.stopped {
            Exit::Interrupted
        } else if exits.clone().any(|exit| exit == Exit::Failed) {
            Exit::Failed
        } else {
            exits.next().unwrap_or(Exit::Done)
        }
    }
}

fn stopped(name: Option<&str>) -> Error {
    let what = name.map_or_else(|| "anything".to_owned(), ToOwned::to_owned);
    Error::Server {
        message: format!("stopped before {what} was read"),
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
            Format::Name if report.gone => super::warn(&report.headline),
            Format::Name => {
                if !output::explain::write_name(report, &mut out)? {
                    super::warn(&format!(
                        "left out {}: a shell would take its name for something else; -o json has it",
                        report.target.name
                    ));
                }
            }
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
