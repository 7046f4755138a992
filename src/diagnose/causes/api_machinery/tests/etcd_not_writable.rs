//! etcd takes no writes, which the Leases of the API servers and of the controller manager show.

use serde_json::json;

use crate::{
    diagnose::{
        Diagnosis, Verdict,
        testing::{
            fixtures::going,
            told::command_lines,
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

fn lease(name: &str, renewed: &str) -> Object {
    let labels = if name == "kube-controller-manager" {
        json!({})
    } else {
        json!({"apiserver.kubernetes.io/identity": "kube-apiserver"})
    };
    object(
        "coordination.k8s.io",
        "leases",
        "Lease",
        json!({"metadata": {"name": name, "namespace": "kube-system", "labels": labels},
            "spec": {"renewTime": renewed, "leaseDurationSeconds": 15, "holderIdentity": "a"}}),
    )
}

/// A claim without users. The controller manager would remove its finalizer at once.
fn claim() -> Object {
    let metadata = going("data", "shop", &["kubernetes.io/pvc-protection"]);
    object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": metadata}),
    )
}

fn mentions_etcd(diagnosis: &Diagnosis) -> bool {
    command_lines(diagnosis)
        .iter()
        .any(|command| command.contains("etcdctl"))
}

#[test]
fn stale_leases_of_all_writers_blame_etcd() {
    let (old, new) = ("2026-01-01T11:40:00Z", "2026-01-01T11:59:55Z");
    let manager = |renewed| lease("kube-controller-manager", renewed);
    let diagnosis =
        World::of([manager(old), lease("apiserver-a", old), lease("apiserver-b", old)]).explain(&claim());
    assert_eq!(diagnosis.waits[0].verdict, Verdict::Stalled, "{diagnosis:#?}");
    assert!(mentions_etcd(&diagnosis), "{diagnosis:#?}");

    // One API server that writes proves that etcd takes writes. Without their Leases nothing is known.
    for others in [
        vec![lease("apiserver-a", old), lease("apiserver-b", new)],
        vec![lease("apiserver-a", "2026-01-01T11:59:05Z")],
        vec![],
    ] {
        let diagnosis = World::of(others.into_iter().chain([manager(old)])).explain(&claim());
        assert!(!mentions_etcd(&diagnosis), "{diagnosis:#?}");
    }
    // A controller manager that renews its Lease has written.
    let diagnosis = World::of([manager(new), lease("apiserver-a", old)]).explain(&claim());
    assert!(!mentions_etcd(&diagnosis), "{diagnosis:#?}");
}
