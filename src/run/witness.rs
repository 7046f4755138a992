//! Who answers what a diagnosis wants to see: a server now, or a file for what was seen then.

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

/// Whom to ask.
#[derive(Clone, Copy)]
pub(super) enum Witness<'a> {
    /// The API server.
    Server(&'a Server),
    /// A dump, of which a list that may lack objects is an answer only if the second is true.
    Dump(&'a Dump, bool),
    /// A snapshot. What was not asked when it was taken is a gap.
    Saved(&'a Saved),
    /// A snapshot that is being taken: what it lacks is remembered, to be asked for.
    Unfinished(&'a Saved, &'a RefCell<BTreeSet<Query>>),
}

impl Witness<'_> {
    /// The types, and what could not be learned of them.
    pub(super) async fn first_look(&self) -> Result<Facts, Error> {
        match self {
            Witness::Server(server) => cluster::initial_facts(server).await,
            Witness::Dump(dump, _) => Ok(dump.initial_facts()),
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => Ok(saved.initial_facts()),
        }
    }

    /// The namespace of what is named without one.
    pub(super) fn namespace(&self) -> &str {
        match self {
            Witness::Server(server) => &server.connected.namespace,
            Witness::Dump(..) => "default",
            Witness::Saved(saved) | Witness::Unfinished(saved, _) => &saved.head.default_namespace,
        }
    }

    /// Namespace and name of the objects of a type, as [`cluster::names`] has them; of a file, of those that are in it.
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

    /// Adds the answers to the facts. False if there is no use in going on without those that are missing.
    pub(super) async fn answer(&self, queries: impl IntoIterator<Item = Query>, facts: &mut Facts) -> bool {
        self.answer_and_tell(queries, facts, &|_| {}).await
    }

    /// The same, and tells of each query that has been answered.
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
