//! One world from its creation to its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::{Value, json};

use super::{
    super::dice::Dice,
    api::{Api, until},
    canary::Canary,
    judge::{Said, undecided},
    key::{Key, Kind},
    state::{State, Thing, state},
    world::{DRIVER, Fate, HOLD, NOBODY, World},
};
use crate::harness::Cluster;

/// What was tried, and the differences from the explanations.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) targets: usize,
    pub(super) open: usize,
    pub(super) steps: usize,
    pub(super) differences: Vec<String>,
}

pub(super) struct Run<'a> {
    cluster: &'a Cluster,
    api: &'a Api,
    namespace: &'a str,
    prefix: String,
    canaries: usize,
    outcome: Outcome,
}

/// A target by its uid: an ephemeral claim is created again with the same name.
struct Target {
    uid: String,
    said: Said,
    report: Value,
}

impl Target {
    fn is_there(&self, key: &Key, now: &State) -> bool {
        now.get(key).is_some_and(|thing| thing.uid == self.uid)
    }

    /// What was named and still exists. Some objects are deleted by themselves, such as a Pod whose owner is
    /// removed.
    fn left<'a>(&'a self, done: &BTreeSet<Key>, now: &State) -> Vec<&'a str> {
        let named = self.said.needs.iter();
        named
            .filter(|key| !done.contains(*key) && now.contains_key(*key))
            .map(|key| key.name.as_str())
            .collect()
    }
}

type Targets = BTreeMap<Key, Target>;

impl<'a> Run<'a> {
    pub(super) fn new(cluster: &'a Cluster, api: &'a Api, namespace: &'a str, seed: u64) -> Self {
        Run {
            cluster,
            api,
            namespace,
            prefix: format!("w{seed}-"),
            canaries: 0,
            outcome: Outcome::default(),
        }
    }

    pub(super) fn world(mut self, world: &World) -> Outcome {
        self.make(world);
        self.settle(|run| {
            for thing in &world.things {
                if let Fate::Deleted(options) = &thing.fate {
                    run.api.delete(&thing.key.path(run.namespace), options);
                }
            }
        });
        let targets = self.ask(world);
        let mut done = BTreeSet::new();
        if let Some(last) = last(world) {
            // The last removal is the deletion of the target, unless one of its own finalizers is removed by
            // hand.
            if targets
                .get(last)
                .is_some_and(|target| !target.said.needs.contains(last))
            {
                done.insert(last.clone());
            }
            self.step("its deletion", &targets, &done, |run| {
                run.api.delete(&last.path(run.namespace), &json!({}));
            });
        }
        let mut dice = Dice::new(world.seed);
        while let Some(key) = next(&targets, &done, &mut dice) {
            done.insert(key.clone());
            self.step(&key.to_string(), &targets, &done, |run| run.remove(&key));
        }
        self.clear();
        self.outcome
    }

    fn state(&self) -> State {
        state(self.api, self.namespace, &self.prefix)
    }

    fn make(&mut self, world: &World) {
        let mut uids = BTreeMap::new();
        for thing in &world.things {
            let mut manifest = thing.manifest.clone();
            if let Some(owner) = &thing.owner {
                let uid = owner.key.as_ref().map_or(&Value::Null, |key| &uids[key]);
                let uid = uid.as_str().unwrap_or("00000000-0000-4000-8000-000000000000");
                let name = owner.key.as_ref().map_or("nobody", |key| &key.name);
                manifest["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": name,
                    "uid": uid, "blockOwnerDeletion": owner.blocks}]);
            }
            if manifest["spec"]["claimRef"].is_object() {
                manifest["spec"]["claimRef"]["namespace"] = json!(self.namespace);
            }
            let made = self
                .api
                .create(&thing.key.kind.collection(self.namespace), &manifest);
            uids.insert(thing.key.clone(), made["metadata"]["uid"].clone());
            if thing.key.kind == Kind::Volume {
                self.reaches(&thing.key, "/status/phase", &json!("Available"));
            }
            if let Some(phase) = thing.phase {
                let path = format!("{}/status", thing.key.path(self.namespace));
                self.api.patch(&path, &json!({"status": {"phase": phase}}));
            }
        }
        for thing in &world.things {
            let spec = &thing.manifest["spec"];
            match thing.key.kind {
                Kind::Claim if spec["storageClassName"] != "nobody" => {
                    self.reaches(&thing.key, "/status/phase", &json!("Bound"));
                }
                Kind::Pod => {
                    let volumes = spec["volumes"].as_array().unwrap().iter();
                    for volume in volumes.filter(|volume| volume["ephemeral"].is_object()) {
                        self.ephemeral(&thing.key, volume["name"].as_str().unwrap());
                    }
                }
                Kind::Attachment if spec["attacher"] == DRIVER => {
                    self.reaches(&thing.key, "/status/attached", &json!(true));
                }
                _ => {}
            }
        }
    }

    /// Waits until the object is in this state, or until the garbage collector was faster.
    fn reaches(&self, key: &Key, pointer: &str, value: &Value) {
        let there = until(|| {
            let object = self.api.get(&key.path(self.namespace));
            object.is_none_or(|object| {
                object["metadata"]["deletionTimestamp"].is_string() || object.pointer(pointer) == Some(value)
            })
        });
        assert!(there, "{key} never gets {pointer} {value}");
    }

    fn ephemeral(&self, pod: &Key, volume: &str) {
        let claim = Key::new(Kind::Claim, &format!("{}-{volume}", pod.name));
        let there = until(|| {
            let pod = self.api.get(&pod.path(self.namespace));
            pod.is_none_or(|pod| pod["metadata"]["deletionTimestamp"].is_string())
                || self.api.get(&claim.path(self.namespace)).is_some()
        });
        assert!(there, "{claim} is never made");
    }

    /// Does something, and waits until the controllers have reacted.
    fn settle(&mut self, act: impl FnOnce(&Self)) {
        let canary = self.canary(true);
        act(self);
        canary.delete_and_wait();
        // One deletion causes the next: a Pod, its claim, its volume.
        let mut before = self.state();
        loop {
            self.canary(false).delete_and_wait();
            let now = self.state();
            if now == before {
                return;
            }
            before = now;
        }
    }

    fn canary(&mut self, whole: bool) -> Canary<'a> {
        self.canaries += 1;
        let name = format!("canary-{}{}", self.prefix, self.canaries);
        Canary::new(self.api, self.namespace, &name, whole)
    }

    /// Explains everything in deletion, and the object that is deleted last.
    fn ask(&mut self, world: &World) -> Targets {
        let last = last(world);
        let (mut now, mut text) = (State::new(), String::new());
        // The sidecars have no canary, so their objects may be explained too early.
        let answered = until(|| {
            now = self.state();
            let asked: Vec<_> = asked(&now, last).map(|(key, _)| key.to_string()).collect();
            if asked.is_empty() {
                return true;
            }
            let words = ["explain", "-o", "json", "-n", self.namespace].map(str::to_owned);
            let out = self.cluster.plugin(words.into_iter().chain(asked)).run();
            assert!(out.code == 0 || out.stderr.contains("does not exist"), "{out}");
            text = out.stdout;
            out.code == 0
        });
        assert!(answered, "what is asked about goes again and again");
        let reports = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let going = |key: &Key| now.get(key).is_some_and(|thing| thing.going);
        let targets: Targets = asked(&now, last)
            .zip(reports)
            .map(|((key, thing), report)| {
                let report = report.unwrap();
                let said = Said::of(key, &report, &going);
                let uid = thing.uid.clone();
                (key.clone(), Target { uid, said, report })
            })
            .collect();
        for (key, target) in &targets {
            if let Some(finalizer) = undecided(&target.report) {
                self.differs(
                    key,
                    &format!("is held by {finalizer}, and nobody says by whom"),
                    target,
                    &now,
                );
            }
        }
        self.outcome.targets += targets.len();
        self.outcome.open += targets.values().filter(|target| target.said.open).count();
        targets
    }

    /// Removes one thing. Then every object must be there or gone as explained.
    fn step(&mut self, what: &str, targets: &Targets, done: &BTreeSet<Key>, act: impl FnOnce(&Self)) {
        self.outcome.steps += 1;
        let canary = self.canary(false);
        act(self);
        canary.delete_and_wait();
        let mut now = State::new();
        until(|| {
            now = self.state();
            let mut late = targets.iter().filter(|(key, target)| {
                target.is_there(key, &now) && !target.said.open && target.left(done, &now).is_empty()
            });
            late.next().is_none()
        });
        for (key, target) in targets.iter().filter(|(_, target)| !target.said.open) {
            let left = target.left(done, &now);
            let difference = match (target.is_there(key, &now), left.is_empty()) {
                (true, true) => format!("stays, and {what} was the last that was named"),
                (false, false) => format!("went after {what}, though {left:?} were named"),
                _ => continue,
            };
            self.differs(key, &difference, target, &now);
        }
    }

    fn differs(&mut self, key: &Key, how: &str, target: &Target, now: &State) {
        let known = self
            .outcome
            .differences
            .iter()
            .any(|text| text.starts_with(&format!("{key} ")));
        if known {
            return;
        }
        let mut text = format!("{key} {how}\nsaid: {:#}\nnow:\n", target.report);
        for (key, thing) in now {
            let _ = writeln!(text, "  {key} {thing:?}");
        }
        self.outcome.differences.push(text);
    }

    /// What a user does, or a controller that does not run here.
    fn remove(&self, key: &Key) {
        let path = key.path(self.namespace);
        // A controller may remove its own finalizer meanwhile; then the object is read again.
        let let_go = until(|| self.api.get(&path).is_none_or(|object| self.let_go(key, &object)));
        assert!(let_go, "{key} cannot be let go");
        let grace = if key.kind == Kind::Pod {
            json!({"gracePeriodSeconds": 0})
        } else {
            json!({})
        };
        self.api.delete(&path, &grace);
    }

    /// Removes the finalizers that no controller removes. False if the object has changed since it was read.
    fn let_go(&self, key: &Key, object: &Value) -> bool {
        let metadata = &object["metadata"];
        // An attachment in deletion that is named by itself is one whose volume is gone.
        let abandoned = key.kind == Kind::Attachment && metadata["deletionTimestamp"].is_string();
        let all: Vec<_> = metadata["finalizers"].as_array().into_iter().flatten().collect();
        let others: Vec<_> = all
            .iter()
            .filter(|name| !abandoned && **name != HOLD && **name != NOBODY)
            .collect();
        if others.len() == all.len() {
            return true;
        }
        let patch =
            json!({"metadata": {"finalizers": others, "resourceVersion": metadata["resourceVersion"]}});
        self.api.patch(&key.path(self.namespace), &patch)
    }

    /// Removes what is left, so that the next world starts empty.
    fn clear(&mut self) {
        let mut left = State::new();
        let cleared = until(|| {
            left = self.state();
            for key in left.keys().rev() {
                self.remove(key);
            }
            left.is_empty()
        });
        assert!(cleared, "what is left does not go: {left:?}");
    }
}

fn last(world: &World) -> Option<&Key> {
    let mut things = world.things.iter();
    let last = things.find(|thing| matches!(thing.fate, Fate::DeletedLast));
    last.map(|thing| &thing.key)
}

/// The objects in deletion, and the one that is deleted last.
fn asked<'a>(now: &'a State, last: Option<&'a Key>) -> impl Iterator<Item = (&'a Key, &'a Thing)> {
    now.iter()
        .filter(move |(key, thing)| thing.going || last == Some(key))
}

/// One named object that can be removed now.
fn next(targets: &Targets, done: &BTreeSet<Key>, dice: &mut Dice) -> Option<Key> {
    let named: BTreeSet<_> = targets.values().flat_map(|target| &target.said.needs).collect();
    let ready: Vec<_> = named
        .into_iter()
        .filter(|key| !done.contains(key))
        .filter(|key| {
            let mut after = targets.values().filter_map(|target| target.said.after.get(key));
            after.all(|before| before.is_subset(done))
        })
        .collect();
    (!ready.is_empty()).then(|| (*dice.pick(&ready)).clone())
}
