//! etcd is full: the API server can read and cannot write, and so no controller can.

use crate::{
    explain::{
        replayed::replayed,
        told::{SOON, condition, delete, goes, release, shell, told},
    },
    harness::{Cluster, Options, wait},
};

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_full_etcd_is_named_as_the_cause() {
    let cluster = &Cluster::with(&Options {
        etcd_args: &["--quota-backend-bytes=33554432"],
        ..Options::default()
    });
    cluster.apply(
        "{apiVersion: v1, kind: Namespace, metadata: {name: full}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: full, finalizers: [example.test/keep]}}",
    );
    delete(cluster, "ns/full", "");
    condition(cluster, "full", "NamespaceFinalizersRemaining", "True");
    told(cluster, "ns/full", "").never_says("cannot write");

    let junk = cluster.directory().join("junk");
    std::fs::write(&junk, vec![b'x'; 1 << 20]).unwrap();
    let etcdctl = cluster.etcdctl_line();
    let fill = format!(
        "for i in $(seq 40); do {etcdctl} put /junk/$i < {} || exit 0; done",
        junk.display()
    );
    shell(cluster, &fill);
    let refused = cluster.kubectl(["create", "namespace", "another"]);
    assert!(
        refused.stderr.contains("mvcc: database space exceeded"),
        "{refused}"
    );

    // All Leases expire, even that of the API server.
    wait("the explanation names the full etcd", SOON, || {
        std::thread::sleep(std::time::Duration::from_secs(5));
        told(cluster, "ns/full", "")
            .roots()
            .iter()
            .any(|root| root.contains("cannot write"))
    });
    let story = told(cluster, "ns/full", "");
    assert_eq!(story.verdict("kubernetes"), "waiting", "{story}");
    story
        .has_root("by the API server itself, which answers: it can read and cannot write")
        .says("mvcc: database space exceeded")
        .says("kube-controller-manager does not run, or cannot reach the API server")
        .never_advises("--force")
        .never_advises("finalizers remove")
        .is_careful();
    assert!(story.commands()[0].contains("/readyz"), "{story}");
    replayed(cluster, "ns/full", "");

    story.follow(cluster, "/readyz");
    // The steps: delete what fills etcd, compact, defragment, and disarm the alarm.
    let revision =
        format!("$({etcdctl} endpoint status -w json | sed 's/.*\"revision\":\\([0-9]*\\).*/\\1/')");
    shell(
        cluster,
        &format!(
            "{etcdctl} del --prefix /junk/; {etcdctl} compact {revision}; {etcdctl} defrag && {etcdctl} alarm disarm"
        ),
    );
    if !cluster.controller_manager().is_running() {
        cluster.controller_manager().start();
    }
    release(cluster, "configmap/c", "full");
    goes(cluster, "ns/full", "");
}
