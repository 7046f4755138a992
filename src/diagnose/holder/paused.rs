//! Recognises objects that their controllers ignore because of a mark. Such a controller does nothing, not even
//! for a deletion, and nothing is broken. Some marks assign the object to one of several controllers, so that
//! the others ignore it.
//!
//! `spec.suspend` is no such mark. Flux keeps what a suspended object applied, and removes the finalizer at
//! once (`fluxcd/kustomize-controller:internal/controller/kustomization_controller.go`
//! finalizerShouldDeleteResources, `fluxcd/helm-controller:internal/controller/helmrelease_controller.go`
//! reconcileDelete).

use std::fmt;

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// The place of a mark in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// An annotation with one of these values; with any value if the list is empty.
    Annotation(&'static str, &'static [&'static str]),
    /// A label that assigns the object to one of several controllers.
    Shard(&'static str),
    /// A field of the spec that is `true`.
    True(&'static str),
}

/// The marks that controllers check before they act. Not all controllers check them before they clean up, so
/// the text says "may".
/// Sources: `crossplane/crossplane-runtime:pkg/meta/meta.go`,
/// `kubernetes-sigs/cluster-api:util/annotations/helpers.go`, `argoproj/argo-cd:common/common.go`,
/// `argoproj/argo-workflows:workflow/util/util.go`, `argoproj/argo-rollouts:utils/defaults/defaults.go`,
/// `akuity/kargo:api/v1alpha1/labels.go`, `fluxcd/pkg:runtime/controller/watch.go`,
/// `strimzi/strimzi-kafka-operator:api/`, `elastic/cloud-on-k8s:pkg/controller/common/`.
const MARKS: &[Mark] = &[
    Mark::Annotation("crossplane.io/paused", &["true"]),
    Mark::Annotation("cluster.x-k8s.io/paused", &[]),
    Mark::Annotation("argocd.argoproj.io/skip-reconcile", &["true"]),
    Mark::Annotation("strimzi.io/pause-reconciliation", &["true"]),
    Mark::Annotation("eck.k8s.elastic.co/managed", &["false"]),
    Mark::Annotation("cluster.x-k8s.io/managed-by", &[]),
    Mark::Shard("cluster.x-k8s.io/watch-filter"),
    Mark::Shard("sharding.fluxcd.io/key"),
    Mark::Shard("workflows.argoproj.io/controller-instanceid"),
    Mark::Shard("argo-rollouts.argoproj.io/controller-instance-id"),
    Mark::Shard("kargo.akuity.io/shard"),
    Mark::True(PAUSED),
];

const PAUSED: &str = "/spec/paused";
/// The label by which Cluster API finds the Cluster of an object.
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// A mark on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseMark {
    mark: Mark,
    /// The value of the mark; `true` for a field.
    value: String,
}

/// The marks on this object.
pub fn marks(object: &Object) -> Vec<PauseMark> {
    MARKS.iter().filter_map(|mark| mark_on(*mark, object)).collect()
}

fn mark_on(mark: Mark, object: &Object) -> Option<PauseMark> {
    let (place, name, values) = match mark {
        Mark::Annotation(name, values) => ("annotations", name, values),
        Mark::Shard(name) => ("labels", name, &[][..]),
        Mark::True(pointer) => {
            let is_true = object.value.pointer(pointer) == Some(&Value::Bool(true));
            let value = "true".to_owned();
            return is_true.then_some(PauseMark { mark, value });
        }
    };
    let marks = object.value.pointer("/metadata")?.get(place)?;
    let value = marks.get(name)?.as_str()?;
    let counts = values.is_empty() || values.contains(&value);
    counts.then(|| PauseMark {
        mark,
        value: value.to_owned(),
    })
}

/// The mark as it is written in the object.
impl fmt::Display for PauseMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mark {
            Mark::Annotation(name, _) => write!(f, "metadata.annotations {name}: {:?}", self.value),
            Mark::Shard(name) => write!(f, "metadata.labels {name}: {:?}", self.value),
            Mark::True(pointer) => {
                write!(f, "{}: true", pointer.trim_start_matches('/').replace('/', "."))
            }
        }
    }
}

impl PauseMark {
    /// What the mark means for the object.
    pub fn says(&self) -> String {
        match self.mark {
            Mark::Shard(_) => {
                format!("is left to one of several controllers ({self}): the others do nothing")
            }
            _ => format!(
                "is marked to be left alone ({self}): its controller may do nothing while that is there"
            ),
        }
    }

    /// The value of the mark; `true` for a field.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The command that removes the mark. None for a mark that assigns the object to another controller, which
    /// still has to act.
    pub fn undo(&self, object: &Object) -> Option<Command> {
        let (type_name, name, namespace) = (object.resource.name(), object.name(), object.namespace());
        match self.mark {
            Mark::Shard(_) => None,
            Mark::Annotation(key, _) => Some(Command::of(
                "kubectl -n {} annotate {}/{} {}-",
                [namespace, &type_name, name, key],
            )),
            Mark::True(pointer) => {
                let field = pointer.trim_start_matches("/spec/");
                let patch = serde_json::json!({"spec": {field: false}}).to_string();
                Some(Command::merge_patch(&type_name, name, namespace, &patch))
            }
        }
    }
}

/// The Cluster of a Cluster API object, if that Cluster is paused. Controllers then ignore all its objects
/// (`kubernetes-sigs/cluster-api:util/annotations/helpers.go` IsPaused).
pub fn cluster<'a>(object: &Object, view: &View<'a>) -> Result<Option<(&'a Object, PauseMark)>, Missing> {
    const GROUP: &str = "cluster.x-k8s.io";
    let labels = object.labels();
    let (Some(name), Some(_)) = (labels.get(CLUSTER_LABEL), view.resource_type(GROUP, "clusters")) else {
        return Ok(None);
    };
    let cluster = view.object(GROUP, "clusters", object.namespace(), name)?;
    Ok(cluster.and_then(|cluster| Some((cluster, mark_on(Mark::True(PAUSED), cluster)?))))
}
