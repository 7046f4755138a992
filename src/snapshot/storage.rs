//! Notes of a scan on nodes, volumes and attachments: enough to rule out leftovers, so that a healthy cluster needs no
//! second read. Names are kept only as hashes.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde::Deserialize;

use crate::object::ResourceType;

/// Nodes, volumes and attachments that a scan read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    nodes: HashSet<u64>,
    volumes: HashSet<u64>,
    /// The node and the volume of each attachment.
    attached: HashSet<(u64, Option<u64>)>,
    /// Whether a volume is released and its disk should be deleted.
    released: bool,
    /// Whether a page could not be parsed, so that leftovers cannot be ruled out.
    unreadable: bool,
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
    /// Whether the scan reads whole objects of this type. Nothing in them is confidential.
    pub fn reads_whole(ty: &ResourceType) -> bool {
        is_volumes(ty) || ty.is("storage.k8s.io", "volumeattachments")
    }

    /// Notes that this node exists.
    pub fn note_node(&mut self, name: &str) {
        self.nodes.insert(hash(name));
    }

    /// Notes one page of such a type, as the server sent it.
    pub fn note_page(&mut self, ty: &ResourceType, body: &[u8]) {
        let Ok(list) = serde_json::from_slice::<List>(body) else {
            self.unreadable = true;
            return;
        };
        for Whole {
            metadata,
            spec,
            status,
        } in list.items.into_iter().flatten()
        {
            let kept = metadata.deletion_timestamp.is_none();
            if is_volumes(ty) {
                self.volumes.insert(hash(&metadata.name));
                let policy = spec.persistent_volume_reclaim_policy.as_deref();
                let released = matches!(status.phase.as_deref(), Some("Released" | "Failed"));
                self.released |= kept && released && policy == Some("Delete");
            } else if kept {
                let volume = spec.source.and_then(|source| source.persistent_volume_name);
                let node = spec.node_name.unwrap_or_default();
                self.attached
                    .insert((hash(&node), volume.map(|name| hash(&name))));
            }
        }
    }

    /// Whether the disk of a volume may be leftover.
    pub fn may_have_volumes(&self) -> bool {
        self.unreadable || self.released
    }

    /// Whether an attachment may be leftover. Nodes and volumes that were not listed may not exist.
    pub fn may_have_attachments(&self) -> bool {
        let in_order = |(node, volume): &(u64, Option<u64>)| {
            self.nodes.contains(node) && volume.is_none_or(|volume| self.volumes.contains(&volume))
        };
        self.unreadable || !self.attached.iter().all(in_order)
    }

    /// Adds the notes of another part of the scan.
    pub fn absorb(&mut self, other: Storage) {
        self.nodes.extend(other.nodes);
        self.volumes.extend(other.volumes);
        self.attached.extend(other.attached);
        self.released |= other.released;
        self.unreadable |= other.unreadable;
    }
}

fn is_volumes(ty: &ResourceType) -> bool {
    ty.is("", "persistentvolumes")
}

/// The hash of a name. It is the same for every page of a scan.
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
    fn only_a_released_volume_with_policy_delete_may_be_leftover() {
        for (policy, phase, leftover) in [
            ("Delete", "Released", true),
            ("Delete", "Failed", true),
            ("Delete", "Bound", false),
            ("Retain", "Released", false),
        ] {
            let storage = noted(&[volume(policy, phase)], &[]);
            assert_eq!(storage.may_have_volumes(), leftover, "{policy} {phase}");
        }
        let mut terminating = volume("Delete", "Released");
        terminating["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert!(!noted(&[terminating], &[]).may_have_volumes());
    }

    #[test]
    fn an_attachment_may_be_leftover_unless_its_node_and_volume_were_listed() {
        let volumes = [volume("Delete", "Bound")];
        for (node, name, leftover) in [
            ("node-1", "pv-1", false),
            ("node-2", "pv-1", true),
            ("node-1", "pv-2", true),
        ] {
            let storage = noted(&volumes, &[attachment(node, name)]);
            assert_eq!(storage.may_have_attachments(), leftover, "{node} {name}");
        }
        let inline = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "node-1", "source": {"inlineVolumeSpec": {}}}});
        assert!(!noted(&[], &[inline]).may_have_attachments());
    }

    #[test]
    fn an_unreadable_page_does_not_rule_out_leftovers() {
        let mut storage = noted(&[], &[]);
        storage.note_page(&ty("", "persistentvolumes"), b"{\"items\": [{}]}");
        assert!(storage.may_have_volumes() && storage.may_have_attachments());
    }
}
