//! The source of answers for a diagnosis: a live server, or a file for an earlier moment.

use std::{cell::RefCell, collections::BTreeSet};

use crate::{
    cluster::{self, Server},
    error::Error,
    object::ResourceType,
    snapshot::{
        Why,
        facts::{Facts, Query, Resource},
        load::Dump,
        saved::Saved,
    },
};

/// A source of answers.
#[derive(Clone, Copy)]
pub(super) enum Witness<'a> {
    /// The API server.
    Server(&'a Server),
    /// A dump. The flag says whether a list that may be incomplete still counts as an answer.
    Dump(&'a Dump, bool),
    /// A snapshot. What was not read when it was taken is a gap.
    Saved(&'a Saved),
    /// A snapshot in the making. It remembers the missing queries, so that they can be sent.
    Unfinished(&'a Saved, &'a RefCell<BTreeSet<Query>>),
}

impl Witness<'_> {
    /// The types, and what could not be learned about them.
    pub(super) async fn initial_facts(&self) -> Result<Facts, Error> {
        match self {
            Witness::Server(server) => cluster::initial_facts(server).await,
            Witness::Dump(dump, _) => Ok(dump.initial_facts()),
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => Ok(saved.initial_facts()),
        }
    }

    /// The version of the API server; none if it is not known.
    pub(super) async fn server_version(&self) -> Option<String> {
        match self {
            Witness::Server(server) => cluster::version(server).await.ok(),
            Witness::Dump(..) => None,
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => saved.server_version(),
        }
    }

    /// The namespace of an object that is given without one.
    pub(super) fn namespace(&self) -> &str {
        match self {
            Witness::Server(server) => &server.connected.namespace,
            Witness::Dump(..) => "default",
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => &saved.head.default_namespace,
        }
    }

    /// Namespace and name of the objects of a type, as in [`cluster::names`]. A file knows only the objects
    /// that it contains.
    pub(super) async fn names(
        &self,
        ty: &ResourceType,
        namespace: Option<&str>,
        called: Option<&str>,
    ) -> Result<Vec<(String, String)>, Why> {
        let resource = Resource::new(&ty.group, &ty.plural);
        let mut names = match self {
            Witness::Server(server) => return cluster::names(server, ty, namespace, called).await,
            Witness::Dump(dump, _) => dump.names(&resource),
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => saved.names(&resource),
        };
        names.retain(|(place, name)| {
            namespace.is_none_or(|namespace| namespace == place) && called.is_none_or(|called| called == name)
        });
        Ok(names)
    }

    /// Adds the answers to the facts. False if continuing without the missing answers is pointless.
    pub(super) async fn answer(&self, queries: impl IntoIterator<Item = Query>, facts: &mut Facts) -> bool {
        self.answer_and_tell(queries, facts, &|_| {}).await
    }

    /// Like [`answer`](Self::answer), and calls `tell` for each answered query.
    pub(super) async fn answer_and_tell(
        &self,
        queries: impl IntoIterator<Item = Query>,
        facts: &mut Facts,
        tell: &dyn Fn(&Query),
    ) -> bool {
        match self {
            Witness::Server(server) => {
                cluster::answer_and_tell(server, queries, facts, tell).await;
                true
            }
            Witness::Dump(dump, partly) => {
                dump.add_answers(queries, *partly, facts);
                true
            }
            Witness::Saved(saved) => {
                for query in queries {
                    let answer = saved.answer(&query).cloned().unwrap_or(Err(Why::NotInDump));
                    facts.answers.insert(query, answer);
                }
                true
            }
            Witness::Unfinished(saved, missing) => {
                let mut all = true;
                for query in queries {
                    if let Some(answer) = saved.answer(&query) {
                        facts.answers.insert(query, answer.clone());
                    } else {
                        all = false;
                        missing.borrow_mut().insert(query);
                    }
                }
                all
            }
        }
    }
}
