//! A namespace with more objects of one type than one request can delete.

use serde_json::json;

use crate::{
    explain::{
        replayed::replayed,
        told::{condition, delete, goes, shell, told},
    },
    harness::{Cluster, Options},
    stuck::custom_type,
};

const GROUP: &str = "crowd.example.test";
/// Ten pages. With a request timeout of two seconds, a server on a busy machine may fail to delete a page.
const AGAIN: u32 = 40;

/// Writes the objects to etcd directly, because a request for each takes minutes.
fn stored(cluster: &Cluster, namespace: &str, count: usize) {
    const AT_ONCE: usize = 1000;
    let etcdctl = cluster.etcdctl_line();
    for from in (0..count).step_by(AT_ONCE) {
        let puts = (from..count.min(from + AT_ONCE)).map(|n| {
            let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Report", "metadata": {
                "name": format!("r-{n}"), "namespace": namespace, "uid": format!("00000000-0000-4000-8000-{n:012}"),
                "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1}, "spec": {"text": "x".repeat(200)}});
            format!("put /registry/{GROUP}/reports/{namespace}/r-{n} {:?}", object.to_string())
        });
        let puts: Vec<_> = puts.collect();
        let file = cluster.directory().join("puts");
        std::fs::write(&file, format!("\n{}\n\n\n", puts.join("\n"))).unwrap();
        shell(cluster, &format!("{etcdctl} txn < {}", file.display()));
    }
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn more_objects_of_one_type_than_one_request_can_delete() {
    let cluster = &Cluster::with(&Options {
        etcd_args: &["--max-txn-ops=1000"],
        apiserver_args: &["--request-timeout=2s"],
        ..Options::default()
    });
    custom_type(cluster, GROUP, "reports", "Report");
    cluster.apply("{apiVersion: v1, kind: Namespace, metadata: {name: crowd}}");
    stored(cluster, "crowd", 5000);
    delete(cluster, "ns/crowd", "");
    condition(cluster, "crowd", "NamespaceDeletionContentFailure", "True");
    // The current count, while the number does not change.
    cluster.controller_manager().pause();
    let story = told(cluster, "ns/crowd", "");
    assert_eq!(story.verdict("kubernetes"), "failing", "{story}");
    story
        .says("Failed to delete all resource types, 1 remaining")
        .says("That request ran out of time")
        .says(
            "reports.crowd.example.test: not being deleted yet, and no finalizer holds them; slow, not stuck",
        )
        .never_advises("finalizers remove")
        .never_advises("/finalize")
        .is_careful();
    replayed(cluster, "ns/crowd", "");

    // The objects are deleted in pages, without the controller's help; all else is the same.
    // A page that times out is deleted again.
    let left = || {
        let names = shell(cluster, "kubectl get reports.crowd.example.test -n crowd -o name");
        names.lines().count()
    };
    for _ in 0..AGAIN {
        let before = left();
        if before == 0 {
            break;
        }
        story.try_to_follow(cluster, "kubectl delete --raw");
        assert!(left() < before, "none of {before} went");
    }
    assert_eq!(left(), 0);
    cluster.controller_manager().replace();
    goes(cluster, "ns/crowd", "");
}
