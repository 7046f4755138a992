//! Each component can be stopped, killed, paused and restarted, one after the other in one cluster.

use std::time::Duration;

use crate::harness::{Cluster, wait};

const SOON: Duration = Duration::from_secs(30);

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn components_fail_and_recover() {
    let cluster = Cluster::start();
    let answers = || {
        cluster
            .kubectl(["get", "namespace", "default", "--request-timeout=2s"])
            .code
            == 0
    };
    let account = |ns: &str| cluster.get(["serviceaccount", "default", "-n", ns]).is_some();
    assert!(answers());

    cluster.api_server().pause();
    assert!(!answers(), "a frozen API server does not answer");
    assert!(cluster.api_server().is_running());
    cluster.api_server().resume();
    wait("the API server answers again", SOON, answers);

    cluster.etcd().kill();
    assert!(!cluster.etcd().is_running());
    assert!(!answers(), "nothing is known without etcd");
    cluster.etcd().start();
    wait("the objects in etcd still exist", SOON, answers);

    cluster.controller_manager().pause();
    let ns = cluster.namespace("later");
    std::thread::sleep(Duration::from_secs(1));
    assert!(!account(ns.name()), "a frozen controller does nothing");
    cluster.controller_manager().resume();
    wait("the controller catches up", SOON, || account(ns.name()));

    cluster.api_server().stop();
    assert!(!answers());
    cluster.api_server().start();
    assert!(answers(), "start returns when it is ready");

    cluster.controller_manager().kill();
    let ns = cluster.namespace("after-crash");
    cluster.controller_manager().start();
    wait(
        "another leader takes over after the first lease expires",
        SOON,
        || account(ns.name()),
    );
}
