//! `explain TARGET`: find each object, look until nothing more is wanted, show. One that cannot be explained does
//! not keep the others from it.

pub(super) mod find;
pub(super) mod look;
mod near;
pub(super) mod watch;

use std::{
    collections::BTreeSet,
    io::{BufWriter, Write, stdin, stdout},
};

use jiff::Timestamp;

use self::{look::Looking, watch::Watch};
use super::{block_on, terminal, witness::Witness};
use crate::{
    cli::Format,
    cluster::{Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::ObjectRef,
    output,
    report::ExplainReport,
    settings::Explain,
    snapshot::{
        What,
        facts::Facts,
        load::{self, Dump},
    },
};

/// An object that was asked about, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// Its type, as given.
    pub(super) resource: &'a str,
    /// Its name.
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
    let told = if explain.from.is_empty() {
        block_on(async {
            let server = Server {
                connected: connect(&explain.connection).await?,
            };
            tell(Witness::Server(&server), targets, explain, knowledge).await
        })?
    } else {
        let mut stdin = stdin().lock();
        if let Some(saved) = load::saved(&explain.from, &mut stdin)? {
            block_on(tell(Witness::Saved(&saved), targets, explain, knowledge))?
        } else {
            let dump = load::dump(&explain.from, &mut stdin, Timestamp::now())?;
            introduce(&dump);
            block_on(tell(Witness::Dump(&dump, false), targets, explain, knowledge))?
        }
    };
    told.notes.iter().for_each(|note| super::warn(note));
    show(&told.reports, explain.format)?;
    told.errors.iter().for_each(super::complain);
    Ok(told.exit())
}

/// What files are that nobody made for this.
fn introduce(dump: &Dump) {
    for fault in dump.faults() {
        if let What::File { path, line } = &fault.what {
            let place = line.map(|line| format!(":{line}")).unwrap_or_default();
            super::warn(&format!("{path}{place}: {}", fault.why.message()));
        }
    }
    super::inform(&format!("{}; what the files lack is not known", dump.when()));
}

async fn tell(
    witness: Witness<'_>,
    targets: &[Named<'_>],
    explain: &Explain,
    knowledge: &Knowledge,
) -> Result<Told, Error> {
    let mut watch = Watch::new();
    let mut told = Told::default();
    let asking = || "asking the server for its types".to_owned();
    if let Some(facts) = watch.over(asking, witness.first_look()).await {
        let mut looking = Looking {
            witness,
            knowledge,
            watch: &mut watch,
        };
        told.all(targets, explain, facts?, &mut looking).await;
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
        mut facts: Facts,
        looking: &mut Looking<'_>,
    ) {
        // `pvc/a` and `persistentvolumeclaims a` are one object.
        let mut known: BTreeSet<ObjectRef> = BTreeSet::new();
        for target in targets {
            let name = format!("{}/{}", target.resource, target.name);
            let witness = looking.witness;
            let finding = find::find(witness, *target, &explain.place, &mut facts, &mut self.notes);
            let objects = match looking
                .watch
                .over(|| format!("{name}: looking for it"), finding)
                .await
            {
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
                    let report = looking.at(&name, object, &mut facts).await;
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
