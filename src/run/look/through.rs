//! Going through volumes and attachments.
//!
//! There may be very many of them: they are read a page at a time, and only what looks left behind is kept. Of all
//! names that something may refer to nothing but a hash is kept; whoever refers to none of them is looked at once more
//! by name.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher as _, RandomState},
};

use super::{
    asking::{Ask, Asking},
    behind::{Behind, counted},
};
use crate::snapshot::{
    Why,
    facts::{Object, Resource},
    storage_leftovers::{LeftoverList, StorageLeftovers, Unread, Unreclaimed},
};

impl Behind {
    /// What looks left behind. What an attachment may name is read before it: what is created meanwhile is then looked
    /// at by name, and nothing that exists is missed.
    pub(super) async fn go_through(&self, server: &impl Ask, asking: &mut Asking) -> StorageLeftovers {
        let attached = counted(self.attachments.as_ref()) > 0;
        let hasher = RandomState::new();
        let hash = |name: &str| hasher.hash_one(name);
        let (mut nodes, mut names) = (HashSet::new(), HashSet::new());
        let mut known = Ok(());
        if attached {
            let mut note = |node: Object| {
                nodes.insert(hash(node.name()));
            };
            known = each(server, asking, ("", "nodes"), false, &mut note).await;
        }
        let mut volumes = LeftoverList::default();
        if attached || counted(self.volumes.as_ref()) > 0 {
            let mut note = |volume: Object| {
                names.insert(hash(volume.name()));
                if self.volumes.is_some() && self.is_due(&volume) {
                    self.keep(volume, &mut volumes);
                }
            };
            let read = each(server, asking, ("", "persistentvolumes"), true, &mut note).await;
            volumes.unread = read.clone().err();
            known = known.and(read);
        }
        let due: BTreeMap<String, usize> = (volumes.kept.iter().enumerate())
            .map(|(at, volume)| (volume.name().to_owned(), at))
            .collect();
        let mut attached_to: Vec<Vec<Object>> = vec![Vec::new(); due.len()];
        let mut attachments = LeftoverList::default();
        let mut read = Ok(());
        if attached || !due.is_empty() {
            let mut note = |attachment: Object| {
                let volume = attachment.text("/spec/source/persistentVolumeName").to_owned();
                let node = attachment.text("/spec/nodeName");
                let gone = |all: &HashSet<u64>, name: &str| !name.is_empty() && !all.contains(&hash(name));
                let counts = gone(&nodes, node) || gone(&names, &volume);
                if let Some(&at) = due.get(&volume) {
                    attached_to[at].push(attachment.clone());
                }
                if attached && counts && self.is_lost(&attachment) {
                    self.keep(attachment, &mut attachments);
                }
            };
            let ty = ("storage.k8s.io", "volumeattachments");
            read = each(server, asking, ty, true, &mut note).await;
        }
        let all_read = read.is_ok();
        if let Err(unread) = known.and(read) {
            // Against lists that are not whole, nothing is known to be missing.
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
                    .zip(attached_to)
                    .map(unreclaimed)
                    .collect(),
                more: volumes.more,
            },
            attachments,
        }
    }

    fn keep(&self, object: Object, passed: &mut LeftoverList<Object>) {
        if passed.kept.len() < self.most {
            passed.kept.push(object);
        } else {
            passed.more += 1;
        }
    }
}

async fn each(
    server: &impl Ask,
    asking: &mut Asking,
    (group, plural): (&str, &str),
    whole: bool,
    visit: &mut dyn FnMut(Object),
) -> Result<(), Unread> {
    let resource = Resource::new(group, plural);
    let ty = asking
        .facts
        .as_ref()
        .and_then(|facts| facts.resource_type(&resource));
    match ty.cloned() {
        Some(ty) => asking.each(server, &ty, whole, visit).await,
        None => Err(Unread::Fault(Why::Vanished)),
    }
}
