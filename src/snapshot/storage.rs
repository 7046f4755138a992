//! What a scan notes of nodes, volumes and attachments as they go by: enough to tell that nothing of them was left
//! behind, so that a healthy cluster is not asked twice. Of names nothing but a hash is kept.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde::Deserialize;

use crate::object::ResourceType;

/// What went by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    nodes: HashSet<u64>,
    volumes: HashSet<u64>,
    /// Node and volume that an attachment names.
    attached: HashSet<(u64, Option<u64>)>,
    /// Whether a volume is over, and its disk should go with it.
    over: bool,
    /// Whether something could not be read, so that nothing is known to be in order.
    unsure: bool,
}

#[derive(Deserialize)]
struct List {
    items: Option<Vec<Whole>>,
}

#[derive(Deserialize)]
struct Whole {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    persistent_volume_reclaim_policy: Option<String>,
    node_name: Option<String>,
    source: Option<Source>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    persistent_volume_name: Option<String>,
}

#[derive(Default, Deserialize)]
struct Status {
    phase: Option<String>,
}

impl Storage {
    /// Whether more than the metadata of this type is looked at. Nothing in it is confidential.
    pub fn looks_into(ty: &ResourceType) -> bool {
        is_volumes(ty) || ty.is("storage.k8s.io", "volumeattachments")
    }

    /// Notes that this node exists.
    pub fn note_node(&mut self, name: &str) {
        self.nodes.insert(hash(name));
    }

    /// Notes one page of a type that is looked into, as the server sent it.
    pub fn note_page(&mut self, ty: &ResourceType, body: &[u8]) {
        let Ok(list) = serde_json::from_slice::<List>(body) else {
            self.unsure = true;
            return;
        };
        for Whole {
            metadata,
            spec,
            status,
        } in list.items.into_iter().flatten()
        {
            let stays = metadata.deletion_timestamp.is_none();
            if is_volumes(ty) {
                self.volumes.insert(hash(&metadata.name));
                let policy = spec.persistent_volume_reclaim_policy.as_deref();
                let over = matches!(status.phase.as_deref(), Some("Released" | "Failed"));
                self.over |= stays && over && policy == Some("Delete");
            } else if stays {
                let volume = spec.source.and_then(|source| source.persistent_volume_name);
                let node = spec.node_name.unwrap_or_default();
                self.attached
                    .insert((hash(&node), volume.map(|name| hash(&name))));
            }
        }
    }

    /// Whether the disk of a volume may have been left behind.
    pub fn may_have_volumes(&self) -> bool {
        self.unsure || self.over
    }

    /// Whether an attachment may have been left behind. Nodes and volumes that were not listed are not known to exist.
    pub fn may_have_attachments(&self) -> bool {
        let in_order = |(node, volume): &(u64, Option<u64>)| {
            self.nodes.contains(node) && volume.is_none_or(|volume| self.volumes.contains(&volume))
        };
        self.unsure || !self.attached.iter().all(in_order)
    }

    /// Adds what went by elsewhere.
    pub fn absorb(&mut self, other: Storage) {
        self.nodes.extend(other.nodes);
        self.volumes.extend(other.volumes);
        self.attached.extend(other.attached);
        self.over |= other.over;
        self.unsure |= other.unsure;
    }
}

fn is_volumes(ty: &ResourceType) -> bool {
    ty.is("", "persistentvolumes")
}

/// The same in every page of a scan.
fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ty(group: &str, plural: &str) -> ResourceType {
        ResourceType {
            group: group.into(),
            plural: plural.into(),
            ..ResourceType::default()
        }
    }

    fn volume(policy: &str, phase: &str) -> Value {
        json!({"metadata": {"name": "pv-1"}, "spec": {"persistentVolumeReclaimPolicy": policy}, "status": {"phase": phase}})
    }

    fn attachment(node: &str, volume: &str) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"nodeName": node, "source": {"persistentVolumeName": volume}}})
    }

    fn noted(volumes: &[Value], attachments: &[Value]) -> Storage {
        let page = |items: &[Value]| json!({"items": items}).to_string();
        let mut storage = Storage::default();
        storage.note_node("node-1");
        let mut other = Storage::default();
        other.note_page(&ty("", "persistentvolumes"), page(volumes).as_bytes());
        storage.absorb(other);
        let attached = ty("storage.k8s.io", "volumeattachments");
        storage.note_page(&attached, page(attachments).as_bytes());
        storage
    }

    #[test]
    fn a_volume_that_is_over_needs_a_look_and_one_that_is_kept_does_not() {
        for (policy, phase, look) in [
            ("Delete", "Released", true),
            ("Delete", "Failed", true),
            ("Delete", "Bound", false),
            ("Retain", "Released", false),
        ] {
            let storage = noted(&[volume(policy, phase)], &[]);
            assert_eq!(storage.may_have_volumes(), look, "{policy} {phase}");
        }
        let mut going = volume("Delete", "Released");
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert!(!noted(&[going], &[]).may_have_volumes());
    }

    #[test]
    fn an_attachment_needs_a_look_unless_its_node_and_volume_were_listed() {
        let volumes = [volume("Delete", "Bound")];
        for (node, name, look) in [
            ("node-1", "pv-1", false),
            ("node-2", "pv-1", true),
            ("node-1", "pv-2", true),
        ] {
            let storage = noted(&volumes, &[attachment(node, name)]);
            assert_eq!(storage.may_have_attachments(), look, "{node} {name}");
        }
        let inline = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "node-1", "source": {"inlineVolumeSpec": {}}}});
        assert!(!noted(&[], &[inline]).may_have_attachments());
    }

    #[test]
    fn what_cannot_be_read_is_not_called_in_order() {
        let mut storage = noted(&[], &[]);
        storage.note_page(&ty("", "persistentvolumes"), b"{\"items\": [{}]}");
        assert!(storage.may_have_volumes() && storage.may_have_attachments());
    }
}
