//! A world: random objects that wait for each other, and which of them are deleted.

use serde_json::{Value, json};

use super::{
    super::dice::Dice,
    key::{Key, Kind},
};

/// Set by hand, and removed by no controller.
pub(super) const HOLD: &str = "example.com/hold";
/// A driver that runs, with the real sidecars.
pub(super) const DRIVER: &str = "oracle.example.test";
/// A driver that is not installed, and the finalizer of its attacher.
const NO_DRIVER: &str = "nobody.example.test";
pub(super) const NOBODY: &str = "external-attacher/nobody-example-test";
/// The Node of all worlds. It has no kubelet.
pub(super) const NODE: &str = "oracle-node";

pub(super) struct World {
    pub(super) seed: u64,
    /// In the order of creation.
    pub(super) things: Vec<Thing>,
}

pub(super) struct Thing {
    pub(super) key: Key,
    pub(super) manifest: Value,
    pub(super) owner: Option<Owner>,
    /// The status that a kubelet would write.
    pub(super) phase: Option<&'static str>,
    pub(super) fate: Fate,
}

pub(super) struct Owner {
    /// None for an object that does not exist.
    pub(super) key: Option<Key>,
    pub(super) blocks: bool,
}

pub(super) enum Fate {
    Kept,
    /// Deleted, with these options.
    Deleted(Value),
    /// Deleted after the others, and after it was explained.
    DeletedLast,
}

struct Maker {
    prefix: String,
    dice: Dice,
    things: Vec<Thing>,
}

impl World {
    pub(super) fn roll(seed: u64) -> Self {
        let mut maker = Maker {
            prefix: format!("w{seed}-"),
            dice: Dice::new(seed),
            things: Vec::new(),
        };
        for n in 0..maker.dice.below(4) {
            maker.config(n);
        }
        for n in 0..=maker.dice.below(3) {
            maker.claim(n);
        }
        if maker.dice.percent(20) {
            maker.volume("free", None);
        }
        for n in 0..maker.dice.below(5) {
            maker.pod(n);
        }
        for n in 0..maker.dice.below(3) {
            maker.attachment(n);
        }
        let kinds = [Kind::Claim, Kind::Volume, Kind::ConfigMap];
        let kept: Vec<usize> = (0..maker.things.len())
            .filter(|n| kinds.contains(&maker.things[*n].key.kind))
            .filter(|n| matches!(maker.things[*n].fate, Fate::Kept))
            .collect();
        if !kept.is_empty() {
            let last = *maker.dice.pick(&kept);
            maker.things[last].fate = Fate::DeletedLast;
        }
        let mut things = maker.things;
        things.sort_by_key(|thing| thing.key.kind);
        World { seed, things }
    }
}

impl Maker {
    fn key(&self, kind: Kind, name: &str) -> Key {
        Key::new(kind, &format!("{}{name}", self.prefix))
    }

    fn add(&mut self, key: Key, spec: Value, finalizers: &[&str]) -> &mut Thing {
        let (group, kind) = key.kind.api();
        let mut manifest = json!({"apiVersion": group, "kind": kind,
            "metadata": {"name": key.name, "finalizers": finalizers}});
        if !spec.is_null() {
            manifest["spec"] = spec;
        }
        let fate = self.fate(key.kind);
        self.things.push(Thing {
            key,
            manifest,
            owner: None,
            phase: None,
            fate,
        });
        self.things.last_mut().unwrap()
    }

    fn fate(&mut self, kind: Kind) -> Fate {
        if self.dice.percent(40) {
            return Fate::Kept;
        }
        Fate::Deleted(match (kind, self.dice.below(4)) {
            (Kind::Pod, 0) => json!({"gracePeriodSeconds": 0}),
            (Kind::ConfigMap, 2) => json!({"propagationPolicy": "Orphan"}),
            (Kind::ConfigMap, 0 | 1) | (Kind::Claim | Kind::Pod, 3) => {
                json!({"propagationPolicy": "Foreground"})
            }
            _ => json!({"propagationPolicy": "Background"}),
        })
    }

    fn held(&mut self, chance: usize) -> Vec<&'static str> {
        if self.dice.percent(chance) {
            vec![HOLD]
        } else {
            Vec::new()
        }
    }

    /// An owner for some objects, which may not exist.
    fn owner(&mut self, chance: usize) -> Option<Owner> {
        if !self.dice.percent(chance) {
            return None;
        }
        let configs: Vec<_> = self
            .things
            .iter()
            .filter(|thing| thing.key.kind == Kind::ConfigMap)
            .collect();
        let there = !configs.is_empty() && self.dice.percent(75);
        Some(Owner {
            key: there.then(|| self.dice.pick(&configs).key.clone()),
            blocks: self.dice.percent(70),
        })
    }

    fn config(&mut self, n: usize) {
        let (owner, held) = (self.owner(60), self.held(25));
        let key = self.key(Kind::ConfigMap, &format!("config-{n}"));
        self.add(key, Value::Null, &held).owner = owner;
    }

    fn claim(&mut self, n: usize) {
        let (owner, held) = (self.owner(10), self.held(15));
        let key = self.key(Kind::Claim, &format!("claim-{n}"));
        let mut spec = claim_spec("nobody");
        match self.dice.below(10) {
            0..6 => {
                let volume = format!("volume-{n}");
                self.volume(&volume, Some(&key));
                spec["storageClassName"] = json!("");
                spec["volumeName"] = json!(self.key(Kind::Volume, &volume).name);
            }
            6..8 => spec["storageClassName"] = json!(DRIVER),
            _ => {}
        }
        self.add(key, spec, &held).owner = owner;
    }

    /// A volume that was created by hand. Nothing reclaims its disk.
    fn volume(&mut self, name: &str, claim: Option<&Key>) {
        let mut finalizers = self.held(15);
        let policy = *self.dice.pick(&["Retain", "Delete"]);
        let driver = *self.dice.pick(&[DRIVER, NO_DRIVER]);
        if driver == NO_DRIVER && self.dice.percent(50) {
            finalizers.push(NOBODY);
        }
        let mut spec = json!({"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "persistentVolumeReclaimPolicy": policy, "csi": {"driver": driver, "volumeHandle": name}});
        if let Some(claim) = claim {
            // The namespace is set on creation.
            spec["claimRef"] = json!({"name": claim.name});
        } else {
            spec["storageClassName"] = json!("for-nobody");
        }
        let key = self.key(Kind::Volume, name);
        self.add(key, spec, &finalizers);
    }

    fn pod(&mut self, n: usize) {
        let (owner, held) = (self.owner(15), self.held(25));
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        let scheduled = self.dice.percent(75);
        if scheduled {
            spec["nodeName"] = json!(NODE);
        }
        let volumes: Vec<_> = (0..=self.dice.below(2)).map(|n| self.mount(n)).collect();
        spec["volumes"] = json!(volumes);
        let phase = *self
            .dice
            .pick(&[None, Some("Running"), Some("Succeeded"), Some("Failed")]);
        let key = self.key(Kind::Pod, &format!("pod-{n}"));
        let thing = self.add(key, spec, &held);
        thing.owner = owner;
        thing.phase = phase.filter(|_| scheduled);
    }

    /// An existing claim, a missing claim, an ephemeral claim, or an emptyDir.
    fn mount(&mut self, n: usize) -> Value {
        let name = format!("volume-{n}");
        match self.dice.below(6) {
            0 => json!({"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec("nobody")}}}),
            1 => json!({"name": name, "emptyDir": {}}),
            _ => {
                let n = self.dice.below(3);
                let claim = self.key(Kind::Claim, &format!("claim-{n}"));
                json!({"name": name, "persistentVolumeClaim": {"claimName": claim.name}})
            }
        }
    }

    /// An attachment of an existing volume, with the volume's driver.
    fn attachment(&mut self, n: usize) {
        let volumes: Vec<_> = self
            .things
            .iter()
            .filter(|thing| thing.key.kind == Kind::Volume)
            .collect();
        if volumes.is_empty() {
            return;
        }
        let volume = self.dice.pick(&volumes);
        let driver = volume.manifest["spec"]["csi"]["driver"].clone();
        let spec = json!({"attacher": driver, "nodeName": NODE, "source": {"persistentVolumeName": volume.key.name}});
        let mut finalizers = self.held(15);
        if driver == NO_DRIVER && self.dice.percent(60) {
            finalizers.push(NOBODY);
        }
        let key = self.key(Kind::Attachment, &format!("attachment-{n}"));
        self.add(key, spec, &finalizers);
    }
}

/// A small claim of this class.
pub(super) fn claim_spec(class: &str) -> Value {
    json!({"storageClassName": class, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}})
}
