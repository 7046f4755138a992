//! A Node.

use crate::{
    diagnose::kinds::read::{text, texts},
    snapshot::facts::Object,
};

/// A Node.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a>(pub(crate) &'a Object);

impl<'a> Node<'a> {
    /// Whether somebody declared that its machine is off.
    pub(crate) fn is_out_of_service(self) -> bool {
        self.has_taint("node.kubernetes.io/out-of-service")
    }

    /// Whether the cloud provider reports that its machine is shut down
    /// (`kubernetes/cloud-provider:controllers/nodelifecycle/node_lifecycle_controller.go`).
    pub(crate) fn is_shut_down(self) -> bool {
        self.has_taint("node.cloudprovider.kubernetes.io/shutdown")
    }

    fn has_taint(self, key: &str) -> bool {
        let mut taints = self.0.list("/spec/taints").iter();
        taints.any(|taint| text(taint, "/key") == key)
    }

    /// The volumes that its kubelet has mounted, in the kubelet's names: `kubernetes.io/csi/DRIVER^HANDLE`.
    pub(crate) fn volumes_in_use(self) -> impl Iterator<Item = &'a str> {
        texts(&self.0.value, "/status/volumesInUse")
    }

    /// The name of its machine at the provider.
    pub(crate) fn provider_id(self) -> &'a str {
        self.0.text("/spec/providerID")
    }

    /// The version of its kubelet.
    pub(crate) fn kubelet_version(self) -> &'a str {
        self.0.text("/status/nodeInfo/kubeletVersion")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::api::core::v1 as core;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn nodes() {
        let node = core::Node {
            spec: Some(core::NodeSpec {
                provider_id: Some("kind://1".into()),
                taints: Some(vec![core::Taint {
                    key: "node.kubernetes.io/out-of-service".into(),
                    effect: "NoExecute".into(),
                    ..Default::default()
                }]),
                ..Default::default()
            }),
            status: Some(core::NodeStatus {
                volumes_in_use: Some(vec!["kubernetes.io/csi/d.example^vol-1".into()]),
                node_info: Some(core::NodeSystemInfo {
                    kubelet_version: "v1.34.0".into(),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(node => Node;
            |node| node.is_out_of_service() => true, absent false;
            |node| node.volumes_in_use().collect::<Vec<_>>() => ["kubernetes.io/csi/d.example^vol-1"], absent [""; 0];
            |node| node.provider_id() => "kind://1", absent "";
            |node| node.kubelet_version() => "v1.34.0", absent "";
        );
    }
}
