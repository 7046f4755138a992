//! Service networking.

use super::{Scenario, Target, namespace, scenario, target};
use crate::{
    explain::{
        network::service_cidr::{range, service_in},
        told::SOON,
    },
    harness::{Cluster, wait},
};

pub(super) const ALL: &[Scenario] = &[scenario("ranged", range_in_use)
    .steps(2, 2)
    .tells(&["network/service_cidr"])
    .since("networking.k8s.io/v1 ServiceCIDR", 33)];

/// Each copy has a range of its own, by its number.
fn range_in_use(cluster: &Cluster, name: &str) -> Target {
    namespace(cluster, name);
    let number = name.trim_matches(|c: char| !c.is_ascii_digit());
    range(cluster, name, &format!("10.97.{number}.0/29"));
    service_in(cluster, name, &format!("10.97.{number}.3"));
    let target = target(cluster, &format!("servicecidr/{name}"), "");
    wait("the controller reports its condition", SOON, || {
        let range = cluster.get(["servicecidr", name]).unwrap();
        range["status"]["conditions"].to_string().contains("Terminating")
    });
    target
}
