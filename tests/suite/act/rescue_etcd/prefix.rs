//! The prefix of the API server in etcd: found or given, and no other key is touched.

use super::{Case, Cluster, HOLD, delete, outcome, rescue_again, run, says, words};
use crate::harness::Options;

/// An etcd with the keys of other programs, and an API server with this prefix.
fn cluster(prefix: &str) -> Cluster {
    let flag = format!("--etcd-prefix={prefix}");
    let cluster = Cluster::with(&Options {
        apiserver_args: &[&flag],
        controller_manager: false,
        ..Options::default()
    });
    for key in ["/a-first/key", "/calico/v1/host/n1", "/zz/last", "plain"] {
        cluster.etcdctl(["put", key, "of somebody else"]).success();
    }
    cluster
}

/// A ConfigMap in deletion.
fn held<'a>(cluster: &'a Cluster, name: &str) -> Case<'a> {
    let case = Case::empty(cluster, name);
    case.make("held", &[HOLD]);
    delete(cluster, "configmap/held", case.ns.name());
    case
}

/// The keys that changed from this revision on, but for the Leases that the API server renews: `/leases/`,
/// `/masterleases/` and `/peerserverleases/`.
fn changed(cluster: &Cluster, from: u64) -> Vec<String> {
    let last = "zzz-the-end";
    cluster.etcdctl(["put", last, "x"]).success();
    let mut keys: Vec<_> = cluster
        .history("", from, last)
        .into_iter()
        .map(|event| event.key)
        .filter(|key| !key.contains("leases/"))
        .collect();
    keys.dedup();
    keys
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_prefix_is_found_and_no_other_key_changes() {
    for prefix in ["/kubernetes.io", "/other", "/deep/er/one"] {
        let cluster = cluster(prefix);
        let case = held(&cluster, "prefixed");
        let key = format!("{prefix}/configmaps/{}/held", case.ns.name());
        let shown = run(&case, "configmap/held", &["--plan"]).run();
        says(&shown, &key);
        let from = cluster.revision() + 1;
        let outcome = outcome(&case, "configmap/held");
        assert_eq!(outcome["result"], "rescued", "{prefix}: {outcome:#}");
        assert_eq!(changed(&cluster, from), [key], "{prefix}");
        let held = case.get().unwrap();
        assert!(held["metadata"]["deletionTimestamp"].is_null(), "{held:#}");
    }
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_prefix_that_is_given_is_the_only_one() {
    let cluster = cluster("/other");
    let case = held(&cluster, "given-prefix");
    let out = run(&case, "configmap/held", &["--etcd-prefix=/registry"]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "this etcd has none of these keys");
    let words = words(&case, "configmap/held", &["--etcd-prefix=/other"]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let outcome = rescue_again::outcome(&case, &words);
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
}
