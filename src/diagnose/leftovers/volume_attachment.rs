//! An attachment to a node, or of a volume, that no longer exists.
//!
//! # Symptom
//!
//! `kubectl get volumeattachments` lists a node or a volume that does not exist. `scan` lists it below LEFT BEHIND. A
//! volume for one node cannot be attached elsewhere: `Multi-Attach error for volume`.
//!
//! ```text
//! $ kubectl get volumeattachments
//! NAME      ATTACHER          PV             NODE     ATTACHED   AGE
//! csi-old   ebs.csi.aws.com   pvc-released   node-9   true       13d
//! ```
//!
//! ```text
//! $ kubectl finalizers explain volumeattachment/csi-old --from tests/causes/leftovers.yaml
//! ```
//!
//! # Why
//!
//! The attach/detach controller deletes it six minutes after its node was deleted. But after a restart it no longer
//! knows attachments whose volume is gone. If force-detach is switched off, it never acts. Until then the volume cannot
//! be deleted.
//!
//! # Before you act
//!
//! Find out whether the machine of the node is really gone. Ask the provider.
//!
//! # If it was a mistake
//!
//! Nothing is being deleted.
//!
//! # If it was intended
//!
//! If the machine is certainly off, delete the attachment. Its attacher then detaches the disk.
//!
//! # Do not
//!
//! Do not delete the attachment while the machine may still run and write.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stalled | the node or the volume is gone, and nobody has asked to detach it |
//! | unknown | the node, the volume or the events of the node could not be read |
//!
//! # What it reads
//!
//! The node, the volume, and the events of the node, which tell whether it was deleted just now.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/attachdetach/reconciler/reconciler.go`
//! - `kubernetes/kubernetes:pkg/controller/volume/attachdetach/attach_detach_controller.go` processVolumeAttachments

use crate::{
    diagnose::{
        kinds::{Event, VolumeAttachment},
        leftovers::Leftover,
        model::Verdict,
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::{Object, Resource},
};

pub(crate) fn leftover_attachment(attachment: &Object, view: &View<'_>) -> Option<Leftover> {
    let since = attachment.created();
    let is_new = |time| Age::between(time, view.now()).0.as_secs() < timing::CLEAN_UP;
    if attachment.deletion().is_some() || since.is_some_and(is_new) {
        return None;
    }
    let name = VolumeAttachment(attachment).node();
    let volume = VolumeAttachment(attachment).volume();
    let node = view.object("", "nodes", "", name);
    let volume_is_gone =
        !volume.is_empty() && matches!(view.object("", "persistentvolumes", "", volume), Ok(None));
    let mut says = Vec::new();
    if let Ok(None) = node {
        // Without the events it is unknown whether the node was deleted just now, which is normal.
        let events = view.events(&node_object(name)).ok()?;
        if !events
            .iter()
            .filter_map(|event| Event(event).last_time())
            .any(is_new)
        {
            says.push(format!(
                "node {name} does not exist any more, and nobody has asked to detach the disk"
            ));
        }
    }
    if volume_is_gone {
        says.push(format!(
            "volume {volume} does not exist any more, so the attach/detach controller does not know this attachment \
             after a restart, and may never delete it"
        ));
    }
    (!says.is_empty()).then_some(Leftover {
        verdict: Verdict::Stalled,
        since: None,
        says,
    })
}

/// The node with the fields that are needed to query its events.
fn node_object(name: &str) -> Object {
    Object {
        resource: Resource::new("", "nodes"),
        kind: "Node".into(),
        api_version: "v1".into(),
        value: serde_json::json!({ "metadata": { "name": name } }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::{
            leftovers,
            testing::world::{NOW, World, bare as object},
        },
        knowledge::Knowledge,
        snapshot::{
            Why,
            facts::{Answer, Query},
        },
    };

    fn attachment(created: &str) -> Object {
        object(
            "storage.k8s.io",
            "volumeattachments",
            "VolumeAttachment",
            json!({
                "metadata": {"name": "csi-1", "creationTimestamp": created},
                "spec": {"nodeName": "node-1", "source": {"persistentVolumeName": "pv-1"}},
            }),
        )
    }

    fn world(node: bool, volume: bool, events: Result<Vec<Object>, Why>) -> World {
        let some = |plural, kind, there: bool| {
            there.then(|| object("", plural, kind, json!({"metadata": {"name": "x"}})))
        };
        let about = Query::Events {
            kind: "Node".into(),
            namespace: None,
            name: "node-1".into(),
        };
        World::closed()
            .object("", "nodes", "", "node-1", some("nodes", "Node", node))
            .object(
                "",
                "persistentvolumes",
                "",
                "pv-1",
                some("persistentvolumes", "PersistentVolume", volume),
            )
            .answer(about, events.map(Answer::List))
    }

    fn said(world: &World, attachment: &Object) -> Option<String> {
        let inspection = leftovers::attachment(attachment, &world.facts(), &Knowledge::builtin());
        assert!(inspection.wanted.is_empty(), "{:?}", inspection.wanted);
        inspection.leftover.map(|leftover| leftover.says.concat())
    }

    const OLD: &str = "2025-12-01T00:00:00Z";

    #[test]
    fn recognises_an_attachment_whose_node_or_volume_is_gone() {
        let node = said(&world(false, true, Ok(Vec::new())), &attachment(OLD)).expect("a leftover");
        assert!(node.starts_with("node node-1 does not exist any more"), "{node}");
        let volume = said(&world(true, false, Ok(Vec::new())), &attachment(OLD)).expect("a leftover");
        assert!(
            volume.starts_with("volume pv-1 does not exist any more"),
            "{volume}"
        );
    }

    #[test]
    fn a_valid_or_recent_attachment_is_no_leftover() {
        assert_eq!(said(&world(true, true, Ok(Vec::new())), &attachment(OLD)), None);
        assert_eq!(said(&world(false, false, Ok(Vec::new())), &attachment(NOW)), None);
        let removed = object(
            "",
            "events",
            "Event",
            json!({"reason": "RemovingNode", "lastTimestamp": "2026-01-01T11:55:00Z"}),
        );
        assert_eq!(
            said(&world(false, true, Ok(vec![removed])), &attachment(OLD)),
            None
        );
    }

    #[test]
    fn a_missing_node_without_its_events_is_a_gap() {
        let world = world(false, true, Err(Why::Forbidden("no".into())));
        let inspection = leftovers::attachment(&attachment(OLD), &world.facts(), &Knowledge::builtin());
        assert_eq!(inspection.leftover, None);
        assert_eq!(inspection.gaps.len(), 1);
    }
}
