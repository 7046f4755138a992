//! Random worlds on a real control plane: `explain` must name exactly what keeps an object.
//!
//! A world has a few Pods, claims, volumes, attachments and owners. A random part of it is deleted. `explain`
//! is asked about every stuck object, and about one object that is not in deletion yet. Then everything that it
//! named is removed, one after the other. If an object is deleted before the last of these removals, or stays
//! after it, the explanation differs from what the controllers do. Where the explanation says unknown, nothing
//! is tried.
//!
//! `WORLDS=1000 cargo test --test suite oracle -- --ignored --nocapture` tries many worlds, beginning at `SEED`
//! if that is set. `WORLDS=1 SEED=17` tries that world again.

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

/// Tries this many worlds, some at a time, and fails with all differences.
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

/// Printed at once, so that a long run can be stopped and the world tried again.
fn report(outcome: &Outcome, seed: u64) {
    for difference in &outcome.differences {
        eprintln!("WORLDS=1 SEED={seed}: {difference}");
    }
}

#[test]
fn explanations_name_exactly_what_keeps_an_object() {
    worlds(20_261_121, 3, 3);
}

#[test]
#[ignore = "the long form: WORLDS=1000, SEED=…"]
fn explanations_name_exactly_what_keeps_an_object_in_many_worlds() {
    let number =
        |name: &str, otherwise: u64| env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    worlds(number("SEED", 1), number("WORLDS", 100), number("TOGETHER", 8));
}
