//! A cluster in memory for tests: its objects, and what may not be read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, diagnose,
        testing::{
            extremes::withstands_extremes,
            labels::{harmless_stands_first, labels_are_true},
            less_is_weaker::withstands_less,
            redacted_is_equal::withstands_redaction,
            strangers::withstands_strangers,
        },
    },
    knowledge::Knowledge,
    object::ResourceType,
    snapshot::{
        Gap, What, Why,
        facts::{Answer, By, Content, Facts, Object, Query, Resource},
        selector::Selector,
    },
};

/// The current time in all these tests.
pub(crate) const NOW: &str = "2026-01-01T12:00:00Z";

/// A cluster in memory.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) objects: Vec<Object>,
    types: Vec<ResourceType>,
    gaps: Vec<Gap>,
    hidden: Vec<&'static str>,
    /// Explicit answers, which take precedence over the objects.
    answers: BTreeMap<Query, Result<Answer, Why>>,
    /// Whether everything without an explicit answer is forbidden.
    closed: bool,
}

/// An object of the type `plural` in `group`, with a uid.
pub(crate) fn object(group: &str, plural: &str, kind: &str, mut value: Value) -> Object {
    if value.pointer("/metadata/uid").is_none() {
        let name = value
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        value["metadata"]["uid"] = format!("{plural}-{name}").into();
    }
    bare(group, plural, kind, value)
}

/// Like [`object`], with exactly this value.
pub(crate) fn bare(group: &str, plural: &str, kind: &str, value: Value) -> Object {
    Object {
        resource: Resource::new(group, plural),
        kind: kind.into(),
        api_version: if group.is_empty() {
            "v1".into()
        } else {
            format!("{group}/v1")
        },
        value,
    }
}

/// A namespaced type.
pub(crate) fn namespaced_type(group: &str, plural: &str, kind: &str) -> ResourceType {
    ResourceType {
        group: group.into(),
        version: "v1".into(),
        plural: plural.into(),
        kind: kind.into(),
        namespaced: true,
        ..ResourceType::default()
    }
}

impl World {
    /// A cluster with these objects.
    pub(crate) fn of(objects: impl IntoIterator<Item = Object>) -> Self {
        World {
            objects: objects.into_iter().collect(),
            ..World::default()
        }
    }

    /// A cluster in which everything without an explicit answer is forbidden.
    pub(crate) fn closed() -> Self {
        World {
            closed: true,
            ..World::default()
        }
    }

    /// Adds an object.
    pub(crate) fn with(mut self, object: Object) -> Self {
        self.objects.push(object);
        self
    }

    /// Adds a namespaced custom type.
    pub(crate) fn serving(mut self, group: &str, plural: &str, kind: &str) -> Self {
        self.types.push(namespaced_type(group, plural, kind));
        self
    }

    /// Adds a custom type without namespaces.
    pub(crate) fn serving_everywhere(mut self, group: &str, plural: &str, kind: &str) -> Self {
        self.types.push(ResourceType {
            namespaced: false,
            ..namespaced_type(group, plural, kind)
        });
        self
    }

    /// Adds a group that does not list its types.
    pub(crate) fn with_silent_group(mut self, group: &str) -> Self {
        self.gaps.push(Gap {
            what: What::GroupVersion {
                group: group.into(),
                version: "v1".into(),
                types: Vec::new(),
            },
            why: Why::Unavailable("no answer".into()),
        });
        self
    }

    /// Has no list of its types, as most dumps.
    pub(crate) fn without_discovery(mut self) -> Self {
        self.gaps.push(Gap {
            what: What::Discovery,
            why: Why::NotInDump,
        });
        self
    }

    /// Forbids to read objects of this type.
    pub(crate) fn hiding(mut self, plural: &'static str) -> Self {
        self.hidden.push(plural);
        self
    }

    /// Adds a type by its name alone.
    pub(crate) fn with_type(mut self, group: &str, plural: &str) -> Self {
        self.types.push(ResourceType {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            ..ResourceType::default()
        });
        self
    }

    /// Answers a get of this object.
    pub(crate) fn object(
        self,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
        found: Option<Object>,
    ) -> Self {
        let query = Query::Object {
            resource: Resource::new(group, plural),
            namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
            name: name.into(),
        };
        self.answer(query, Ok(Answer::Object(found.map(Box::new))))
    }

    /// Answers a list of this type.
    pub(crate) fn list(self, group: &str, plural: &str, namespace: &str, found: Vec<Object>) -> Self {
        let query = Query::List {
            resource: Resource::new(group, plural),
            namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
        };
        self.answer(query, Ok(Answer::List(found)))
    }

    /// Answers the query for the content of a namespace.
    pub(crate) fn content(self, namespace: &str, content: Content) -> Self {
        let query = Query::Content {
            namespace: namespace.into(),
        };
        self.answer(query, Ok(Answer::Content(Box::new(content))))
    }

    /// Answers this query.
    pub(crate) fn answer(mut self, query: Query, answer: Result<Answer, Why>) -> Self {
        self.answers.insert(query, answer);
        self
    }

    pub(crate) fn read(&self, query: &Query) -> Result<Answer, Why> {
        if let Some(answer) = self.answers.get(query) {
            return answer.clone();
        }
        if self.closed {
            return Err(Why::Forbidden("no".into()));
        }
        let (resource, namespace) = match query {
            Query::Object {
                resource, namespace, ..
            }
            | Query::List { resource, namespace }
            | Query::Search {
                resource, namespace, ..
            } => (resource.clone(), namespace.clone()),
            Query::Events { namespace, .. } => (Resource::new("", "events"), namespace.clone()),
            Query::Content { .. } | Query::Owned(_) => return Err(Why::Interrupted),
            Query::Version => return Ok(Answer::Version("v1.34.1".into())),
        };
        if self.hidden.contains(&resource.plural.as_str()) {
            return Err(Why::Forbidden(format!("you may not list {}", resource.plural)));
        }
        let inside = |object: &&Object| {
            object.resource == resource
                && namespace
                    .as_deref()
                    .is_none_or(|namespace| object.namespace() == namespace)
        };
        let mut found: Vec<_> = self.objects.iter().filter(inside).cloned().collect();
        match query {
            Query::Object { name, .. } => {
                let mut found = found.into_iter().find(|object| object.name() == name);
                // Every namespace exists, so that only tests of namespaces have to add them.
                if resource == Resource::new("", "namespaces") {
                    found = found.or_else(|| {
                        Some(self::object(
                            "",
                            "namespaces",
                            "Namespace",
                            json!({"metadata": {"name": name}}),
                        ))
                    });
                }
                return Ok(Answer::Object(found.map(Box::new)));
            }
            Query::Search {
                by: By::Name(name), ..
            } => found.retain(|object| object.name() == name),
            Query::Search {
                by: By::Node(name), ..
            } => found.retain(|object| object.text("/spec/nodeName") == name),
            Query::Search {
                by: By::Labels(selector),
                ..
            } => {
                let selector = Selector::parse(selector).map_err(Why::Undecodable)?;
                found.retain(|object| {
                    let labels = object
                        .value
                        .pointer("/metadata/labels")
                        .cloned()
                        .unwrap_or_default();
                    selector.matches(&serde_json::from_value(labels).unwrap_or_default())
                });
            }
            Query::Search { by: By::Held, .. } => found.retain(|object| !object.finalizers().is_empty()),
            Query::Events { name, .. } => found.retain(|event| event.text("/involvedObject/name") == name),
            Query::List { .. } | Query::Content { .. } | Query::Owned(_) | Query::Version => {}
        }
        Ok(Answer::List(found))
    }

    /// The explicit answers, and nothing else.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            redacted: false,
            now: NOW.parse().expect("a time"),
            types: self.types.clone(),
            gaps: self.gaps.clone(),
            answers: self.answers.clone(),
            kept: 0,
        }
    }

    /// Everything in it that strangers may have written.
    pub(crate) fn to_json(&self) -> Value {
        let answers: Vec<_> = self.answers.iter().collect();
        json!([self.objects, self.types, answers])
    }

    /// The same world with other content; none if that is no such content.
    pub(crate) fn with_json(&self, content: &Value) -> Option<Self> {
        let (objects, types, answers): (_, _, Vec<_>) = serde_json::from_value(content.clone()).ok()?;
        Some(World {
            objects,
            types,
            gaps: self.gaps.clone(),
            hidden: self.hidden.clone(),
            answers: answers.into_iter().collect(),
            closed: self.closed,
        })
    }

    /// Forbids to read anything.
    pub(crate) fn hiding_everything(mut self) -> Self {
        self.closed = true;
        self
    }

    /// The diagnosis of the first object.
    #[track_caller]
    pub(crate) fn explain_first(&self) -> Diagnosis {
        self.explain(&self.objects[0])
    }

    /// The diagnosis of an object in a large cluster, without the checks of [`explain`](Self::explain). A smaller
    /// cluster of the same kind has them.
    pub(crate) fn explain_large(&self, target: &Object) -> Diagnosis {
        let knowledge = Knowledge::builtin();
        self.answered(|facts| {
            let progress = diagnose(target, facts, &knowledge);
            (progress.diagnosis, progress.wanted)
        })
    }

    /// The diagnosis of an object, which need not be one of the cluster. Checks that with fewer facts it is
    /// only weaker, that no number or time ends it, that redacted facts give the same verdicts, and that nobody who
    /// writes objects writes commands.
    #[track_caller]
    pub(crate) fn explain(&self, target: &Object) -> Diagnosis {
        let knowledge = Knowledge::builtin();
        let (diagnosis, facts) = self.read_for(|facts| {
            let progress = diagnose(target, facts, &knowledge);
            (progress.diagnosis, progress.wanted)
        });
        labels_are_true(&diagnosis);
        harmless_stands_first(&diagnosis);
        withstands_extremes(target, &facts, &knowledge, |query| self.read(query));
        withstands_less(target, &facts, &knowledge, |query| self.read(query));
        withstands_strangers(self, target, &facts, &knowledge);
        withstands_redaction(target, &facts, &knowledge);
        #[cfg(feature = "client")]
        self.all_verbs_agree(target, (&diagnosis, &facts), &knowledge);
        diagnosis
    }

    /// Checks that all verbs say the same of the object. Only tests use these higher layers.
    #[cfg(all(test, feature = "client"))]
    #[track_caller]
    fn all_verbs_agree(&self, target: &Object, explained: (&Diagnosis, &Facts), knowledge: &Knowledge) {
        crate::run::agreement::check(self, target, explained, knowledge);
    }

    /// The final result of `step`, once all queries that it returns are answered.
    pub(crate) fn answered<T>(&self, step: impl Fn(&Facts) -> (T, BTreeSet<Query>)) -> T {
        self.read_for(step).0
    }

    /// Like [`answered`](Self::answered), with what was read for it.
    pub(crate) fn read_for<T>(&self, step: impl Fn(&Facts) -> (T, BTreeSet<Query>)) -> (T, Facts) {
        let facts = Facts {
            answers: BTreeMap::new(),
            ..self.facts()
        };
        self.read_more(facts, step)
    }

    /// Like [`read_for`](Self::read_for), beginning with these facts.
    pub(crate) fn read_more<T>(
        &self,
        mut facts: Facts,
        step: impl Fn(&Facts) -> (T, BTreeSet<Query>),
    ) -> (T, Facts) {
        loop {
            let (seen, wanted) = step(&facts);
            if wanted.is_empty() {
                return (seen, facts);
            }
            for query in wanted {
                let answer = self.read(&query);
                facts.answers.insert(query, answer);
            }
        }
    }
}
