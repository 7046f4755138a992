//! Collects the volumes and attachments that may be leftovers.
//!
//! There can be very many of them. They are read one page at a time, and only candidates are kept. Of the
//! names that an attachment can refer to, only hashes are kept. Candidates are then checked by name.

use crate::diagnose::kinds::VolumeAttachment;
use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher as _, RandomState},
};

use super::{
    asking::{Ask, LimitedReader},
    leftovers::{LeftoverSearch, remaining},
};
use crate::snapshot::{
    Why,
    facts::{Object, Resource},
    storage_leftovers::{LeftoverList, StorageLeftovers, Unread, Unreclaimed},
};

impl LeftoverSearch {
    /// Collects the candidates. Nodes and volumes are read before attachments. So an object that is created
    /// meanwhile only leads to one more check by name, and no existing object counts as missing.
    pub(super) async fn collect_candidates(
        &self,
        server: &impl Ask,
        reader: &mut LimitedReader,
    ) -> StorageLeftovers {
        let search_attachments = remaining(self.attachments.as_ref()) > 0;
        let hasher = RandomState::new();
        let hash = |name: &str| hasher.hash_one(name);
        let (mut node_hashes, mut volume_hashes) = (HashSet::new(), HashSet::new());
        let mut lists_read = Ok(());
        if search_attachments {
            let mut visit = |node: Object| {
                node_hashes.insert(hash(node.name()));
            };
            lists_read = visit_type(server, reader, ("", "nodes"), false, &mut visit).await;
        }
        let mut volumes = LeftoverList::default();
        if search_attachments || remaining(self.volumes.as_ref()) > 0 {
            let mut visit = |volume: Object| {
                volume_hashes.insert(hash(volume.name()));
                if self.volumes.is_some() && self.is_leftover_volume(&volume) {
                    self.keep(volume, &mut volumes);
                }
            };
            let read = visit_type(server, reader, ("", "persistentvolumes"), true, &mut visit).await;
            volumes.unread = read.clone().err();
            lists_read = lists_read.and(read);
        }
        let index_by_name: BTreeMap<String, usize> = (volumes.kept.iter().enumerate())
            .map(|(at, volume)| (volume.name().to_owned(), at))
            .collect();
        let mut attachments_of: Vec<Vec<Object>> = vec![Vec::new(); index_by_name.len()];
        let mut attachments = LeftoverList::default();
        let mut read = Ok(());
        if search_attachments || !index_by_name.is_empty() {
            let mut visit = |attachment: Object| {
                let volume = VolumeAttachment(&attachment).volume().to_owned();
                let node = VolumeAttachment(&attachment).node();
                let is_missing =
                    |all: &HashSet<u64>, name: &str| !name.is_empty() && !all.contains(&hash(name));
                let refers_to_missing = is_missing(&node_hashes, node) || is_missing(&volume_hashes, &volume);
                let attached = index_by_name
                    .get(&volume)
                    .and_then(|&at| attachments_of.get_mut(at));
                if let Some(attached) = attached {
                    attached.push(attachment.clone());
                }
                if search_attachments && refers_to_missing && self.is_leftover_attachment(&attachment) {
                    self.keep(attachment, &mut attachments);
                }
            };
            let ty = ("storage.k8s.io", "volumeattachments");
            read = visit_type(server, reader, ty, true, &mut visit).await;
        }
        let all_read = read.is_ok();
        if let Err(unread) = lists_read.and(read) {
            // An incomplete list cannot prove that an object is missing.
            attachments = LeftoverList {
                unread: Some(unread),
                ..LeftoverList::default()
            };
        }
        let unreclaimed = |(volume, attached)| Unreclaimed {
            volume,
            attached: all_read.then_some(attached),
        };
        StorageLeftovers {
            volumes: LeftoverList {
                unread: volumes.unread,
                kept: volumes
                    .kept
                    .into_iter()
                    .zip(attachments_of)
                    .map(unreclaimed)
                    .collect(),
                more: volumes.more,
            },
            attachments,
        }
    }

    fn keep(&self, object: Object, passed: &mut LeftoverList<Object>) {
        if passed.kept.len() < self.max_objects {
            passed.kept.push(object);
        } else {
            passed.more += 1;
        }
    }
}

async fn visit_type(
    server: &impl Ask,
    reader: &mut LimitedReader,
    (group, plural): (&str, &str),
    whole: bool,
    visit: &mut dyn FnMut(Object),
) -> Result<(), Unread> {
    let resource = Resource::new(group, plural);
    let ty = reader
        .facts
        .as_ref()
        .and_then(|facts| facts.resource_type(&resource));
    match ty.cloned() {
        Some(ty) => reader.each(server, &ty, whole, visit).await,
        None => Err(Unread::Fault(Why::Vanished)),
    }
}
