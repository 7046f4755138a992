//! A store that takes no writes, told by the Leases of those who write by themselves.

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

/// A claim that nobody uses, which the controller manager would let go at once.
fn claim() -> Object {
    let metadata = going("data", "shop", &["kubernetes.io/pvc-protection"]);
    object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": metadata}),
    )
}

fn speaks_of_etcd(told: &Diagnosis) -> bool {
    command_lines(told)
        .iter()
        .any(|command| command.contains("etcdctl"))
}

#[test]
fn nobody_renews_so_nobody_can_write() {
    let (old, new) = ("2026-01-01T11:40:00Z", "2026-01-01T11:59:55Z");
    let manager = |renewed| lease("kube-controller-manager", renewed);
    let told =
        World::of([manager(old), lease("apiserver-a", old), lease("apiserver-b", old)]).explain(&claim());
    assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
    assert!(speaks_of_etcd(&told), "{told:#?}");

    // One API server that writes is enough to know that writing works; and without their Leases nothing is known.
    for others in [
        vec![lease("apiserver-a", old), lease("apiserver-b", new)],
        vec![lease("apiserver-a", "2026-01-01T11:59:05Z")],
        vec![],
    ] {
        let told = World::of(others.into_iter().chain([manager(old)])).explain(&claim());
        assert!(!speaks_of_etcd(&told), "{told:#?}");
    }
    // A controller manager that renews has written.
    let told = World::of([manager(new), lease("apiserver-a", old)]).explain(&claim());
    assert!(!speaks_of_etcd(&told), "{told:#?}");
}
