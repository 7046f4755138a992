//! Replaces many small queries by few large ones. One list of a type contains its objects, the events about
//! them, and the lists of single namespaces. Such a list costs the server less than hundreds of requests. So
//! the cost does not grow with the number of stuck objects.

use std::collections::{BTreeMap, BTreeSet};

use crate::snapshot::facts::{Answer, Facts, Object, Query, Resource};

/// Objects on one page of a list.
const PAGE_SIZE: u64 = 500;
/// A page costs about as much as this number of single requests.
const REQUESTS_PER_PAGE: usize = 10;
/// Assumed pages of a list if nobody has counted the objects.
const PAGES_IF_UNCOUNTED: usize = 2;

/// Objects of each type (`plural.group`), where they were counted.
pub(super) type Counts = BTreeMap<String, u64>;

/// Number of pages in a list of a type.
pub(super) fn pages(type_name: &str, counts: &Counts) -> usize {
    counts.get(type_name).map_or(PAGES_IF_UNCOUNTED, |objects| {
        usize::try_from(objects.div_ceil(PAGE_SIZE))
            .unwrap_or(usize::MAX / 100)
            .max(1)
    })
}

/// The queries to send instead of these.
pub(super) fn bundled(queries: &BTreeSet<Query>, counts: &Counts, facts: &Facts) -> BTreeSet<Query> {
    let mut by_type: BTreeMap<Resource, Vec<&Query>> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    for query in queries {
        match covering_list(query) {
            Some((resource, _)) if !is_confidential(&resource.name()) => {
                by_type.entry(resource).or_default().push(query);
            }
            _ => drop(asked.insert(query.clone())),
        }
    }
    for (resource, each) in by_type {
        if pages(&resource.name(), counts) * REQUESTS_PER_PAGE >= each.len() {
            asked.extend(each.into_iter().cloned());
            continue;
        }
        let namespaces: BTreeSet<_> = each
            .iter()
            .map(|query| covering_list(query).and_then(|(_, place)| place))
            .collect();
        let namespace = match namespaces.len() {
            1 => namespaces.into_iter().next().flatten(),
            _ => None,
        };
        let list = Query::List { resource, namespace };
        if facts.answers.contains_key(&list) {
            asked.extend(each.into_iter().cloned());
        } else {
            asked.insert(list);
        }
    }
    asked
}

/// Answers the queries from the lists that replaced them.
pub(super) fn answer_from_lists(queries: &BTreeSet<Query>, facts: &mut Facts) {
    for query in queries {
        if facts.answers.contains_key(query) {
            continue;
        }
        let Some((resource, namespace)) = covering_list(query) else {
            continue;
        };
        let list = |namespace| Query::List {
            resource: resource.clone(),
            namespace,
        };
        let answer = [list(namespace), list(None)]
            .iter()
            .filter(|list| *list != query)
            .find_map(|list| facts.answers.get(list));
        let answer = match answer {
            Some(Ok(Answer::List(objects))) => Ok(answer_from_list(query, objects)),
            // A user who may list only in some namespaces is asked about each namespace after all.
            Some(Err(_)) if matches!(query, Query::List { .. }) => continue,
            // A user who may not list may still read single objects. Finding out is not worth that many
            // requests.
            Some(Err(why)) => Err(why.clone()),
            _ => continue,
        };
        facts.answers.insert(query.clone(), answer);
    }
}

/// The type and the namespace of the list that contains the answer.
fn covering_list(query: &Query) -> Option<(Resource, Option<String>)> {
    match query {
        Query::Object {
            resource, namespace, ..
        } => Some((resource.clone(), namespace.clone())),
        Query::List {
            resource,
            namespace: Some(namespace),
        } => Some((resource.clone(), Some(namespace.clone()))),
        Query::Events { namespace, .. } => {
            let namespace = namespace.clone().unwrap_or_else(|| "default".to_owned());
            Some((Resource::new("", "events"), Some(namespace)))
        }
        Query::List { .. }
        | Query::Search { .. }
        | Query::Content { .. }
        | Query::Owned(_)
        | Query::Version => None,
    }
}

/// The answer to one query from a full list.
fn answer_from_list(query: &Query, all: &[Object]) -> Answer {
    match query {
        Query::Object { namespace, name, .. } => {
            let is_it = |object: &&Object| {
                object.name() == name && object.namespace() == namespace.as_deref().unwrap_or_default()
            };
            Answer::Object(all.iter().find(is_it).cloned().map(Box::new))
        }
        Query::Events {
            kind,
            namespace,
            name,
        } => {
            let place = namespace.as_deref().unwrap_or("default");
            let is_about = |event: &&Object| event.namespace() == place && event.is_about(kind, name);
            Answer::List(all.iter().filter(is_about).cloned().collect())
        }
        Query::List { namespace, .. } | Query::Search { namespace, .. } => {
            let is_inside = |object: &&Object| {
                namespace
                    .as_deref()
                    .is_none_or(|namespace| object.namespace() == namespace)
            };
            Answer::List(all.iter().filter(is_inside).cloned().collect())
        }
        Query::Content { .. } | Query::Owned(_) | Query::Version => Answer::List(Vec::new()),
    }
}

/// For these types (`plural.group`), only metadata is read, and only of requested objects.
fn is_confidential(type_name: &str) -> bool {
    matches!(type_name, "secrets" | "configmaps")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::snapshot::Why;

    fn events(name: &str) -> Query {
        Query::Events {
            kind: "Widget".into(),
            namespace: Some("n".into()),
            name: name.into(),
        }
    }

    fn roles(namespace: Option<&str>) -> Query {
        Query::List {
            resource: Resource::new("rbac.authorization.k8s.io", "roles"),
            namespace: namespace.map(str::to_owned),
        }
    }

    fn facts() -> Facts {
        Facts {
            redacted: false,
            now: Timestamp::UNIX_EPOCH,
            types: Vec::new(),
            gaps: Vec::new(),
            answers: BTreeMap::new(),
            kept: 0,
        }
    }

    fn crowd(one: impl Fn(usize) -> Query) -> BTreeSet<Query> {
        (0..1000).map(one).collect()
    }

    #[test]
    fn replaces_many_queries_of_one_type_by_a_list_and_keeps_a_few() {
        let (counts, mut facts) = (Counts::new(), facts());
        let all = crowd(|at| events(&at.to_string()));
        let asked = bundled(&all, &counts, &facts);
        let list = Query::List {
            resource: Resource::new("", "events"),
            namespace: Some("n".into()),
        };
        assert_eq!(asked, [list.clone()].into());
        let few: BTreeSet<_> = all.iter().take(9).cloned().collect();
        assert_eq!(bundled(&few, &counts, &facts), few);

        let event = |kind: &str| Object {
            resource: Resource::new("", "events"),
            kind: "Event".into(),
            api_version: "v1".into(),
            value: json!({"metadata": {"namespace": "n"}, "involvedObject": {"kind": kind, "name": "7"}}),
        };
        let found = Answer::List(vec![event("Widget"), event("Gadget")]);
        facts.answers.insert(list, Ok(found));
        answer_from_lists(&all, &mut facts);
        for (name, expected) in [("7", 1), ("8", 0)] {
            let Some(Ok(Answer::List(found))) = facts.answers.get(&events(name)) else {
                panic!("no answer about {name}");
            };
            assert_eq!(found.len(), expected, "{name}");
        }
    }

    #[test]
    fn queries_each_namespace_if_a_full_list_is_forbidden() {
        let (counts, mut facts) = (Counts::new(), facts());
        let all = crowd(|at| roles(Some(&format!("n{at}"))));
        assert_eq!(bundled(&all, &counts, &facts), [roles(None)].into());
        facts
            .answers
            .insert(roles(None), Err(Why::Forbidden("no".into())));
        answer_from_lists(&all, &mut facts);
        assert_eq!(facts.answers.len(), 1, "nothing is known of any of them");
        assert_eq!(bundled(&all, &counts, &facts), all);
    }

    #[test]
    fn keeps_single_queries_for_a_type_with_many_objects() {
        let (mut counts, facts) = (Counts::new(), facts());
        counts.insert("pods".into(), 100_000);
        let pod = |at: usize| Query::Object {
            resource: Resource::new("", "pods"),
            namespace: Some("n".into()),
            name: at.to_string(),
        };
        let all = crowd(pod);
        assert_eq!(bundled(&all, &counts, &facts), all);
    }

    #[test]
    fn reads_only_requested_secrets() {
        let secret = |at: usize| Query::Object {
            resource: Resource::new("", "secrets"),
            namespace: Some("n".into()),
            name: at.to_string(),
        };
        let all = crowd(secret);
        assert_eq!(bundled(&all, &Counts::new(), &facts()), all);
    }
}
