//! Ranges of Service addresses, with the real controller and allocator.

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, told},
    },
    harness::{Cluster, has, wait},
};

const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";

/// Creates a range for the allocator.
pub fn range(cluster: &Cluster, name: &str, cidr: &str) {
    cluster.apply(&format!(
        "{{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {{name: {name}}}, spec: {{cidrs: [{cidr}]}}}}"
    ));
    wait("the range is ready", SOON, || {
        ready(cluster, name).contains("True")
    });
}

fn ready(cluster: &Cluster, name: &str) -> String {
    let range = cluster.get(["servicecidr", name]).unwrap();
    range["status"]["conditions"].to_string()
}

/// Creates Service `shop` with this address.
pub fn service_in(cluster: &Cluster, namespace: &str, address: &str) {
    // The allocator learns of a new range in its own time.
    wait("a Service gets its address", SOON, || {
        let made = cluster.kubectl([
            "create",
            "service",
            "clusterip",
            "shop",
            &format!("--clusterip={address}"),
            "--tcp=80:80",
            &format!("--namespace={namespace}"),
        ]);
        made.code == 0
    });
}

#[test]
fn a_range_with_service_addresses_waits_for_them() {
    if !has("networking.k8s.io/v1 ServiceCIDR", 33) {
        return;
    }
    let cluster = Cluster::shared();
    let ns = cluster.namespace("ranges");
    range(cluster, "extra", "10.97.1.0/29");
    service_in(cluster, ns.name(), "10.97.1.3");
    delete(cluster, "servicecidr/extra", "");
    wait("the controller reports its condition", SOON, || {
        ready(cluster, "extra").contains("Terminating")
    });

    let story = told(cluster, "servicecidr/extra", "");
    assert_eq!(story.verdict(FINALIZER), "in-use", "{story}");
    story
        .has_root("Service shop: is in use, with cluster IP 10.97.1.3")
        .says("There are still IPAddresses referencing the ServiceCIDR")
        .says("INTERRUPTION")
        .never_advises("finalizers remove")
        .never_advises("finalizers nudge")
        .is_careful();
    assert_eq!(story.roots().len(), 1, "{story}");
    withstands_less(cluster, "servicecidr/extra", "", 12);
    story.follow(cluster, "kubectl create -f -");
    goes(cluster, "servicecidr/extra", "");
    assert!(ns.get(["service", "shop"]).is_some(), "nobody was interrupted");

    // The same range under the other name: this time its Service may be deleted.
    delete(cluster, "servicecidr/extra-again", "");
    let story = told(cluster, "servicecidr/extra-again", "");
    assert_eq!(story.verdict(FINALIZER), "in-use", "{story}");
    story.follow(cluster, "delete service/shop");
    goes(cluster, "servicecidr/extra-again", "");
}

#[test]
fn a_range_inside_another_range_waits_for_nothing() {
    if !has("networking.k8s.io/v1 ServiceCIDR", 33) {
        return;
    }
    let cluster = Cluster::shared();
    range(cluster, "within", "10.96.7.0/24");
    told(cluster, "servicecidr/within", "").says("each of its ranges lies in another ServiceCIDR");
    delete(cluster, "servicecidr/within", "");
    if let Some(range) = cluster.get(["servicecidr", "within"])
        && range["metadata"]["deletionTimestamp"].is_string()
    {
        let story = told(cluster, "servicecidr/within", "");
        if story.0["gone"] == false {
            assert_eq!(story.verdict(FINALIZER), "waiting", "{story}");
            assert!(story.roots().is_empty(), "{story}");
        }
    }
    goes(cluster, "servicecidr/within", "");
}
