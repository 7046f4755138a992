//! Facts for tests of rules: objects as YAML-like JSON, answers to queries, and what is then said.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::taken_away::withstands_less;
use crate::{
    diagnose::{Diagnosis, Verdict, diagnose, model::Blocker},
    knowledge::Knowledge,
    object::ResourceType,
    snapshot::{
        Why,
        facts::{Answer, Content, Facts, Object, Query, Resource},
    },
};

use crate::diagnose::testing::namespaced_type;
pub(super) use crate::diagnose::testing::{NOW, bare as object};

/// What has been answered.
pub(super) struct World(Facts);

impl World {
    /// Nothing has been asked yet; a type that is named in an answer exists.
    pub(super) fn new() -> Self {
        World(Facts {
            now: NOW.parse::<Timestamp>().expect("a time"),
            types: Vec::new(),
            gaps: Vec::new(),
            answers: BTreeMap::new(),
        })
    }

    /// The server has this type.
    pub(super) fn with_type(mut self, group: &str, plural: &str) -> Self {
        self.0.types.push(ResourceType {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            ..ResourceType::default()
        });
        self
    }

    /// The server has this type of objects in namespaces.
    pub(super) fn with_namespaced_type(mut self, group: &str, plural: &str, kind: &str) -> Self {
        self.0.types.push(namespaced_type(group, plural, kind));
        self
    }

    /// Looking for this object finds that.
    pub(super) fn object(
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

    /// These are all objects of the type.
    pub(super) fn list(self, group: &str, plural: &str, namespace: &str, found: Vec<Object>) -> Self {
        let query = Query::List {
            resource: Resource::new(group, plural),
            namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
        };
        self.answer(query, Ok(Answer::List(found)))
    }

    /// This is in the namespace.
    pub(super) fn content(self, namespace: &str, content: Content) -> Self {
        let query = Query::Content {
            namespace: namespace.into(),
        };
        self.answer(query, Ok(Answer::Content(Box::new(content))))
    }

    pub(super) fn answer(mut self, query: Query, answer: Result<Answer, Why>) -> Self {
        self.0.answers.insert(query, answer);
        self
    }

    /// All of it.
    pub(super) fn facts(&self) -> &Facts {
        &self.0
    }

    /// What is said of `target`; whatever else is wanted is refused. With any less it must be weaker.
    #[track_caller]
    pub(super) fn explain(mut self, target: &Object) -> Diagnosis {
        let refused = |_: &Query| Err(Why::Forbidden("no".into()));
        let knowledge = Knowledge::builtin();
        loop {
            let progress = diagnose(target, &self.0, &knowledge);
            if progress.wanted.is_empty() {
                withstands_less(target, &self.0, &knowledge, refused);
                return progress.diagnosis;
            }
            for query in progress.wanted {
                let answer = refused(&query);
                self.0.answers.insert(query, answer);
            }
        }
    }
}

/// The verdict on a finalizer, or on none.
pub(super) fn verdict(diagnosis: &Diagnosis, finalizer: &str) -> Option<Verdict> {
    diagnosis
        .waits
        .iter()
        .find(|wait| wait.finalizer.as_ref().map_or("", |finalizer| &finalizer.name) == finalizer)
        .map(|wait| wait.verdict)
}

/// All that is said of the waits, as one text.
pub(super) fn said(diagnosis: &Diagnosis) -> String {
    fn blockers(all: &[Blocker], text: &mut String) {
        for blocker in all {
            text.push_str(&blocker.says);
            text.push('\n');
            blockers(&blocker.on, text);
        }
    }
    let mut text = String::new();
    for wait in &diagnosis.waits {
        text.push_str(&wait.says);
        text.push('\n');
        blockers(&wait.on, &mut text);
    }
    text
}

/// The commands of all steps.
pub(super) fn commands(diagnosis: &Diagnosis) -> String {
    let commands: Vec<_> = diagnosis
        .steps
        .iter()
        .filter_map(|step| step.command.as_deref())
        .collect();
    commands.join("\n")
}
