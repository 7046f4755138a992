//! An attachment to a node, or of a volume, that no longer exists, and that nobody has asked to detach.
//!
//! **Recognises** a `VolumeAttachment` that is not being deleted. **Why:** the attach/detach controller deletes it six
//! minutes after the node went, but it forgets attachments whose volume is gone when it restarts, and never acts if
//! force-detach is switched off (`kubernetes/kubernetes:pkg/controller/volume/attachdetach/` reconciler and
//! attach_detach_controller.go processVolumeAttachments). The volume cannot be deleted meanwhile, nor attached
//! elsewhere if it takes one node. **Wants** the node, the volume, and events about the node, which tell whether it
//! went just now. **Concludes** `stalled`. **Advises** nothing itself: `explain` does.

use crate::{
    diagnose::{events, leftovers::Left, model::Verdict, timing, view::View},
    object::Age,
    snapshot::facts::{Object, Resource},
};

pub(crate) fn left_on_a_gone_node(attachment: &Object, view: &View<'_>) -> Option<Left> {
    let since = attachment.time("/metadata/creationTimestamp");
    let is_new = |time| Age::between(time, view.now()).0.as_secs() < timing::CLEAN_UP;
    if attachment.deletion().is_some() || since.is_some_and(is_new) {
        return None;
    }
    let name = attachment.text("/spec/nodeName");
    let volume = attachment.text("/spec/source/persistentVolumeName");
    let node = view.object("", "nodes", "", name);
    let volume_is_gone =
        !volume.is_empty() && matches!(view.object("", "persistentvolumes", "", volume), Ok(None));
    let mut says = Vec::new();
    if let Ok(None) = node {
        // Without the events it is not known whether the node went just now, which is normal.
        let events = view.events(&node_object(name)).ok()?;
        if !events.iter().filter_map(events::event_time).any(is_new) {
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
    (!says.is_empty()).then(|| Left {
        verdict: Verdict::Stalled,
        since: None,
        says: says.join("; "),
    })
}

/// The node as far as it takes to look for events about it.
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
        let looked = leftovers::attachment(attachment, &world.facts(), &Knowledge::builtin());
        assert!(looked.wanted.is_empty(), "{:?}", looked.wanted);
        looked.left.map(|left| left.says)
    }

    const OLD: &str = "2025-12-01T00:00:00Z";

    #[test]
    fn to_a_node_or_of_a_volume_that_is_gone() {
        let node = said(&world(false, true, Ok(Vec::new())), &attachment(OLD)).expect("left behind");
        assert!(node.starts_with("node node-1 does not exist any more"), "{node}");
        let volume = said(&world(true, false, Ok(Vec::new())), &attachment(OLD)).expect("left behind");
        assert!(
            volume.starts_with("volume pv-1 does not exist any more"),
            "{volume}"
        );
    }

    #[test]
    fn what_is_in_order_or_has_its_time_is_not_called_left_behind() {
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
    fn without_the_events_of_the_node_it_is_not_known() {
        let world = world(false, true, Err(Why::Forbidden("no".into())));
        let looked = leftovers::attachment(&attachment(OLD), &world.facts(), &Knowledge::builtin());
        assert_eq!(looked.left, None);
        assert_eq!(looked.gaps.len(), 1);
    }
}
