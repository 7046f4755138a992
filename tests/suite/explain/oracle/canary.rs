//! A sign of life: objects of the same types without obstacles, deleted at the same time. Once they are gone,
//! the controllers have processed everything else.

use serde_json::{Value, json};

use super::{
    api::{Api, until},
    key::{Key, Kind},
    world::claim_spec,
};

pub(super) struct Canary<'a> {
    api: &'a Api,
    namespace: &'a str,
    name: String,
    flock: Vec<Key>,
}

impl<'a> Canary<'a> {
    /// A claim, for its protection. A full canary also has a bound volume, for the binder and the volume's
    /// protection, and an owner in foreground deletion, for the garbage collector.
    pub(super) fn new(api: &'a Api, namespace: &'a str, name: &str, whole: bool) -> Self {
        let mut canary = Canary {
            api,
            namespace,
            name: name.to_owned(),
            flock: Vec::new(),
        };
        if whole {
            canary.owner();
            canary.bound();
        } else {
            canary.add(
                Kind::Claim,
                &json!({"metadata": {"name": name}, "spec": claim_spec("nobody")}),
            );
        }
        canary
    }

    fn add(&mut self, kind: Kind, object: &Value) -> Value {
        self.flock.push(Key::new(kind, &self.name));
        self.create(kind, object)
    }

    fn create(&self, kind: Kind, object: &Value) -> Value {
        self.api.create(&kind.collection(self.namespace), object)
    }

    fn owner(&mut self) {
        let name = self.name.clone();
        let owner = self.add(Kind::ConfigMap, &json!({"metadata": {"name": name}}));
        let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": true});
        let below = json!({"metadata": {"name": format!("{name}-owned"), "ownerReferences": [reference]}});
        self.create(Kind::ConfigMap, &below);
    }

    fn bound(&mut self) {
        let name = self.name.clone();
        let volume = json!({"metadata": {"name": name}, "spec": {"capacity": {"storage": "1Mi"}, "storageClassName": "",
            "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/none"},
            "claimRef": {"namespace": self.namespace, "name": name}}});
        self.add(Kind::Volume, &volume);
        self.reaches("Available");
        let mut spec = claim_spec("");
        spec["volumeName"] = json!(name);
        self.add(Kind::Claim, &json!({"metadata": {"name": name}, "spec": spec}));
        self.reaches("Bound");
    }

    fn reaches(&self, phase: &str) {
        let path = Key::new(Kind::Volume, &self.name).path(self.namespace);
        let there = until(|| self.api.get(&path).unwrap()["status"]["phase"] == phase);
        assert!(there, "the volume of {} never gets {phase}", self.name);
    }

    /// Deletes them and waits until they are gone.
    pub(super) fn delete_and_wait(self) {
        for key in &self.flock {
            let how = if key.kind == Kind::ConfigMap {
                "Foreground"
            } else {
                "Background"
            };
            self.api
                .delete(&key.path(self.namespace), &json!({"propagationPolicy": how}));
        }
        let gone = until(|| {
            let mut flock = self.flock.iter();
            flock.all(|key| self.api.get(&key.path(self.namespace)).is_none())
        });
        assert!(gone, "{} does not go", self.name);
    }
}
