//! `explain TYPE/NAME`: find each object, read until nothing more is wanted, print. An object that cannot be
//! explained does not stop the others.

pub(super) mod find;
pub(super) mod look;
mod near;
pub(super) mod watch;

use std::{
    collections::BTreeSet,
    io::{self, Write, stdin},
};

use jiff::Timestamp;

use self::{look::Explainer, watch::Watch};
use super::{
    block_on,
    print::{Out, Printable, print},
    witness::Witness,
};
use crate::{
    cluster::{Server, connect::connect},
    command::RunFlags,
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::{ObjectRef, ResourceType},
    output::{self, Style, picture::Graph},
    report::{ExplainReport, gaps, together},
    settings::Explain,
    snapshot::{
        What,
        facts::Facts,
        load::{self, Dump},
    },
};

/// A requested object, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// Its type, as given.
    pub(super) resource: &'a str,
    /// Its name.
    pub(super) name: &'a str,
}

/// What to explain.
#[derive(Default)]
pub(super) struct Requested<'a> {
    /// Objects.
    pub(super) certain: Vec<Named<'a>>,
    /// Objects if the cluster has their type. Otherwise the words behind them are finalizers.
    pub(super) open: Vec<(Vec<Named<'a>>, &'a [String])>,
}

impl Requested<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.certain.is_empty() && self.open.is_empty()
    }
}

/// The explanations of all requested objects.
#[derive(Default)]
struct Explanations<'a> {
    /// Words that turned out to be finalizers.
    finalizers: Vec<&'a String>,
    reports: Vec<ExplainReport>,
    errors: Vec<Error>,
    /// Notes about words that could mean another type too.
    notes: BTreeSet<String>,
    stopped: bool,
}

/// Explains the objects one after the other. Also returns the words that are finalizers in this cluster.
pub(super) fn run<'a>(
    targets: &Requested<'a>,
    explain: &Explain,
    knowledge: &Knowledge,
) -> Result<(Exit, Vec<&'a String>), Error> {
    let explanations = if explain.from.is_empty() {
        block_on(async {
            let server = Server {
                connected: connect(&explain.connection).await?,
            };
            let source = server.connected.server.clone();
            explain_all(Witness::Server(&server), source, targets, explain, knowledge).await
        })?
    } else {
        let mut stdin = stdin().lock();
        if let Some(saved) = load::saved(&explain.from, &mut stdin)? {
            let source = saved.head.source.clone();
            block_on(explain_all(
                Witness::Saved(&saved),
                source,
                targets,
                explain,
                knowledge,
            ))?
        } else {
            let dump = load::dump(&explain.from, &mut stdin, Timestamp::now())?;
            describe_dump(&dump);
            block_on(explain_all(
                Witness::Dump(&dump, false),
                load::source_name(&explain.from),
                targets,
                explain,
                knowledge,
            ))?
        }
    };
    explanations.notes.iter().for_each(|note| super::warn(note));
    if !explanations.reports.is_empty() {
        let explained = Explained {
            reports: &explanations.reports,
            there: &explain.run_flags(),
        };
        print(&explained, explain.format)?;
    }
    explanations.errors.iter().for_each(super::complain);
    Ok((explanations.exit_code(explain), explanations.finalizers))
}

/// Says what is wrong with the files, and from when they are.
fn describe_dump(dump: &Dump) {
    for fault in dump.faults() {
        if let What::File { path, line } = &fault.what {
            let place = line.map(|line| format!(":{line}")).unwrap_or_default();
            super::warn(&format!("{path}{place}: {}", fault.why.message()));
        }
    }
    super::inform(&format!("{}; what the files lack is not known", dump.when()));
}

async fn explain_all<'a>(
    witness: Witness<'_>,
    source: String,
    targets: &Requested<'a>,
    explain: &Explain,
    knowledge: &Knowledge,
) -> Result<Explanations<'a>, Error> {
    let mut watch = Watch::new();
    let mut explanations = Explanations::default();
    let asking = || "asking the server for its types".to_owned();
    if let Some(facts) = watch.show_progress(asking, witness.initial_facts()).await {
        let mut explainer = Explainer {
            witness,
            knowledge,
            watch: &mut watch,
        };
        explanations
            .add_all(targets, explain, facts?, &mut explainer)
            .await;
        let version = if explain.format.is_document() && !watch.stopped() {
            witness.server_version().await
        } else {
            None
        };
        for report in &mut explanations.reports {
            report.source.clone_from(&source);
            report.server_version.clone_from(&version);
        }
    } else {
        explanations.errors.push(stopped_error(None));
    }
    explanations.stopped = watch.stopped();
    Ok(explanations)
}

impl<'a> Explanations<'a> {
    async fn add_all(
        &mut self,
        targets: &Requested<'a>,
        explain: &Explain,
        mut facts: Facts,
        explainer: &mut Explainer<'_>,
    ) {
        // `pvc/a` and `persistentvolumeclaims a` are the same object.
        let mut known: BTreeSet<ObjectRef> = BTreeSet::new();
        let mut named = targets.certain.clone();
        for (objects, words) in &targets.open {
            let is_type =
                |target: &Named<'_>| find::type_of(target.resource, &facts, &mut BTreeSet::new()).is_ok();
            if objects.iter().all(is_type) {
                named.extend(objects);
            } else {
                self.finalizers.extend(*words);
            }
        }
        for target in &named {
            let name = format!("{}/{}", target.resource, target.name);
            let witness = explainer.witness;
            let finding = find::find(witness, *target, &explain.place, &mut facts, &mut self.notes);
            let objects = match explainer
                .watch
                .show_progress(|| format!("{name}: looking for it"), finding)
                .await
            {
                Some(Ok(objects)) => objects,
                Some(Err(error)) => {
                    self.errors.push(error);
                    continue;
                }
                None => {
                    self.errors.push(stopped_error(Some(&name)));
                    continue;
                }
            };
            for object in objects {
                if known.insert(object.reference()) {
                    let report = explainer
                        .explain(&name, object, &mut facts, &explain.run_flags())
                        .await;
                    self.reports.push(report);
                }
            }
        }
    }

    /// A failure takes precedence over a usage error: a script may retry it. Both take precedence over what was found.
    fn exit_code(&self, explain: &Explain) -> Exit {
        let is_asked = explain.exit_code;
        let has_gaps = |report: &ExplainReport| gaps::are_beside(&report.not_read, &explain.accepted_gaps);
        let mut exits = self.errors.iter().map(Exit::from);
        if self.stopped {
            Exit::Interrupted
        } else if exits.clone().any(|exit| exit == Exit::Failed) {
            Exit::Failed
        } else if let Some(exit) = exits.next() {
            exit
        } else if is_asked && self.reports.iter().any(ExplainReport::is_stuck) {
            Exit::Stuck
        } else if is_asked && self.reports.iter().any(has_gaps) {
            Exit::Incomplete
        } else {
            Exit::Done
        }
    }
}

/// `persistentvolumeclaims data-0 in namespace db`.
fn described(ty: &ResourceType, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{} {name} in namespace {namespace}", ty.name()),
        None => format!("{} {name}", ty.name()),
    }
}

fn stopped_error(name: Option<&str>) -> Error {
    let what = name.map_or_else(|| "anything".to_owned(), ToOwned::to_owned);
    Error::Server {
        message: format!("stopped before {what} was read"),
        hint: None,
    }
}

/// The explanations, as they are printed.
struct Explained<'a> {
    reports: &'a [ExplainReport],
    there: &'a RunFlags,
}

impl Printable for Explained<'_> {
    type Document = ExplainReport;

    fn documents(&self) -> &[ExplainReport] {
        self.reports
    }

    fn write_names(&self, out: &mut Out) -> Result<(), Error> {
        self.reports.iter().try_for_each(|report| name(report, out))
    }

    fn write_page(&self, out: &mut Out) -> Result<(), Error> {
        Ok(output::picture::html::write_explanations(self.reports, out)?)
    }

    fn graph(&self) -> Result<Graph, Error> {
        Ok(Graph::of_explanations(self.reports))
    }

    fn write_table(&self, wide: bool, style: &Style, out: &mut Out) -> io::Result<()> {
        for (at, report) in self.reports.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            output::explain::write(report, wide, style, out)?;
        }
        let mut together = together::of_explained(self.reports, self.there).into_iter();
        together.try_for_each(|together| output::explain::write_together(&together, style, out))
    }
}

fn name(report: &ExplainReport, out: &mut impl Write) -> Result<(), Error> {
    if report.gone {
        super::warn(&report.headline);
    } else if !output::explain::write_name(report, out)? {
        super::warn(&format!(
            "left out {}: a shell would take its name for something else; -o json has it",
            report.target.name
        ));
    }
    Ok(())
}
