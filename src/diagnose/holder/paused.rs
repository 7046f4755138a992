//! Objects that their controllers have been told to leave alone. Nothing happens then, deletion included, and
//! nothing is broken.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// Where a mark stands.
#[derive(Clone, Copy)]
enum Mark {
    /// An annotation, with any of these values; none for whatever value.
    Annotation(&'static str, &'static [&'static str]),
    /// A label, likewise.
    Label(&'static str, &'static [&'static str]),
    /// A field that is true.
    True(&'static str),
}

/// What controllers look at before they act; not all of them also before they clean up, so it is said with a "may".
/// Sources: `crossplane/crossplane-runtime:pkg/meta/meta.go`, `kubernetes-sigs/cluster-api:util/annotations/helpers.go`,
/// `argoproj/argo-cd:common/common.go`, `strimzi/strimzi-kafka-operator:api/`, `elastic/cloud-on-k8s:pkg/controller/common/`.
const MARKS: &[Mark] = &[
    Mark::Annotation("crossplane.io/paused", &["true"]),
    Mark::Annotation("cluster.x-k8s.io/paused", &[]),
    Mark::Annotation("argocd.argoproj.io/skip-reconcile", &["true"]),
    Mark::Annotation("strimzi.io/pause-reconciliation", &["true"]),
    Mark::Annotation("eck.k8s.elastic.co/managed", &["false"]),
    Mark::Label("cluster.x-k8s.io/watch-filter", &[]),
    Mark::True("/spec/paused"),
    Mark::True("/spec/suspend"),
];

/// What marks this object, as it is written in it.
pub fn marks(object: &Object) -> Vec<String> {
    MARKS.iter().filter_map(|mark| found(*mark, object)).collect()
}

fn found(mark: Mark, object: &Object) -> Option<String> {
    let (place, name, values) = match mark {
        Mark::Annotation(name, values) => ("annotations", name, values),
        Mark::Label(name, values) => ("labels", name, values),
        Mark::True(pointer) => {
            let is_true = object.value.pointer(pointer) == Some(&Value::Bool(true));
            return is_true.then(|| format!("{}: true", pointer.trim_start_matches('/').replace('/', ".")));
        }
    };
    let value = object
        .value
        .pointer(&format!("/metadata/{place}"))?
        .get(name)?
        .as_str()?;
    let counts = values.is_empty() || values.contains(&value);
    counts.then(|| format!("metadata.{place} {name}: {value:?}"))
}
