//! `explain TARGET`: find the object, look until nothing more is wanted, show.

use std::{
    io::{BufWriter, Write, stdin, stdout},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{block_on, terminal, witness::Witness};
use crate::{
    cli::Format,
    cluster::{Server, connect::connect},
    diagnose::{Diagnosis, diagnose, diagnose_partly},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    object::ResourceType,
    output,
    report::ExplainReport,
    settings::Explain,
    snapshot::{
        What, Why,
        facts::{Answer, Facts, Object, Query, Resource},
        load::{self, Dump},
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
        match load::saved(&explain.from, &mut stdin)? {
            Some(saved) => block_on(each(Witness::Saved(&saved), targets, explain, knowledge))?,
            None => {
                let dump = load::dump(&explain.from, &mut stdin, Timestamp::now())?;
                block_on(from_dump(&dump, targets, explain, knowledge))?
            }
        }
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

/// From files that nobody made for this: twice, once with what they hold, once with what that proves.
async fn from_dump(
    dump: &Dump,
    targets: &[Named<'_>],
    explain: &Explain,
    knowledge: &Knowledge,
) -> Result<Vec<ExplainReport>, Error> {
    for fault in dump.faults() {
        if let What::File { path, line } = &fault.what {
            let place = line.map(|line| format!(":{line}")).unwrap_or_default();
            super::warn(&format!("{path}{place}: {}", fault.why.message()));
        }
    }
    super::inform(&format!("{}; what the files lack is not known", dump.when()));
    let (seen_by, proved_by) = (Witness::Dump(dump, true), Witness::Dump(dump, false));
    let (mut seen, mut proved) = (seen_by.first_look().await?, proved_by.first_look().await?);
    let mut reports = Vec::new();
    for target in targets {
        let object = find(proved_by, *target, explain.namespace.as_deref(), &mut proved).await?;
        let mut progress = diagnose_partly(&object, &seen, &proved, knowledge);
        for _ in 0..ROUNDS {
            let (now, also) = &progress;
            if now.wanted.is_empty() && also.is_empty() {
                break;
            }
            proved_by.answer(now.wanted.clone(), &mut proved).await;
            seen_by.answer(also.clone(), &mut seen).await;
            progress = diagnose_partly(&object, &seen, &proved, knowledge);
        }
        reports.push(ExplainReport::from(&progress.0.diagnosis));
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
