//! Requests that fail because the namespace is in deletion: a restore, a nightly job.

use crate::{
    explain::told::{condition, delete, goes, release, told},
    harness::Cluster,
};

#[test]
fn explains_why_a_user_may_not_create_in_a_namespace() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("restore");
    let name = ns.name();
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.test/keep]}}");
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceFinalizersRemaining", "True");
    let refused = ns.kubectl(["create", "configmap", "restored"]);
    let words = format!("unable to create new content in namespace {name} because it is being terminated");
    assert!(refused.code != 0 && refused.stderr.contains(&words), "{refused}");

    // The answer says so before any step, and a search for the server's message finds the explanation.
    let text = cluster.plugin(["explain", &format!("ns/{name}")]).run().success();
    let (answer, _) = text.split_once("[read-only]").unwrap();
    assert!(
        answer.contains("Until it is gone: nothing can be created in it"),
        "{text}"
    );
    told(cluster, &format!("ns/{name}"), "")
        .says(&words)
        .has_root("ConfigMap c: being deleted, held by example.test/keep");

    // A pipeline fails with the cause, not with a timeout.
    let out = cluster
        .plugin(["scan", "-n", name, "--exit-code", "-o", "json"])
        .run();
    assert_eq!(out.code, 4, "{out}");
    let report: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    let causes = report["rootCauses"].to_string();
    assert!(causes.contains("example.test/keep"), "{report:#}");
    release(cluster, "configmap/c", name);
    goes(cluster, &format!("ns/{name}"), "");
    let out = cluster.plugin(["scan", "ns", "-n", name, "--exit-code"]).run();
    assert_ne!(out.code, 4, "{out}");
}
