//! Recognises objects that their controllers ignore because of a mark (`knowledge/marks.yaml`). Such a controller does nothing, not even
//! for a deletion, and nothing is broken. Some marks assign the object to one of several controllers, so that
//! the others ignore it.
//!
//! `spec.suspend` is no such mark. Flux keeps what a suspended object applied, and removes the finalizer at
//! once (`fluxcd/kustomize-controller:internal/controller/kustomization_controller.go`
//! finalizerShouldDeleteResources, `fluxcd/helm-controller:internal/controller/helmrelease_controller.go`
//! reconcileDelete).

use std::fmt;

use serde_json::{Value, json};

use crate::{
    command::Command,
    diagnose::{
        holder::writer::{is_tool_on, last_change},
        kinds::Workload,
        view::{Missing, View},
    },
    knowledge::schema::{Mark, MarkPlace, Meaning, glob},
    object::{Age, pasteable},
    snapshot::facts::{By, Object},
};

/// A mark on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseMark {
    /// Where it stands, with its whole name.
    place: MarkPlace,
    /// The effect on the controller.
    pub means: Meaning,
    /// The value of the mark; `true` for a field.
    value: String,
}

/// The marks on this object. If several fit one annotation, the first counts.
pub fn marks(object: &Object, view: &View<'_>) -> Vec<PauseMark> {
    let mut found: Vec<PauseMark> = Vec::new();
    let own = view
        .knowledge
        .marks()
        .iter()
        .filter(|mark| mark.of_owner.is_none());
    for mark in own {
        for one in marks_like(mark, object) {
            if !found.iter().any(|known| known.place == one.place) {
                found.push(one);
            }
        }
    }
    found
}

fn marks_like(mark: &Mark, object: &Object) -> Vec<PauseMark> {
    let of = |place: &str, name: &str, whole: fn(String) -> MarkPlace| {
        let metadata = object.value.get("metadata");
        let all = metadata.and_then(|metadata| metadata.get(place));
        let fields = all.and_then(Value::as_object).into_iter().flatten();
        fields
            .filter(|(key, _)| glob(name, key))
            .filter_map(|(key, value)| {
                let value = value.as_str()?.to_owned();
                let counts = mark.values.is_empty() || mark.values.contains(&value);
                counts.then(|| PauseMark {
                    place: whole(key.clone()),
                    means: mark.means,
                    value,
                })
            })
            .collect()
    };
    match &mark.place {
        MarkPlace::Annotation(name) => of("annotations", name, MarkPlace::Annotation),
        MarkPlace::Label(name) => of("labels", name, MarkPlace::Label),
        MarkPlace::Field(path) => field_mark(path, mark.means, object).into_iter().collect(),
    }
}

/// The mark if this field is true.
fn field_mark(path: &str, means: Meaning, object: &Object) -> Option<PauseMark> {
    let pointer = format!("/{}", path.replace('.', "/"));
    (object.field(&pointer) == Some(&Value::Bool(true))).then(|| PauseMark {
        place: MarkPlace::Field(path.to_owned()),
        means,
        value: "true".to_owned(),
    })
}

/// The mark as it is written in the object.
impl fmt::Display for PauseMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            MarkPlace::Annotation(name) => write!(f, "metadata.annotations {name}: {:?}", self.value),
            MarkPlace::Label(name) => write!(f, "metadata.labels {name}: {:?}", self.value),
            MarkPlace::Field(path) => write!(f, "{path}: true"),
        }
    }
}

impl PauseMark {
    /// What the mark means for the object.
    pub fn says(&self) -> String {
        match self.means {
            Meaning::Shard => {
                format!("is left to one of several controllers ({self}): the others do nothing")
            }
            Meaning::Paused => format!(
                "is marked to be left alone ({self}): its controller may do nothing while that is there"
            ),
            Meaning::Hook => {
                format!("has a hook ({self}): its controller waits until whoever set the hook takes it away")
            }
            Meaning::Step => {
                format!("is a step of a deployment ({self}): whoever deploys it waits for it and deletes it")
            }
        }
    }

    /// Who set a hook, and whether that program still runs, as far as its name tells. A program writes under any name, so
    /// that no workload has the name proves nothing.
    pub fn setter(&self, object: &Object, view: &View<'_>) -> Option<String> {
        let MarkPlace::Annotation(key) = &self.place else {
            return None;
        };
        let field = format!("f:{key}");
        let change = last_change(object, &["f:metadata", "f:annotations", &field])?;
        let manager = change.manager;
        let set = format!("{manager} set it {} ago", Age::between(change.time, view.now()));
        if is_tool_on(object, &manager) {
            return Some(format!("{set}. It is a tool that takes nothing away by itself"));
        }
        let workloads = |plural: &str| view.search("apps", plural, "", By::Name(manager.clone()));
        let (deployments, sets) = (workloads("deployments"), workloads("statefulsets"));
        let (Ok(deployments), Ok(sets)) = (deployments, sets) else {
            return Some(set);
        };
        let mut found = deployments.iter().chain(sets);
        let state = match found.next() {
            None => {
                "No Deployment or StatefulSet is called that, and it may run under another name".to_owned()
            }
            Some(one) => {
                let ready = Workload(one).ready_replicas();
                let state = if ready > 0 { "runs" } else { "does not run" };
                let place = Some(one.namespace());
                format!("{} {state}", pasteable(&one.resource.name(), place, one.name()))
            }
        };
        Some(format!("{set}. {state}"))
    }

    /// The value of the mark; `true` for a field.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The command that removes the mark. None for a mark of another controller, which still has to act.
    pub fn undo(&self, object: &Object) -> Option<Command> {
        let (type_name, name, namespace) = (object.resource.name(), object.name(), object.namespace());
        match (self.means, &self.place) {
            (Meaning::Shard | Meaning::Hook | Meaning::Step, _) => None,
            (Meaning::Paused, MarkPlace::Annotation(key)) => Some(Command::of(
                "kubectl -n {} annotate {}/{} {}-",
                [namespace, &type_name, name, key],
            )),
            (Meaning::Paused, MarkPlace::Label(key)) => Some(Command::of(
                "kubectl -n {} label {}/{} {}-",
                [namespace, &type_name, name, key],
            )),
            (Meaning::Paused, MarkPlace::Field(path)) => {
                let unset = path
                    .rsplit('.')
                    .fold(Value::Bool(false), |inner, field| json!({ field: inner }));
                Some(Command::merge_patch(
                    &type_name,
                    name,
                    namespace,
                    &unset.to_string(),
                ))
            }
        }
    }
}

/// The object that this one names in a label, and whose mark stops the controllers of both. So a paused Cluster of Cluster API
/// stops all of its objects.
pub fn of_owner<'a>(object: &Object, view: &View<'a>) -> Result<Option<(&'a Object, PauseMark)>, Missing> {
    let labels = object.labels();
    for mark in view.knowledge.marks() {
        let Some(owner) = &mark.of_owner else { continue };
        let (Some(name), Some(_)) = (
            labels.get(&owner.label),
            view.resource_type(&owner.group, &owner.plural),
        ) else {
            continue;
        };
        let owner = view.object(&owner.group, &owner.plural, object.namespace(), name)?;
        let found = owner.and_then(|owner| Some((owner, marks_like(mark, owner).into_iter().next()?)));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
