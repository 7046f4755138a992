//! Many targets: one watch for each type, however many namespaces hold them.

use std::collections::BTreeSet;

use serde_json::json;

use super::{SOON, changes, everything::Where as _, names};
use crate::{
    faults::fake::{Fake, Fault, Kind, Running, cluster_object, object},
    harness::{Output, Plugin, Signal, wait},
};

/// More than have a watch each.
const NAMESPACES: usize = 12;
const CLAIMS: &str = "/api/v1/persistentvolumeclaims";

/// Volumes in deletion, each held by a claim in a namespace of its own.
fn server() -> Fake {
    let mut server = Fake::new()
        .with_type(Kind::new("", "v1", "persistentvolumes").kind("PersistentVolume"))
        .with_type(
            Kind::new("", "v1", "persistentvolumeclaims")
                .kind("PersistentVolumeClaim")
                .namespaced(),
        );
    for at in 0..NAMESPACES {
        let (namespace, name) = (format!("ns{at}"), format!("pv{at}"));
        let claim = object(&namespace, "data")
            .uid(&format!("uid-{at}"))
            .spec(json!({"volumeName": name}))
            .status(json!({"phase": "Bound"}));
        let volume = cluster_object(&name)
            .finalizer("kubernetes.io/pv-protection")
            .deleting("2026-01-01T00:00:00Z")
            .spec(
                json!({"claimRef": {"namespace": namespace, "name": "data", "uid": format!("uid-{at}")},
                "persistentVolumeReclaimPolicy": "Retain"}),
            )
            .status(json!({"phase": "Bound"}));
        server = server
            .object("persistentvolumeclaims", claim)
            .object("persistentvolumes", volume);
    }
    server
}

/// Watches all volumes until claims are watched in this many places, and is stopped then.
fn watch(server: &Running, places: usize) -> Output {
    let targets = (0..NAMESPACES).map(|at| format!("persistentvolumes/pv{at}"));
    let words = ["watch", "-o", "json"].map(str::to_owned).into_iter();
    let run = Plugin::new(words.chain(targets))
        .kubeconfig(server.kubeconfig())
        .within(SOON * 4)
        .spawn();
    wait("it watches", SOON, || watched(server).len() >= places);
    run.signal(Signal::INT);
    let out = run.finish();
    assert_eq!(out.code, 130, "{out}");
    out
}

/// Where claims were watched.
fn watched(server: &Running) -> BTreeSet<String> {
    let requests = server.requests().into_iter();
    let watches = requests
        .filter(|one| one.query("watch").is_some() && one.path().ends_with("/persistentvolumeclaims"));
    watches.map(|one| one.path().to_owned()).collect()
}

#[test]
fn one_type_in_many_namespaces_costs_one_watch() {
    let server = server().start();
    let out = watch(&server, 1);
    let changes = changes(&out.stdout);
    let count = |name: &str| names(&changes).iter().filter(|one| **one == name).count();
    assert_eq!(
        (count("held"), count("stopped")),
        (NAMESPACES, NAMESPACES),
        "{out}"
    );
    assert_eq!(watched(&server), BTreeSet::from([CLAIMS.to_owned()]));
}

#[test]
fn whoever_may_not_watch_all_namespaces_watches_each() {
    let refused = Fault::forbidden("persistentvolumeclaims").in_watch();
    let server = server().on(CLAIMS, refused).start();
    let out = watch(&server, NAMESPACES + 1);
    assert!(!names(&changes(&out.stdout)).contains(&"lost"), "{out}");
    let mut watched = watched(&server);
    assert!(watched.remove(CLAIMS), "{watched:?}");
    assert_eq!(watched.len(), NAMESPACES, "{watched:?}");
}
