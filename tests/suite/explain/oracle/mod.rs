//! Random worlds on a real control plane: what `explain` names must be what keeps an object, and nothing else.
//!
//! A world is a handful of pods, claims, volumes, attachments and owners. A random part of it is deleted, and
//! `explain` is asked about all that does not go, and about one more object that is not deleted yet. Then what was
//! named is removed, one after the other. An object that goes before the last of what was named for it is gone, or
//! stays after it, is a difference between what was said and what the controllers do. Where it is said that something
//! is not known, nothing is tried.
//!
//! `WORLDS=1000 cargo test --test suite oracle -- --ignored --nocapture` tries many, from `SEED` on if that is set; so
//! `WORLDS=1 SEED=17` tries that one again.

mod api;
mod canary;
mod judge;
mod key;
mod run;
mod state;
mod world;

use std::{
    env,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use self::{
    api::Api,
    run::{Outcome, Run},
    world::World,
};
use crate::harness::Cluster;

/// Tries so many worlds, so many at a time, and fails with all that differed.
fn worlds(seed: u64, count: u64, together: u64) {
    let cluster = Cluster::shared();
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: {node}}}, spec: {{drivers: [{{name: {driver}, nodeID: n1}}]}}}}",
        node = world::NODE,
        driver = world::DRIVER
    ));
    let _driver = cluster.csi_driver(world::DRIVER).with_attacher().start();
    let (next, began) = (AtomicU64::new(0), Instant::now());
    let all = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        for _ in 0..together.min(count) {
            scope.spawn(|| {
                let api = Api::new(cluster.kubeconfig());
                let namespace = cluster.namespace("oracle");
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let outcome =
                        Run::new(cluster, &api, namespace.name(), seed + n).world(&World::roll(seed + n));
                    report(&outcome, seed + n);
                    let mut all = all.lock().unwrap();
                    all.targets += outcome.targets;
                    all.open += outcome.open;
                    all.steps += outcome.steps;
                    all.differences.extend(outcome.differences);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    eprintln!(
        "{count} worlds from SEED={seed} in {:.1?}: {} objects explained, {} of them with something unknown, {} steps, {} \
         differences",
        began.elapsed(),
        all.targets,
        all.open,
        all.steps,
        all.differences.len()
    );
    assert!(all.targets > 0, "the dice must give something that does not go");
    assert!(all.differences.is_empty(), "{}", all.differences.join("\n"));
}

/// At once, so that a long run can be stopped and the world tried again.
fn report(outcome: &Outcome, seed: u64) {
    for difference in &outcome.differences {
        eprintln!("WORLDS=1 SEED={seed}: {difference}");
    }
}

#[test]
fn what_is_named_is_what_holds() {
    worlds(20_261_121, 3, 3);
}

#[test]
#[ignore = "the long form: WORLDS=1000, SEED=…"]
fn what_is_named_is_what_holds_in_many_worlds() {
    let number =
        |name: &str, otherwise: u64| env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    worlds(number("SEED", 1), number("WORLDS", 100), number("TOGETHER", 8));
}
