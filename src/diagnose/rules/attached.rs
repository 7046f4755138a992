//! An attachment that nobody has asked to detach yet, and why.
//!
//! **Recognises** a `VolumeAttachment` that is not being deleted, alone or in the way of its volume. **Why:** the
//! attach/detach controller deletes it when no pod on the node uses the disk and the kubelet has unmounted it; by force
//! after six minutes on a node that is not Ready or gone
//! (`kubernetes/kubernetes:pkg/controller/volume/attachdetach/reconciler/reconciler.go`). **Wants** the volume, pods of
//! the claim's namespace, and the node. **Concludes** `in-use` while a pod uses the disk there.

use serde_json::Value;

use super::storage::unknown;
use crate::{
    diagnose::{
        model::{Blocker, Finding, Outlook, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(super) fn not_deleted(
    attachment: &Object,
    finalizer: &Finalizer,
    says: String,
    view: &View<'_>,
) -> Finding {
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, says);
    let why = reasons(attachment, view);
    match why {
        Ok(reasons) => {
            if reasons.iter().any(|reason| reason.object.is_some()) {
                finding.wait.verdict = Verdict::InUse;
            }
            finding.wait.on = reasons;
        }
        Err(missing) => {
            return unknown(finalizer, &finding.wait.says, "what uses it there", &missing);
        }
    }
    finding.outlook.push(Outlook {
        when: "if it were deleted now".into(),
        then: format!(
            "the disk would be detached from node {} while it may be in use there; the attach/detach controller deletes \
             it by itself when no pod needs it",
            attachment.text("/spec/nodeName")
        ),
    });
    finding
}

/// Why nobody has asked to detach yet: pods on the node, then the node itself.
pub(super) fn reasons(attachment: &Object, view: &View<'_>) -> Result<Vec<Blocker>, Missing> {
    let node = attachment.text("/spec/nodeName");
    let volume = attachment.text("/spec/source/persistentVolumeName");
    if volume.is_empty() {
        return Ok(vec![Blocker::new(
            None,
            "the disk is named by a pod itself, not by a volume",
        )]);
    }
    let Some(volume) = view.object("", "persistentvolumes", "", volume)? else {
        return Ok(vec![Blocker::new(
            None,
            format!(
                "volume {volume} does not exist any more, so the attach/detach controller does not know this attachment \
                 after a restart, and may never delete it"
            ),
        )]);
    };
    let (namespace, claim) = (
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name"),
    );
    if !claim.is_empty() {
        let pods = view.list("", "pods", namespace)?;
        let users: Vec<_> = pods
            .iter()
            .filter(|pod| pod.text("/spec/nodeName") == node && !super::claim::is_finished(pod))
            .filter(|pod| super::claim::names(pod, claim))
            .collect();
        if !users.is_empty() {
            return Ok(super::claim::blockers(&users, view));
        }
    }
    let Some(node_object) = view.object("", "nodes", "", node)? else {
        return Ok(vec![Blocker::new(
            None,
            format!("node {node} does not exist any more; it is detached by force six minutes after that"),
        )]);
    };
    let ready = node_object
        .condition("Ready")
        .is_some_and(|(status, _, _)| status == "True");
    let mounted = node_object
        .list("/status/volumesInUse")
        .iter()
        .filter_map(Value::as_str)
        .any(|name| {
            let handle = volume.text("/spec/csi/volumeHandle");
            !handle.is_empty() && name.ends_with(&format!("^{handle}"))
        });
    let says = match (ready, mounted) {
        (false, _) => format!(
            "node {node} is not Ready; the disk is detached by force after six minutes, or at once if the machine is off \
             and the node has the taint node.kubernetes.io/out-of-service"
        ),
        (true, true) => format!("the kubelet of {node} has not unmounted it yet (status.volumesInUse)"),
        (true, false) => {
            format!("no pod on {node} uses it; the attach/detach controller has not asked to detach it yet")
        }
    };
    Ok(vec![Blocker::new(None, says)])
}
