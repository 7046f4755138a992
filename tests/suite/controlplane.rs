//! The harness keeps its promises; everything else rests on that.
use std::time::Duration;

use crate::harness::{Cluster, wait};

#[test]
fn kubectl_talks_to_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("hello");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}");
    assert_eq!(ns.get(["configmap", "a"]).unwrap()["data"]["k"], "v");
    assert!(ns.get(["configmap", "b"]).is_none());
    wait("never", Duration::from_secs(1), || true);
}
