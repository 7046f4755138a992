//! The storage rules on small worlds: some objects, what cannot be read, and what is then said.

mod attachments;
mod claims;
mod snapshots;
mod volumes;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    diagnose::{Diagnosis, Safety, Verdict, diagnose},
    knowledge::Knowledge,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
    },
};

const NOW: &str = "2026-01-01T12:00:00Z";
const LONG_AGO: &str = "2026-01-01T10:00:00Z";
const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

/// Objects, and the types that nobody may read.
#[derive(Default)]
struct World {
    objects: Vec<Object>,
    unreadable: Vec<&'static str>,
}

fn object(group: &str, plural: &str, kind: &str, value: Value) -> Object {
    Object {
        resource: Resource::new(group, plural),
        kind: kind.to_owned(),
        api_version: if group.is_empty() {
            "v1".into()
        } else {
            format!("{group}/v1")
        },
        value,
    }
}

fn metadata(name: &str, namespace: &str, finalizers: &[&str], deleted: bool) -> Value {
    let mut metadata = json!({"name": name, "uid": format!("uid-{name}"), "finalizers": finalizers});
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    if deleted {
        metadata["deletionTimestamp"] = json!(LONG_AGO);
        metadata["deletionGracePeriodSeconds"] = json!(0);
    }
    metadata
}

fn claim(finalizers: &[&str], deleted: bool) -> Object {
    let value = json!({"metadata": metadata("data", "ns", finalizers, deleted), "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound"}});
    object("", "persistentvolumeclaims", "PersistentVolumeClaim", value)
}

fn volume(finalizers: &[&str], policy: &str, phase: &str, deleted: bool) -> Object {
    let value = json!({"metadata": metadata("pv", "", finalizers, deleted), "status": {"phase": phase},
        "spec": {"persistentVolumeReclaimPolicy": policy, "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "uid-data"}}});
    object("", "persistentvolumes", "PersistentVolume", value)
}

fn pod(name: &str, phase: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        "spec": {"nodeName": "n1", "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]},
        "status": {"phase": phase}});
    object("", "pods", "Pod", value)
}

fn lease(name: &str, renewed: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"renewTime": renewed, "leaseDurationSeconds": 15}});
    object("coordination.k8s.io", "leases", "Lease", value)
}

fn attachment(volume: &str, deleted: bool, error: &str) -> Object {
    let value = json!({"metadata": metadata("va", "", &["external-attacher/d-example-com"], deleted),
        "spec": {"attacher": "d.example.com", "nodeName": "n1", "source": {"persistentVolumeName": volume}},
        "status": {"attached": true, "detachError": {"message": error}}});
    object("storage.k8s.io", "volumeattachments", "VolumeAttachment", value)
}

fn driver() -> Object {
    object(
        "storage.k8s.io",
        "csidrivers",
        "CSIDriver",
        json!({"metadata": {"name": "d.example.com"}}),
    )
}

fn csi_node(registered: &str) -> Object {
    let value = json!({"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": registered}]}});
    object("storage.k8s.io", "csinodes", "CSINode", value)
}

fn failed_delete(message: &str) -> Object {
    let value = json!({"metadata": {"name": "pv.1", "namespace": "default"}, "reason": "VolumeFailedDelete",
        "message": message, "lastTimestamp": "2026-01-01T11:59:00Z",
        "involvedObject": {"kind": "PersistentVolume", "name": "pv", "uid": "uid-pv"}});
    object("", "events", "Event", value)
}

fn snapshot_object(plural: &str, kind: &str, value: Value) -> Object {
    object("snapshot.storage.k8s.io", plural, kind, value)
}

impl World {
    /// These objects, in a namespace that exists.
    fn of(objects: impl IntoIterator<Item = Object>) -> Self {
        let namespace = object("", "namespaces", "Namespace", json!({"metadata": {"name": "ns"}}));
        World {
            objects: objects.into_iter().chain([namespace]).collect(),
            unreadable: Vec::new(),
        }
    }

    fn without(mut self, plural: &'static str) -> Self {
        self.unreadable.push(plural);
        self
    }

    fn answer(&self, query: &Query) -> Result<Answer, Why> {
        let of = |resource: &Resource, namespace: Option<&str>| {
            let (resource, namespace) = (resource.clone(), namespace.unwrap_or_default().to_owned());
            let fits = move |object: &&Object| {
                object.resource == resource && (namespace.is_empty() || object.namespace() == namespace)
            };
            self.objects.iter().filter(fits).cloned().collect::<Vec<_>>()
        };
        let hidden = |plural: &str| self.unreadable.contains(&plural);
        match query {
            Query::Object { resource, .. } | Query::List { resource, .. } if hidden(&resource.plural) => {
                Err(Why::Interrupted)
            }
            Query::Events { .. } if hidden("events") => Err(Why::Interrupted),
            Query::Object {
                resource,
                namespace,
                name,
            } => {
                let found = of(resource, namespace.as_deref());
                Ok(Answer::Object(
                    found.into_iter().find(|o| o.name() == name).map(Box::new),
                ))
            }
            Query::List { resource, namespace } => Ok(Answer::List(of(resource, namespace.as_deref()))),
            Query::Events { name, .. } => {
                let mut events = of(&Resource::new("", "events"), None);
                events.retain(|event| event.text("/involvedObject/name") == name);
                Ok(Answer::List(events))
            }
            Query::Content { .. } | Query::Search { .. } | Query::Owned(_) => Err(Why::Interrupted),
        }
    }

    /// What is said of the first object. With any less it must be weaker.
    #[track_caller]
    fn explain(&self) -> Diagnosis {
        let mut facts = Facts {
            now: NOW.parse().expect("a time"),
            types: Vec::new(),
            gaps: Vec::new(),
            answers: BTreeMap::new(),
        };
        let knowledge = Knowledge::builtin();
        loop {
            let progress = diagnose(&self.objects[0], &facts, &knowledge);
            if progress.wanted.is_empty() {
                super::taken_away::withstands_less(&self.objects[0], &facts, &knowledge, |query| {
                    self.answer(query)
                });
                return progress.diagnosis;
            }
            for query in progress.wanted {
                let answer = self.answer(&query);
                facts.answers.insert(query, answer);
            }
        }
    }
}

/// All that is said, as one text.
fn text(diagnosis: &Diagnosis) -> String {
    format!("{diagnosis:?}")
}

fn verdict(diagnosis: &Diagnosis) -> Verdict {
    diagnosis.waits[0].verdict
}

/// No step that destroys comes without the word in front of it.
fn warned(diagnosis: &Diagnosis) {
    for step in &diagnosis.steps {
        let loud = step.text.contains("DATA LOSS") || step.text.contains("LEAKED INFRASTRUCTURE");
        let mild = step.text.starts_with("LOST")
            || step.text.contains("guards nothing")
            || step.text.contains("has no volume");
        assert!(step.safety != Safety::Destructive || loud || mild, "{step:?}");
    }
}
