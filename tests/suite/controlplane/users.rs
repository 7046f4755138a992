use crate::harness::Cluster;

#[test]
fn a_user_may_do_only_what_was_granted() {
    let cluster = Cluster::shared();
    let (ns, other) = (cluster.namespace("granted"), cluster.namespace("other"));
    let user = cluster
        .user("reader")
        .may("list", "nodes,customresourcedefinitions.apiextensions.k8s.io")
        .may_in(ns.name(), "get,list", "configmaps,deployments.apps")
        .create();

    let list = |resource: &str, namespace: &str| user.kubectl(["get", resource, "-n", namespace]);
    assert_eq!(list("nodes", "").code, 0);
    assert_eq!(list("crds", "").code, 0);
    assert_eq!(list("configmaps", ns.name()).code, 0);
    assert_eq!(list("deployments", ns.name()).code, 0);
    for refused in [list("configmaps", other.name()), list("secrets", ns.name())] {
        assert_eq!(refused.code, 1);
        assert!(
            refused
                .stderr
                .contains(&format!("User \"{}\" cannot list", user.name())),
            "{refused}"
        );
    }
}

#[test]
fn an_expired_certificate_is_rejected() {
    let user = Cluster::shared().user("late").may("get", "*").expired().create();
    let out = user.kubectl(["get", "namespace", "default"]);
    assert_eq!(out.code, 1);
    assert!(
        out.stderr.contains("Unauthorized") || out.stderr.contains("must be logged in"),
        "{out}"
    );
}
