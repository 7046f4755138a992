//! Many small questions as few large ones. The objects of one type, the events about them and their lists in single
//! namespaces are all in one list of that type, which costs the server less than hundreds of requests. So what is
//! read for a crowd of stuck objects does not grow with the crowd.

use std::collections::{BTreeMap, BTreeSet};

use crate::snapshot::facts::{Answer, Facts, Object, Query, Resource};

/// Objects of a type on one page of a list.
const PAGE: u64 = 500;
/// A page costs about as much as so many single requests.
const PAGE_COSTS: usize = 10;
/// Pages that a list is taken to have where nobody has counted.
const UNCOUNTED: usize = 2;

/// Objects of each type (`plural.group`), as far as they were counted.
pub(super) type Counts = BTreeMap<String, u64>;

/// Pages that a list of a type has.
pub(super) fn pages(type_name: &str, counts: &Counts) -> usize {
    counts.get(type_name).map_or(UNCOUNTED, |objects| {
        usize::try_from(objects.div_ceil(PAGE))
            .unwrap_or(usize::MAX / 100)
            .max(1)
    })
}

/// What to ask instead of these.
pub(super) fn bundled(queries: &BTreeSet<Query>, counts: &Counts, facts: &Facts) -> BTreeSet<Query> {
    let mut by_type: BTreeMap<Resource, Vec<&Query>> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    for query in queries {
        match part_of(query) {
            Some((resource, _)) if !is_confidential(&resource) => {
                by_type.entry(resource).or_default().push(query);
            }
            _ => drop(asked.insert(query.clone())),
        }
    }
    for (resource, each) in by_type {
        if pages(&resource.name(), counts) * PAGE_COSTS >= each.len() {
            asked.extend(each.into_iter().cloned());
            continue;
        }
        let namespaces: BTreeSet<_> = each
            .iter()
            .map(|query| part_of(query).and_then(|(_, place)| place))
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

/// Answers the queries from the lists that were asked for instead of them.
pub(super) fn spread(queries: &BTreeSet<Query>, facts: &mut Facts) {
    for query in queries {
        if facts.answers.contains_key(query) {
            continue;
        }
        let Some((resource, namespace)) = part_of(query) else {
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
            Some(Ok(Answer::List(objects))) => Ok(within(query, objects)),
            // Who may list in some namespaces only is asked for each of them after all.
            Some(Err(_)) if matches!(query, Query::List { .. }) => continue,
            // It may be forbidden to list what may be read one by one, but not worth as many requests to find out.
            Some(Err(why)) => Err(why.clone()),
            _ => continue,
        };
        facts.answers.insert(query.clone(), answer);
    }
}

/// The type and the namespace of the list that has the answer.
fn part_of(query: &Query) -> Option<(Resource, Option<String>)> {
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
        Query::List { .. } | Query::Search { .. } | Query::Content { .. } => None,
    }
}

/// What a list of everything says to one of the queries.
fn within(query: &Query, all: &[Object]) -> Answer {
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
            let is_about = |event: &&Object| {
                event.namespace() == place
                    && event.text("/involvedObject/kind") == kind
                    && event.text("/involvedObject/name") == name
            };
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
        Query::Content { .. } => Answer::List(Vec::new()),
    }
}

/// Of these only metadata is read, and only of those that are asked about.
fn is_confidential(resource: &Resource) -> bool {
    matches!(resource.name().as_str(), "secrets" | "configmaps")
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
            now: Timestamp::UNIX_EPOCH,
            types: Vec::new(),
            gaps: Vec::new(),
            answers: BTreeMap::new(),
        }
    }

    fn crowd(one: impl Fn(usize) -> Query) -> BTreeSet<Query> {
        (0..1000).map(one).collect()
    }

    #[test]
    fn a_thousand_questions_of_one_kind_are_one_and_a_few_stay_as_they_are() {
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
        spread(&all, &mut facts);
        for (name, expected) in [("7", 1), ("8", 0)] {
            let Some(Ok(Answer::List(found))) = facts.answers.get(&events(name)) else {
                panic!("no answer about {name}");
            };
            assert_eq!(found.len(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_only_allowed_in_each_namespace_is_asked_there() {
        let (counts, mut facts) = (Counts::new(), facts());
        let all = crowd(|at| roles(Some(&format!("n{at}"))));
        assert_eq!(bundled(&all, &counts, &facts), [roles(None)].into());
        facts
            .answers
            .insert(roles(None), Err(Why::Forbidden("no".into())));
        spread(&all, &mut facts);
        assert_eq!(facts.answers.len(), 1, "nothing is known of any of them");
        assert_eq!(bundled(&all, &counts, &facts), all);
    }

    #[test]
    fn a_type_with_many_objects_is_worth_more_questions() {
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
    fn of_secrets_no_more_is_read_than_is_asked_about() {
        let secret = |at: usize| Query::Object {
            resource: Resource::new("", "secrets"),
            namespace: Some("n".into()),
            name: at.to_string(),
        };
        let all = crowd(secret);
        assert_eq!(bundled(&all, &Counts::new(), &facts()), all);
    }
}
