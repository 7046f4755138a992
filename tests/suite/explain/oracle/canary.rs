//! A sign of life: objects of the same types with nothing in their way, deleted at the same time. Once they are
//! gone, the controllers have had their chance with everything else.

use serde_json::json;

use super::{
    api::{Api, until},
    key::{Key, Kind},
    world::claim_spec,
};

pub(super) struct Canary<'a> {
    api: &'a Api,
    namespace: &'a str,
    /// A claim and its volume: protection of both, and the volume binder between them.
    claim: Key,
    volume: Key,
    /// An owner deleted in the foreground, and what it owns: the garbage collector.
    owner: Key,
}

impl<'a> Canary<'a> {
    pub(super) fn hatch(api: &'a Api, namespace: &'a str, name: &str) -> Self {
        let canary = Canary {
            api,
            namespace,
            claim: Key::new(Kind::Claim, name),
            volume: Key::new(Kind::Volume, name),
            owner: Key::new(Kind::ConfigMap, name),
        };
        let owner = canary.create(&canary.owner, json!({"metadata": {"name": name}}));
        let dependent = Key::new(Kind::ConfigMap, &format!("{name}-owned"));
        canary.create(
            &dependent,
            json!({"metadata": {"name": dependent.name, "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap",
                "name": name, "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true}]}}),
        );
        canary.create(
            &canary.volume,
            json!({"metadata": {"name": name}, "spec": {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "", "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/none"},
                "claimRef": {"namespace": namespace, "name": name}}}),
        );
        canary.reaches("Available");
        let mut spec = claim_spec("");
        spec["volumeName"] = json!(name);
        canary.create(&canary.claim, json!({"metadata": {"name": name}, "spec": spec}));
        canary.reaches("Bound");
        canary
    }

    fn create(&self, key: &Key, object: serde_json::Value) -> serde_json::Value {
        self.api.create(&key.kind.collection(self.namespace), &object)
    }

    fn reaches(&self, phase: &str) {
        let path = self.volume.path(self.namespace);
        let there = until(|| self.api.get(&path).unwrap()["status"]["phase"] == phase);
        assert!(there, "the canary {} never gets {phase}", self.volume);
    }

    /// Deletes them and waits until they are gone.
    pub(super) fn fly(self) {
        let all = [&self.volume, &self.claim, &self.owner];
        for key in all {
            let options =
                json!({"propagationPolicy": if *key == self.owner { "Foreground" } else { "Background" }});
            self.api.delete(&key.path(self.namespace), &options);
        }
        let gone = until(|| {
            all.iter()
                .all(|key| self.api.get(&key.path(self.namespace)).is_none())
        });
        assert!(gone, "the canary {} does not go", self.claim.name);
    }
}
