//! Pods that are stuck in Terminating, and what waits for Pods.

mod grace_period;
mod job_tracking;
pub mod kubelet_confirmation;
pub mod resource_claim;

use jiff::Timestamp;
use serde_json::json;

use crate::harness::Cluster;

/// What holds a Pod without finalizers.
const KUBELET: &str = "";

/// Creates a Node without a kubelet.
fn node(cluster: &Cluster, ready: &str) -> String {
    let name = cluster.node();
    let reason = if ready == "True" {
        "KubeletReady"
    } else {
        "NodeStatusUnknown"
    };
    cluster.patch_status(
        ["node", &name],
        &json!({"conditions": [{
            "type": "Ready", "status": ready, "reason": reason, "message": "Kubelet stopped posting node status.",
            "lastHeartbeatTime": Timestamp::now().to_string(),
        }]}),
    );
    name
}
