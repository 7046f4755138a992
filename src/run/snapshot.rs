//! `snapshot`: scan, ask what explaining will ask, save.
//!
//! What a diagnosis asks next depends on what it was told, so nobody can list the questions beforehand. Instead the
//! replay itself is run on what has been saved so far; what it misses is asked for and saved, and it is run again,
//! until it misses nothing. So a replay finds everything that it asks for by construction.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use super::{
    block_on,
    look::{Limits, Look},
    scan,
    target::find,
    witness::Witness,
};
use crate::{
    cluster::{self, Server, connect::connect},
    diagnose::diagnose,
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    report::scan::By,
    settings,
    snapshot::{
        Snapshot, Why,
        facts::{Answer, Facts, Query},
        saved::{Counted, FORMAT, Head, Leftovers, Saved, VERSION},
        storage_leftovers::StorageLeftovers,
    },
};

mod file;

/// Asking ends after this much time. What was not asked by then is a gap of the snapshot.
const LONGEST: Duration = Duration::from_secs(120);
/// Rounds of asking at most; a chain of waits is rarely longer than four.
const ROUNDS: usize = 16;
/// Objects at most that are looked at one by one, those that are being deleted the longest first.
const OBJECTS: usize = 500;

pub(super) fn run(settings: &settings::Snapshot, knowledge: &Knowledge) -> Result<Exit, Error> {
    // Before the cluster is asked anything: what cannot be written need not be read.
    file::check(&settings.file)?;
    let Some(saved) = block_on(take(settings, knowledge))? else {
        super::warn("stopped; nothing was saved");
        return Ok(Exit::Interrupted);
    };
    let summary = summary(&saved);
    let saved = if settings.redact {
        saved
            .redacted(&words_of(knowledge))
            .map_err(|cause| Error::Write {
                path: settings.file.clone(),
                cause: cause.into(),
            })?
    } else {
        saved
    };
    let size = file::write(&saved, &settings.file)?;
    super::inform(&format!("{summary}: {} KB", size.div_ceil(1024)));
    Ok(Exit::Done)
}

/// Names that the catalogue has for whoever holds a finalizer. They tell which product somebody uses, and a diagnosis
/// goes by them.
fn words_of(knowledge: &Knowledge) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for entry in knowledge.all() {
        let holder = serde_json::to_string(&entry.holder).unwrap_or_default();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        words.extend(holder.split(|c| !is_of_name(c)).map(str::to_owned));
    }
    words
}

fn summary(saved: &Saved) -> String {
    let objects: u64 = saved.counts.iter().map(|counted| counted.objects).sum();
    let going = saved.kept.iter().filter(|seen| seen.deletion.is_some()).count();
    let gaps = match saved.gaps.len() {
        0 => String::new(),
        1 => ", 1 thing that could not be read".into(),
        more => format!(", {more} things that could not be read"),
    };
    format!(
        "saved {} types, {objects} objects, {going} of them being deleted, {} answers{gaps}",
        saved.counts.len(),
        saved.answers.len()
    )
}

/// None if the user stopped it: half a snapshot would say for ever what was only not read.
async fn take(settings: &settings::Snapshot, knowledge: &Knowledge) -> Result<Option<Saved>, Error> {
    let server = Server {
        connected: connect(&settings.connection).await?,
    };
    let (snapshot, _) = scan::see(&server, &settings.scan).await?;
    if snapshot.interrupted {
        return Ok(None);
    }
    let facts = cluster::initial_facts(&server).await?;
    let Some(suspects) = suspects(&server, &snapshot, &settings.scan, knowledge).await else {
        return Ok(None);
    };
    let mut saved = saved(snapshot, facts, suspects, &server, settings);
    let named = named(&saved, settings)?;
    tokio::select! {
        result = ask(&server, &mut saved, settings, &named, knowledge) => result.map(|()| Some(saved)),
        _ = tokio::signal::ctrl_c() => Ok(None),
    }
}

/// What looks left behind, of which a file holds no more than a scan would look at. None if the user stopped it.
async fn suspects(
    server: &Server,
    snapshot: &Snapshot,
    scan: &settings::Scan,
    knowledge: &Knowledge,
) -> Option<StorageLeftovers> {
    let mut look = Look::new(snapshot, scan, Limits::default(), knowledge);
    let witness = Witness::Server(server);
    tokio::select! {
        suspects = look.go_through(&witness) => {
            Some(suspects.unwrap_or_else(|| StorageLeftovers::unread(&Why::Interrupted)))
        }
        _ = tokio::signal::ctrl_c() => None,
    }
}

fn saved(
    snapshot: Snapshot,
    facts: Facts,
    suspects: StorageLeftovers,
    server: &Server,
    settings: &settings::Snapshot,
) -> Saved {
    let mut in_namespaces: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (namespace, types) in snapshot.tally.remaining {
        for (name, objects) in types {
            in_namespaces
                .entry(name)
                .or_default()
                .insert(namespace.clone(), objects);
        }
    }
    let mut kept = snapshot.tally.kept;
    kept.sort_by_cached_key(|seen| seen.object.clone());
    Saved {
        head: Head {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            redacted: false,
            source: snapshot.source,
            namespace: settings.namespace.clone(),
            default_namespace: settings
                .namespace
                .clone()
                .unwrap_or_else(|| server.connected.namespace.clone()),
            observed_at: snapshot.observed_at,
            looked_at: facts.now,
            interrupted: false,
        },
        types: facts.types,
        type_gaps: facts.gaps,
        counts: snapshot
            .types
            .into_iter()
            .map(|read| Counted {
                in_namespaces: in_namespaces.remove(&read.ty.name()).unwrap_or_default(),
                ty: read.ty,
                objects: read.objects,
            })
            .collect(),
        gaps: snapshot.gaps,
        notes: snapshot.notes,
        kept,
        leftovers: Some(Leftovers {
            namespaces: snapshot.namespaces,
            only_within: snapshot.only_within,
            in_namespaces: snapshot.tally.leftovers,
            storage: suspects,
        }),
        answers: BTreeMap::new(),
    }
}

/// The objects that were named on the command line.
fn named(saved: &Saved, settings: &settings::Snapshot) -> Result<Vec<Query>, Error> {
    let facts = saved.initial_facts();
    let mut notes = BTreeSet::new();
    let named = settings
        .targets
        .iter()
        .map(|(resource, name)| {
            let ty = find::type_of(resource, &facts, &mut notes)?;
            Ok(find::question(&ty, Some(&saved.head.default_namespace), name))
        })
        .collect();
    for note in &notes {
        super::warn(note);
    }
    named
}

/// Asks until neither a scan nor an explanation of any of these objects misses anything.
async fn ask(
    server: &Server,
    saved: &mut Saved,
    settings: &settings::Snapshot,
    named: &[Query],
    knowledge: &Knowledge,
) -> Result<(), Error> {
    let began = Instant::now();
    let mut objects = named.to_vec();
    objects.extend(going(saved));
    for _ in 0..ROUNDS {
        let missing = RefCell::default();
        let witness = Witness::Unfinished(saved, &missing);
        for (all, by) in [(false, By::Cause), (true, By::Cause), (false, By::Holder)] {
            let mut scan = settings.scan.clone();
            (scan.view.all, scan.view.by) = (all, by);
            scan::replay(witness, saved, &scan, knowledge).await?;
        }
        explain(witness, &objects, knowledge).await?;
        let missing = missing.into_inner();
        if missing.is_empty() {
            break;
        }
        let rest = LONGEST.saturating_sub(began.elapsed());
        let mut facts = saved.initial_facts();
        if tokio::time::timeout(rest, cluster::answer(server, missing, &mut facts))
            .await
            .is_err()
        {
            saved.notes.push(
                "the snapshot ended before every object was looked at, because that took too long".into(),
            );
            break;
        }
        saved.answers.extend(facts.answers);
    }
    missing_targets(saved, named)
}

/// The objects that are being deleted.
fn going(saved: &Saved) -> Vec<Query> {
    let mut going: Vec<_> = saved
        .kept
        .iter()
        .filter_map(|seen| Some((seen.deletion?.requested_at(), &seen.object)))
        .collect();
    going.sort();
    going
        .into_iter()
        .take(OBJECTS)
        .map(|(_, object)| Query::of(object))
        .collect()
}

/// Explains each object from what has been saved so far.
async fn explain(witness: Witness<'_>, objects: &[Query], knowledge: &Knowledge) -> Result<(), Error> {
    let mut facts = witness.first_look().await?;
    let queries: BTreeSet<_> = objects.iter().cloned().collect();
    witness.answer(queries, &mut facts).await;
    for query in objects {
        if let Some(Ok(Answer::Object(Some(object)))) = facts.answers.get(query) {
            let object = object.clone();
            for _ in 0..ROUNDS {
                let progress = diagnose(&object, &facts, knowledge);
                if progress.wanted.is_empty() || !witness.answer(progress.wanted, &mut facts).await {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Somebody who names an object wants it in the file.
fn missing_targets(saved: &Saved, named: &[Query]) -> Result<(), Error> {
    for query in named {
        let Query::Object { resource, name, .. } = query else {
            continue;
        };
        let why = match saved.answer(query) {
            Some(Ok(Answer::Object(None))) => "it does not exist".to_owned(),
            Some(Err(why)) => why.message(),
            None => Why::Interrupted.message(),
            Some(Ok(_)) => continue,
        };
        return Err(Error::Server {
            message: format!("cannot save {}/{name}: {why}; nothing was saved", resource.name()),
            hint: None,
        });
    }
    Ok(())
}
