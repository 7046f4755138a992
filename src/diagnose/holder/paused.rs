//! Objects that their controllers have been told to leave alone. Nothing happens then, deletion included, and
//! nothing is broken. Or that are left to one of several controllers, so that the others do nothing.
//!
//! `spec.suspend` is no such mark: what Flux applies by a suspended object stays, and its finalizer goes at once
//! (`fluxcd/kustomize-controller:internal/controller/kustomization_controller.go` finalizerShouldDeleteResources,
//! `fluxcd/helm-controller:internal/controller/helmrelease_controller.go` reconcileDelete).

use std::fmt;

use serde_json::Value;

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// An annotation, with any of these values; none for whatever value.
    Annotation(&'static str, &'static [&'static str]),
    /// A label that says to which of several controllers it is left.
    Shard(&'static str),
    /// A field of the spec that is true.
    True(&'static str),
}

/// What controllers look at before they act; not all of them also before they clean up, so it is said with a "may".
/// Sources: `crossplane/crossplane-runtime:pkg/meta/meta.go`, `kubernetes-sigs/cluster-api:util/annotations/helpers.go`,
/// `argoproj/argo-cd:common/common.go`, `argoproj/argo-workflows:workflow/util/util.go`,
/// `argoproj/argo-rollouts:utils/defaults/defaults.go`, `akuity/kargo:api/v1alpha1/labels.go`,
/// `fluxcd/pkg:runtime/controller/watch.go`, `strimzi/strimzi-kafka-operator:api/`,
/// `elastic/cloud-on-k8s:pkg/controller/common/`.
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
/// By which Cluster API finds the Cluster of an object.
const OF_CLUSTER: &str = "cluster.x-k8s.io/cluster-name";

/// A mark on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    mark: Mark,
    /// Its value, for a field `true`.
    value: String,
}

/// What marks this object.
pub fn marks(object: &Object) -> Vec<Found> {
    MARKS.iter().filter_map(|mark| found(*mark, object)).collect()
}

fn found(mark: Mark, object: &Object) -> Option<Found> {
    let (place, name, values) = match mark {
        Mark::Annotation(name, values) => ("annotations", name, values),
        Mark::Shard(name) => ("labels", name, &[][..]),
        Mark::True(pointer) => {
            let is_true = object.value.pointer(pointer) == Some(&Value::Bool(true));
            let value = "true".to_owned();
            return is_true.then_some(Found { mark, value });
        }
    };
    let marks = object.value.pointer("/metadata")?.get(place)?;
    let value = marks.get(name)?.as_str()?;
    let counts = values.is_empty() || values.contains(&value);
    counts.then(|| Found {
        mark,
        value: value.to_owned(),
    })
}

/// As it is written in the object.
impl fmt::Display for Found {
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

impl Found {
    /// What it means for the object.
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

    /// Its value, for a field `true`.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What takes the mark away; none for one that leaves the object to another controller, which still has to act.
    pub fn undo(&self, object: &Object) -> Option<String> {
        let place = match object.namespace() {
            "" => String::new(),
            namespace => format!(" -n {namespace}"),
        };
        let target = format!("{}/{}", object.resource.name(), object.name());
        match self.mark {
            Mark::Shard(_) => None,
            Mark::Annotation(name, _) => Some(format!("kubectl{place} annotate {target} {name}-")),
            Mark::True(pointer) => {
                let field = pointer.trim_start_matches("/spec/");
                Some(format!(
                    "kubectl{place} patch {target} --type=merge -p '{{\"spec\":{{\"{field}\":false}}}}'"
                ))
            }
        }
    }
}

/// The Cluster of an object of Cluster API, if that is paused: then nothing of it is looked at
/// (`kubernetes-sigs/cluster-api:util/annotations/helpers.go` IsPaused).
pub fn cluster<'a>(object: &Object, view: &View<'a>) -> Result<Option<(&'a Object, Found)>, Missing> {
    const GROUP: &str = "cluster.x-k8s.io";
    let labels = object.labels();
    let (Some(name), Some(_)) = (labels.get(OF_CLUSTER), view.resource_type(GROUP, "clusters")) else {
        return Ok(None);
    };
    let cluster = view.object(GROUP, "clusters", object.namespace(), name)?;
    Ok(cluster.and_then(|cluster| Some((cluster, found(Mark::True(PAUSED), cluster)?))))
}
