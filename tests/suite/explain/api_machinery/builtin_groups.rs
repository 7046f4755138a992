//! Which groups are Kubernetes' own, by the server's own account.

use kubectl_finalizers::object::is_custom_group;

use crate::harness::Cluster;

/// The server marks the groups that it serves itself with `onstart` in the aggregator's registration, and those of
/// definitions with `true` (`kubernetes/kube-aggregator:pkg/controllers/autoregister/`).
#[test]
fn the_groups_that_the_server_serves_itself_are_not_custom() {
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
