//! Which API groups belong to Kubernetes, by the labels of the server.

use kubectl_finalizers::object::is_custom_group;

use crate::harness::Cluster;

/// kube-aggregator labels built-in groups with `onstart` and the groups of definitions with `true`
/// (`kubernetes/kube-aggregator:pkg/controllers/autoregister/`).
#[test]
fn groups_that_the_server_serves_itself_are_not_custom() {
    let services = Cluster::shared().get(["apiservices"]).expect("a list");
    let mut own = 0;
    for service in services["items"].as_array().into_iter().flatten() {
        let managed = &service["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"];
        let group = service["spec"]["group"].as_str().unwrap_or_default();
        let is_own = managed == "onstart";
        assert_eq!(!is_custom_group(group), is_own, "{service:#}");
        own += usize::from(is_own);
    }
    assert!(own > 15, "{own} groups and versions of its own");
}
