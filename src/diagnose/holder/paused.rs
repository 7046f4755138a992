//! Objects that their controllers have been told to leave alone. Nothing happens then, deletion included, and
//! nothing is broken.

use std::fmt;

use serde_json::Value;

use crate::snapshot::facts::Object;

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// An annotation, with any of these values; none for whatever value.
    Annotation(&'static str, &'static [&'static str]),
    /// A label, likewise.
    Label(&'static str, &'static [&'static str]),
    /// A field of the spec that is true.
    True(&'static str),
}

/// What controllers look at before they act; not all of them also before they clean up, so it is said with a "may".
/// Sources: `crossplane/crossplane-runtime:pkg/meta/meta.go`, `kubernetes-sigs/cluster-api:util/annotations/helpers.go`,
/// `argoproj/argo-cd:common/common.go`, `fluxcd/pkg:runtime/controller/watch.go`, `strimzi/strimzi-kafka-operator:api/`, `elastic/cloud-on-k8s:pkg/controller/common/`.
const MARKS: &[Mark] = &[
    Mark::Annotation("crossplane.io/paused", &["true"]),
    Mark::Annotation("cluster.x-k8s.io/paused", &[]),
    Mark::Annotation("argocd.argoproj.io/skip-reconcile", &["true"]),
    Mark::Annotation("strimzi.io/pause-reconciliation", &["true"]),
    Mark::Annotation("eck.k8s.elastic.co/managed", &["false"]),
    Mark::Annotation("cluster.x-k8s.io/managed-by", &[]),
    Mark::Label("cluster.x-k8s.io/watch-filter", &[]),
    Mark::Label("sharding.fluxcd.io/key", &[]),
    Mark::True("/spec/paused"),
    Mark::True("/spec/suspend"),
];

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
        Mark::Label(name, values) => ("labels", name, values),
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
            Mark::Label(name, _) => write!(f, "metadata.labels {name}: {:?}", self.value),
            Mark::True(pointer) => {
                write!(f, "{}: true", pointer.trim_start_matches('/').replace('/', "."))
            }
        }
    }
}

impl Found {
    /// What takes the mark away.
    pub fn undo(&self, object: &Object) -> String {
        let place = match object.namespace() {
            "" => String::new(),
            namespace => format!(" -n {namespace}"),
        };
        let target = format!("{}/{}", object.resource.name(), object.name());
        match self.mark {
            Mark::Annotation(name, _) => format!("kubectl{place} annotate {target} {name}-"),
            Mark::Label(name, _) => format!("kubectl{place} label {target} {name}-"),
            Mark::True(pointer) => {
                let field = pointer.trim_start_matches("/spec/");
                format!("kubectl{place} patch {target} --type=merge -p '{{\"spec\":{{\"{field}\":false}}}}'")
            }
        }
    }
}
