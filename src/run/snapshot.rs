//! `snapshot`: scan, read what `explain` will want, save.
//!
//! The next query of a diagnosis depends on the earlier answers, so nobody can list the queries in advance.
//! Instead, the replay runs on what is saved so far. Its missing queries are sent and saved, and the replay
//! runs again until nothing is missing. So a later replay finds every answer that it wants.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use super::{
    block_on,
    look::{Investigation, Limits},
    scan::{self, Telling},
    target::find,
    witness::Witness,
};
use crate::{
    cluster::{self, Server, connect::connect},
    diagnose::{Blocker, diagnose, fault::has_faults},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    report::scan::GroupBy,
    settings,
    snapshot::{
        Snapshot, Why,
        facts::{Answer, Facts, Query},
        saved::{Counted, FORMAT, Head, Leftovers, Saved, VERSION},
        storage_leftovers::StorageLeftovers,
    },
};

mod clusters;
mod file;

/// Reading ends after this time. Later queries become gaps in the snapshot.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Maximum number of rounds. A chain of waits is rarely longer than four.
const MAX_ROUNDS: usize = 16;
/// Maximum number of investigated objects. The longest terminating objects come first.
const MAX_OBJECTS: usize = 500;

pub(super) fn run(settings: &settings::Snapshot, knowledge: &Knowledge) -> Result<Exit, Error> {
    if let Some(clusters) = &settings.clusters {
        return clusters::run(clusters, settings, knowledge);
    }
    // Check the file before reading the cluster.
    file::check(&settings.file)?;
    let Some(saved) = block_on(take_snapshot(settings, knowledge))? else {
        super::warn("stopped; nothing was saved");
        return Ok(Exit::Interrupted);
    };
    let summary = save(saved, &settings.file, settings, knowledge)?;
    super::inform(&summary);
    Ok(Exit::Done)
}

/// Writes the snapshot, and returns what is in it, in words.
fn save(
    saved: Saved,
    path: &Path,
    settings: &settings::Snapshot,
    knowledge: &Knowledge,
) -> Result<String, Error> {
    let summary = summary(&saved);
    let saved = if settings.redact {
        saved.redacted(&knowledge.public())
    } else {
        saved
    };
    let size = file::write(&saved, path)?;
    Ok(format!("{summary}: {} KB", size.div_ceil(1024)))
}

fn summary(saved: &Saved) -> String {
    let objects: u64 = saved.counts.iter().map(|counted| counted.objects).sum();
    let terminating = saved.kept.iter().filter(|seen| seen.deletion.is_some()).count();
    let gaps = match saved.gaps.len() {
        0 => String::new(),
        1 => ", 1 thing that could not be read".into(),
        more => format!(", {more} things that could not be read"),
    };
    format!(
        "saved {} types, {objects} objects, {terminating} of them being deleted, {} answers{gaps}",
        saved.counts.len(),
        saved.answers.len()
    )
}

/// None if the user stopped it: an incomplete snapshot would report unread objects as missing for ever.
async fn take_snapshot(settings: &settings::Snapshot, knowledge: &Knowledge) -> Result<Option<Saved>, Error> {
    let server = Server {
        connected: connect(&settings.connection).await?,
    };
    let (snapshot, _) = scan::read_cluster(&server, &settings.scan).await?;
    complete(&server, snapshot, settings, knowledge).await
}

/// Adds what a later diagnosis will want to a cluster that was read.
async fn complete(
    server: &Server,
    snapshot: Snapshot,
    settings: &settings::Snapshot,
    knowledge: &Knowledge,
) -> Result<Option<Saved>, Error> {
    if snapshot.interrupted {
        return Ok(None);
    }
    let facts = cluster::initial_facts(server).await?;
    let Some(candidates) = leftover_candidates(server, &snapshot, &settings.scan, knowledge).await else {
        return Ok(None);
    };
    let mut saved = new_saved(snapshot, facts, candidates, server, settings);
    let named = named(&saved, settings)?;
    tokio::select! {
        result = read_missing_answers(server, &mut saved, settings, &named, knowledge) => result.map(|()| Some(saved)),
        _ = tokio::signal::ctrl_c() => Ok(None),
    }
}

/// Collects the leftover candidates, within the limits of a scan. None if the user stopped it.
async fn leftover_candidates(
    server: &Server,
    snapshot: &Snapshot,
    scan: &settings::Scan,
    knowledge: &Knowledge,
) -> Option<StorageLeftovers> {
    let mut investigation = Investigation::new(snapshot, scan, Limits::default(), knowledge);
    let witness = Witness::Server(server);
    tokio::select! {
        candidates = investigation.collect_candidates(&witness) => {
            Some(candidates.unwrap_or_else(|| StorageLeftovers::unread(&Why::Interrupted)))
        }
        _ = tokio::signal::ctrl_c() => None,
    }
}

fn new_saved(
    snapshot: Snapshot,
    facts: Facts,
    storage: StorageLeftovers,
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
            storage,
        }),
        answers: BTreeMap::new(),
    }
}

/// The objects on the command line.
fn named(saved: &Saved, settings: &settings::Snapshot) -> Result<Vec<Query>, Error> {
    let facts = saved.initial_facts();
    let mut notes = BTreeSet::new();
    let named = settings
        .targets
        .iter()
        .map(|(resource, name)| {
            let ty = find::type_of(resource, &facts, &mut notes)?;
            Ok(find::query_for(&ty, Some(&saved.head.default_namespace), name))
        })
        .collect();
    for note in &notes {
        super::warn(note);
    }
    named
}

/// Reads until neither a scan nor an explanation of these objects misses an answer.
async fn read_missing_answers(
    server: &Server,
    saved: &mut Saved,
    settings: &settings::Snapshot,
    named: &[Query],
    knowledge: &Knowledge,
) -> Result<(), Error> {
    let began = Instant::now();
    let mut objects = named.to_vec();
    objects.extend(terminating(saved));
    for _ in 0..MAX_ROUNDS {
        let missing = RefCell::default();
        let witness = Witness::Unfinished(saved, &missing);
        for (all, by) in [
            (false, GroupBy::Cause),
            (true, GroupBy::Cause),
            (false, GroupBy::Holder),
        ] {
            let mut scan = settings.scan.clone();
            (scan.view.all, scan.view.by) = (all, by);
            scan::replay(witness, saved, &scan, knowledge, Telling::Silent).await?;
        }
        explain(witness, &objects, knowledge).await?;
        let missing = missing.into_inner();
        if missing.is_empty() {
            break;
        }
        let rest = MAX_TIME.saturating_sub(began.elapsed());
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

/// The terminating objects.
fn terminating(saved: &Saved) -> Vec<Query> {
    let mut terminating: Vec<_> = saved
        .kept
        .iter()
        .filter_map(|seen| Some((seen.deletion?.requested_at(), &seen.object)))
        .collect();
    terminating.sort();
    terminating
        .into_iter()
        .take(MAX_OBJECTS)
        .map(|(_, object)| Query::of(object))
        .collect()
}

/// Explains each object from what is saved so far.
async fn explain(witness: Witness<'_>, objects: &[Query], knowledge: &Knowledge) -> Result<(), Error> {
    let mut facts = witness.initial_facts().await?;
    let mut queries: BTreeSet<_> = objects.iter().cloned().collect();
    queries.insert(Query::Version);
    witness.answer(queries, &mut facts).await;
    let mut faults = BTreeSet::new();
    for query in objects {
        for blocker in explain_one(witness, query, &mut facts, knowledge).await {
            add_faults(&blocker, &mut faults);
        }
    }
    witness.answer(faults.clone(), &mut facts).await;
    for query in &faults {
        explain_one(witness, query, &mut facts, knowledge).await;
    }
    Ok(())
}

/// Explains an object from what is saved so far. Returns what it waits for.
async fn explain_one(
    witness: Witness<'_>,
    query: &Query,
    facts: &mut Facts,
    knowledge: &Knowledge,
) -> Vec<Blocker> {
    let Some(Ok(Answer::Object(Some(object)))) = facts.answers.get(query) else {
        return Vec::new();
    };
    let object = object.clone();
    let mut blockers = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let progress = diagnose(&object, facts, knowledge);
        let waits = progress.diagnosis.waits.into_iter();
        blockers = waits.flat_map(|wait| wait.on).collect();
        if progress.wanted.is_empty() || !witness.answer(progress.wanted, facts).await {
            break;
        }
    }
    blockers
}

/// Adds the objects at and below a blocker that a scan names as the next to explain.
fn add_faults(blocker: &Blocker, faults: &mut BTreeSet<Query>) {
    let object = blocker
        .object
        .iter()
        .filter(|object| has_faults(&object.type_name));
    faults.extend(object.map(Query::of));
    let below = blocker.waits.iter().flat_map(|wait| &wait.on);
    blocker
        .on
        .iter()
        .chain(below)
        .for_each(|blocker| add_faults(blocker, faults));
}

/// Fails if an object on the command line is not in the snapshot.
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
