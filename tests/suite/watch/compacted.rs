//! The API server is away, and the store is compacted meanwhile: no watch can go on where it was, and what went is found by
//! reading again.

use super::{SOON, delete, held, lines};
use crate::harness::{Cluster, Options, Signal};

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn what_goes_while_nobody_can_watch_is_found_after_a_compaction() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let ns = cluster.namespace("compacted");
    held(&ns);
    delete(&ns, "cm/held");
    let name = ns.name();
    let one = lines(cluster.plugin(["watch", "cm/held", "-n", name]).within(SOON * 4));
    one.see("cm/held");
    // This one goes on, because another object stays.
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: stays, finalizers: [example.com/held]}}");
    delete(&ns, "cm/stays");
    let all = lines(cluster.plugin(["watch", "-n", name]).within(SOON * 4));
    all.see("cm/held").see("cm/stays");
    let seen = ns.get(["cm", "held"]).expect("it exists")["metadata"]["resourceVersion"].clone();
    let seen = seen.as_str().expect("a version");

    cluster.api_server().kill();
    one.see("NOT READ: ");
    all.see("NOT READ: ");
    cluster.forget(&format!("configmaps/{name}/held"));
    cluster.api_server().start();
    // A watch from the version that both have seen.
    let path =
        format!("/api/v1/namespaces/{name}/configmaps?watch=1&resourceVersion={seen}&timeoutSeconds=2");
    let expired = cluster.kubectl(["get", "--raw", &path]);
    let answer = format!("{}{}", expired.stdout, expired.stderr);
    assert!(answer.contains("too old resource version"), "{answer}");

    let out = one.finish();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout.lines().last().unwrap().contains(": gone after "),
        "{out}"
    );
    all.see(&format!("cm/held -n {name}: gone after "));
    all.signal(Signal::INT);
    let out = all.finish();
    assert_eq!(out.code, 130, "{out}");
    assert!(
        !out.stdout.contains(&format!("cm/stays -n {name}: gone")),
        "{out}"
    );
}
