//! A CSIDriver, and the drivers of a node.

use crate::{
    diagnose::kinds::read::{boolean, list, some_text, texts},
    snapshot::facts::Object,
};

/// A CSIDriver.
#[derive(Clone, Copy)]
pub(crate) struct CsiDriver<'a>(pub(crate) &'a Object);

impl<'a> CsiDriver<'a> {
    /// Whether kubelets mount its volumes without an attachment.
    pub(crate) fn needs_no_attachment(self) -> bool {
        boolean(&self.0.value, "/spec/attachRequired") == Some(false)
    }

    /// Whether the driver gets the name of the Pod of a mount.
    pub(crate) fn is_told_of_pods(self) -> bool {
        boolean(&self.0.value, "/spec/podInfoOnMount") == Some(true)
    }

    /// Whether kubelets ask it again and again to refresh its mounts.
    pub(crate) fn refreshes_mounts(self) -> bool {
        boolean(&self.0.value, "/spec/requiresRepublish") == Some(true)
    }

    /// Whether it gets tokens of the Pods.
    pub(crate) fn gets_tokens(self) -> bool {
        !self.0.list("/spec/tokenRequests").is_empty()
    }

    /// Which of its volumes are given to the fsGroup of their Pod.
    pub(crate) fn fs_group_policy(self) -> &'a str {
        self.0.text("/spec/fsGroupPolicy")
    }

    /// Whether Pods may have its volumes without a claim.
    pub(crate) fn has_inline_volumes(self) -> bool {
        texts(&self.0.value, "/spec/volumeLifecycleModes").any(|mode| mode == "Ephemeral")
    }
}

/// The drivers on a node.
#[derive(Clone, Copy)]
pub(crate) struct CsiNode<'a>(pub(crate) &'a Object);

impl<'a> CsiNode<'a> {
    /// The names of the drivers whose node plugin has registered.
    pub(crate) fn drivers(self) -> impl Iterator<Item = &'a str> {
        let drivers = list(&self.0.value, "/spec/drivers").iter();
        drivers.filter_map(|driver| some_text(driver, "/name"))
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::api::storage::v1 as storage;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn drivers() {
        let driver = storage::CSIDriver {
            spec: storage::CSIDriverSpec {
                attach_required: Some(false),
                pod_info_on_mount: Some(true),
                requires_republish: Some(true),
                token_requests: Some(vec![storage::TokenRequest::default()]),
                fs_group_policy: Some("File".into()),
                volume_lifecycle_modes: Some(vec!["Persistent".into(), "Ephemeral".into()]),
                ..Default::default()
            },
            ..Default::default()
        };
        reads!(driver => CsiDriver;
            |driver| driver.needs_no_attachment() => true, absent false;
            |driver| driver.is_told_of_pods() => true, absent false;
            |driver| driver.refreshes_mounts() => true, absent false;
            |driver| driver.fs_group_policy() => "File", absent "";
            |driver| driver.has_inline_volumes() => true, absent false;
        );
    }

    #[test]
    fn drivers_of_a_node() {
        let node = storage::CSINode {
            spec: storage::CSINodeSpec {
                drivers: vec![storage::CSINodeDriver {
                    name: "d.example".into(),
                    ..Default::default()
                }],
            },
            ..Default::default()
        };
        reads!(node => CsiNode; |node| node.drivers().collect::<Vec<_>>() => ["d.example"], absent [""; 0];);
    }
}
