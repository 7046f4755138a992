//! What the cluster has, or the files of `--from`.

use std::{collections::BTreeSet, io::empty, time::Duration};

use clap_complete::CompletionCandidate;
use jiff::Timestamp;
use tokio::time::timeout;

use super::typed::Typed;
use crate::{
    cluster::{
        self, Server,
        connect::{Named, connect_from, named, surroundings::Surroundings},
    },
    error::Error,
    object::{List, ResourceType},
    run::{
        block_on,
        target::{self, find},
        witness::Witness,
    },
    settings::{Connection, NamespaceChoice},
    snapshot::{
        facts::{Facts, Object},
        load,
    },
};

/// A person waits for the next letter. Two seconds are enough for a distant cluster.
const LIMIT: Duration = Duration::from_secs(2);

/// Asks the cluster or the files; none if that fails or takes too long.
fn ask<T>(typed: &Typed, ask: impl AsyncFnOnce(Witness<'_>) -> Result<T, Error>) -> Option<T> {
    let answer = async {
        if typed.from.is_empty() {
            let connection = Connection::new(typed.connection.clone())?;
            let connected = connect_from(&connection, &Surroundings::of_completion()).await?;
            return ask(Witness::Server(&Server { connected })).await;
        }
        match load::saved(&typed.from, &mut empty())? {
            Some(saved) => ask(Witness::Saved(&saved)).await,
            None => {
                ask(Witness::Dump(
                    &load::dump(&typed.from, &mut empty(), Timestamp::now())?,
                    false,
                ))
                .await
            }
        }
    };
    block_on(async { Ok(timeout(LIMIT, answer).await) })
        .ok()?
        .ok()?
        .ok()
}

/// The names in the kubeconfig.
pub(super) fn kubeconfig(typed: &Typed) -> Named {
    let file = typed.connection.kubeconfig.as_deref();
    named(file, &Surroundings::of_completion()).unwrap_or_default()
}

/// `TYPE` and `TYPE/NAME` for the current word, or the names of a type that is already typed.
pub(super) fn targets(typed: &Typed, current: &str) -> Vec<CompletionCandidate> {
    let found = match (current.split_once('/'), typed.targets.first()) {
        (Some((ty, _)), _) => objects(typed, ty, &format!("{ty}/")),
        (None, Some(ty)) if !ty.contains('/') => objects(typed, ty, ""),
        _ => return types(typed),
    };
    let is_new = |candidate: &CompletionCandidate| {
        let value = candidate.get_value().to_string_lossy();
        !typed.targets.iter().any(|target| *target == value)
    };
    found.into_iter().filter(is_new).collect()
}

/// The namespaces, those in deletion first.
pub(super) fn namespaces(typed: &Typed) -> Vec<CompletionCandidate> {
    objects(typed, "namespaces", "")
}

/// The types that can be listed, as `kubectl api-resources -o name` has them. Without --etcd, only volumes and their
/// claims can be rescued.
pub(super) fn types(typed: &Typed) -> Vec<CompletionCandidate> {
    if typed.verb == "rescue" && !typed.etcd {
        return ["persistentvolumeclaims", "persistentvolumes"]
            .map(CompletionCandidate::new)
            .into();
    }
    let names = ask(typed, async |witness| {
        let facts = witness.initial_facts().await?;
        Ok(facts
            .types
            .iter()
            .map(ResourceType::name)
            .collect::<BTreeSet<_>>())
    });
    names
        .into_iter()
        .flatten()
        .map(CompletionCandidate::new)
        .collect()
}

/// The names of the objects of a type, those in deletion first.
fn objects(typed: &Typed, ty: &str, prefix: &str) -> Vec<CompletionCandidate> {
    let names = ask(typed, async |witness| {
        let facts = witness.initial_facts().await?;
        names(witness, typed, ty, &facts).await
    });
    let candidate = |(remains, name): (bool, String)| {
        let candidate = CompletionCandidate::new(format!("{prefix}{name}"));
        candidate.help((!remains).then(|| "Terminating".into()))
    };
    names.into_iter().flatten().map(candidate).collect()
}

/// Each name once, after whether the object is not being deleted.
async fn names(
    witness: Witness<'_>,
    typed: &Typed,
    ty: &str,
    facts: &Facts,
) -> Result<BTreeSet<(bool, String)>, Error> {
    let ty = find::type_of(ty, facts, &mut BTreeSet::new())?;
    let place = NamespaceChoice::of(&typed.connection);
    let namespace = match &place {
        _ if !ty.namespaced => None,
        NamespaceChoice::In(namespace) => Some(namespace.as_str()),
        NamespaceChoice::OfContext => Some(witness.namespace()),
        NamespaceChoice::Anywhere => None,
    };
    let names: Result<Vec<_>, _> = if let Witness::Server(server) = witness {
        let objects = cluster::metadata(server, &ty, namespace).await;
        objects.map(|objects| {
            let each = objects.iter();
            each.map(|object| (object.deletion().is_none(), object.name().to_owned()))
                .collect()
        })
    } else {
        let names = witness.names(&ty, namespace, None).await;
        names.map(|names| names.into_iter().map(|(_, name)| (true, name)).collect())
    };
    let names = names.map_err(|why| find::unreadable(&ty, &ty.name(), &why))?;
    Ok(names.into_iter().collect())
}

/// The finalizers of the typed object.
pub(super) fn finalizers(typed: &Typed) -> Vec<String> {
    let (ty, name) = match &typed.targets[..] {
        [name, ..] if typed.verb == "finalize" => ("namespaces", name.as_str()),
        [ty, name, ..] if !ty.contains('/') => (ty.as_str(), name.as_str()),
        [target, ..] => match target.split_once('/') {
            Some(target) => target,
            None => return Vec::new(),
        },
        [] => return Vec::new(),
    };
    let list = if typed.verb == "finalize" {
        List::Spec
    } else {
        List::Metadata
    };
    let found = ask(typed, async |witness| {
        let mut facts = witness.initial_facts().await?;
        let target = target::Named { resource: ty, name };
        let place = NamespaceChoice::of(&typed.connection);
        let objects = find::find(witness, target, &place, &mut facts, &mut BTreeSet::new()).await?;
        let entries = objects.iter().flat_map(Object::finalizers);
        let names: BTreeSet<_> = entries
            .filter(|entry| entry.list == list)
            .map(|entry| entry.name)
            .collect();
        Ok(names)
    });
    found.into_iter().flatten().collect()
}
