//! `rescue --print-etcd-commands`: looks where the etcd of the cluster runs, and prints how to reach it.

use std::{
    collections::BTreeSet,
    io::{BufWriter, Write, stdout},
};

use super::{
    block_on,
    target::{Named, find},
    terminal,
    witness::Witness,
};
use crate::{
    cluster::{Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::{
        Knowledge,
        schema::{Datastore, Pods},
    },
    output,
    plan::{Instead, Reach, cannot_unmark, possible, reach, without_etcd},
    settings::EtcdCommands,
    snapshot::facts::{Answer, By, Facts, Object, Query, Resource},
};

pub(super) fn run(asked: &EtcdCommands, knowledge: &Knowledge) -> Result<Exit, Error> {
    block_on(print_commands(asked, knowledge))
}

async fn print_commands(asked: &EtcdCommands, knowledge: &Knowledge) -> Result<Exit, Error> {
    let server = Server {
        connected: connect(&asked.connection).await?,
    };
    let witness = Witness::Server(&server);
    let mut facts = witness.initial_facts().await?;
    let (resource, name) = &asked.target;
    let named = Named { resource, name };
    let found = find::find(witness, named, &asked.place, &mut facts, &mut BTreeSet::new()).await?;
    if let Some(refusal) = found.iter().find_map(cannot_unmark) {
        return Err(refused(&refusal.why, Some(*refusal.instead)));
    }
    witness.answer([Query::Version], &mut facts).await;
    let version = match facts.answers.get(&Query::Version) {
        Some(Ok(Answer::Version(version))) => version.clone(),
        _ => String::new(),
    };
    let candidates = possible(knowledge.datastores(), &version);
    let (mut all, mut unread) = (Vec::new(), None);
    for datastore in &candidates {
        match places(witness, datastore, &mut facts).await {
            Ok(places) => {
                let pairs = places
                    .iter()
                    .flat_map(|place| found.iter().map(move |one| (place, one)));
                all.extend(pairs.map(|(place, object)| reach(datastore, place, object)));
            }
            Err(error) => unread = unread.or(Some(error)),
        }
        if !all.is_empty() {
            break;
        }
    }
    if all.is_empty() {
        return Err(unread.unwrap_or_else(|| none_found(&candidates, found.first())));
    }
    show(&all)?;
    Ok(Exit::Done)
}

/// Where the etcd of this distribution runs.
async fn places(
    witness: Witness<'_>,
    datastore: &Datastore,
    facts: &mut Facts,
) -> Result<Vec<Object>, Error> {
    let search = |plural: &str, namespace: Option<&str>, labels: &str| Query::Search {
        resource: Resource::new("", plural),
        namespace: namespace.map(str::to_owned),
        by: By::Labels(labels.to_owned()),
    };
    let pods = datastore
        .pods
        .iter()
        .map(|Pods { namespace, labels }| search("pods", Some(namespace), labels));
    let nodes = datastore.nodes.iter().map(|label| search("nodes", None, label));
    let mut all = Vec::new();
    for query in pods.chain(nodes) {
        witness.answer([query.clone()], facts).await;
        match facts.answers.get(&query) {
            Some(Ok(Answer::List(found))) => all.extend(found.iter().cloned()),
            Some(Err(why)) => {
                return Err(Error::Server {
                    message: format!("cannot look for etcd: {}", why.message()),
                    hint: Some("ask somebody who may list nodes, and the pods of the control plane".into()),
                });
            }
            _ => {}
        }
    }
    Ok(all)
}

fn none_found(candidates: &[&Datastore], object: Option<&Object>) -> Error {
    let otherwise = candidates.iter().find_map(|one| one.otherwise.as_deref());
    let message = otherwise.unwrap_or(
        "no etcd is found in this cluster. It may run outside, where the platform lets nobody reach it.",
    );
    refused(message, object.map(without_etcd))
}

fn refused(why: &str, instead: Option<Instead>) -> Error {
    Error::Refused {
        message: format!("there is nothing to print: {why}"),
        hint: instead.map(|instead| match &instead.command {
            Some(command) => format!("{} {command}", instead.text),
            None => instead.text,
        }),
    }
}

fn show(all: &[Reach]) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    output::reach::write(all, &terminal::style(), &mut out)?;
    out.flush()?;
    Ok(())
}
