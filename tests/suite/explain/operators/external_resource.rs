//! What an object stands for outside the cluster. `missing_reference.rs` has the settings that keep or delete it.

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{delete, goes, release, told},
    },
    harness::Cluster,
};

#[test]
fn a_load_balancer_without_a_controller_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("front");
    let finalizer = "service.kubernetes.io/load-balancer-cleanup";
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: front, finalizers: [{finalizer}]}}, spec: {{type: LoadBalancer, ports: [{{port: 80}}]}}}}"
    ));
    ns.patch_status(
        ["service", "front"],
        &serde_json::json!({"loadBalancer": {"ingress": [{"hostname": "a1b2.elb.example.test"}]}}),
    );
    delete(cluster, "service/front", ns.name());
    let story = told(cluster, "service/front", ns.name());
    story
        .says("the load balancer at a1b2.elb.example.test stays at the provider")
        .is_careful();
    assert!(
        ["unknown", "orphaned"].contains(&story.verdict(finalizer)),
        "{story}"
    );
    replayed(cluster, "service/front", ns.name());
    withstands_less(cluster, "service/front", ns.name(), 24);
    release(cluster, "service/front", ns.name());
    goes(cluster, "service/front", ns.name());
}
