//! Lists one type and counts its objects. Each page is decoded and dropped before the next request.

use std::{cell::RefCell, collections::HashSet};

use super::{
    decode::{self, Undecodable},
    pages::{Decoded, Pages, Take},
    request::{Answer, METADATA, METADATA_LIST, Server, WHOLE},
};
use crate::{
    object::{ResourceType, escape},
    snapshot::{Item, Keep, Room, Storage, Tally, Why, driver, json::ExtraFields},
};

/// The result of listing one type, in one namespace or everywhere, without the objects.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Why it stopped early.
    pub(super) fault: Option<Why>,
    /// Whether the list expired and continued at a newer state, so that it is not of one moment.
    pub(super) inconsistent: bool,
    /// The version that was read, if it is not the preferred one, and why.
    pub(super) other_version: Option<(String, String)>,
}

/// The uids of one family of types. Objects that two groups share count once.
#[derive(Debug, Default)]
pub(super) struct Family {
    earlier: HashSet<Box<str>>,
    current: Option<HashSet<Box<str>>>,
}

impl Family {
    pub(super) fn of(types: usize) -> Self {
        Family {
            earlier: HashSet::new(),
            current: (types > 1).then(HashSet::new),
        }
    }

    fn is_new(&mut self, uid: &str) -> bool {
        let Some(current) = &mut self.current else {
            return true;
        };
        if self.earlier.contains(uid) {
            return false;
        }
        current.insert(uid.into());
        true
    }

    /// Begins the next type of the family.
    fn next_type(&mut self) {
        if let Some(current) = &mut self.current {
            self.earlier.extend(current.drain());
        }
    }

    /// Forgets and returns the uids of the current type, because it is listed again.
    fn forget_type(&mut self) -> Option<HashSet<Box<str>>> {
        self.current.as_mut().map(std::mem::take)
    }
}

/// One list to read.
pub(super) struct Listing<'a> {
    pub(super) server: &'a Server,
    pub(super) ty: &'a ResourceType,
    pub(super) namespace: Option<&'a str>,
    pub(super) keep: &'a Keep,
    /// Counts the objects, page by page. It belongs to the caller, so that the counts survive when the list is stopped.
    pub(super) tally: &'a RefCell<Tally>,
    /// The memory that is left for what is kept. Other lists use it, too.
    pub(super) room: &'a Room,
    /// Called for each object.
    pub(super) observe: &'a dyn Fn(&Item<'_>),
}

impl Listing<'_> {
    /// Reads the list. Objects that were read before a fault are in the tally.
    pub(super) async fn run(&self, family: &mut Family) -> Listed {
        family.next_type();
        let mut listed = self.pages(&self.ty.version, family).await;
        // The server converts only if the stored version differs from the requested one. With a broken conversion
        // webhook, another version may still be readable
        // (`kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/converter.go`).
        for version in &self.ty.other_versions {
            let message = match &listed.fault {
                Some(Why::ServerError(message)) if message.contains("conversion webhook") => message.clone(),
                _ => break,
            };
            let (tally, uids) = (self.tally.take(), family.forget_type());
            let retried = self.pages(version, family).await;
            if retried.fault.is_none() {
                listed = Listed {
                    other_version: Some((version.clone(), message)),
                    ..retried
                };
            } else {
                self.tally.replace(tally);
                family.current = uids;
            }
        }
        listed
    }

    async fn pages(&self, version: &str, family: &mut Family) -> Listed {
        let parameters = self.parameters();
        let pages = Pages {
            server: self.server,
            ty: self.ty,
            version,
            namespace: self.namespace,
            parameters: &parameters,
            accept: self.accept(),
        };
        let mut counted = CountedPages {
            listing: self,
            // Objects have the version that they were read in.
            ty: ResourceType {
                version: version.to_owned(),
                ..self.ty.clone()
            },
            family,
            page: Tally::default(),
        };
        let ended = pages.read(&mut counted).await;
        Listed {
            fault: ended.fault,
            inconsistent: ended.inconsistent,
            other_version: None,
        }
    }

    fn parameters(&self) -> String {
        let mut parameters = String::new();
        if let Some(selector) = &self.keep.filter.selector {
            parameters.push_str("&labelSelector=");
            escape(selector.as_str(), &mut parameters);
        }
        parameters
    }

    /// The media type of the request. Namespaces are read whole: their spec may hold a finalizer, and their status says
    /// why it stays.
    fn accept(&self) -> &'static str {
        let ty = self.ty;
        match self.extra_fields() {
            ExtraFields::Namespace => WHOLE,
            _ if Storage::reads_whole(ty) => WHOLE,
            ExtraFields::Driver if driver::is_in_spec(&ty.group, &ty.kind) => WHOLE,
            // Annotations are only read from JSON.
            ExtraFields::Driver => METADATA_LIST,
            ExtraFields::Nothing => METADATA,
        }
    }

    fn extra_fields(&self) -> ExtraFields {
        match ExtraFields::of(&self.ty.group, &self.ty.kind) {
            _ if self.ty.is("", "namespaces") => ExtraFields::Namespace,
            ExtraFields::Driver if !self.keep.crowds => ExtraFields::Nothing,
            extra_fields => extra_fields,
        }
    }
}

/// Whether a scan needs more of these objects than finalizers and counts: the specification, the status, or each name.
pub(super) fn needs_each(ty: &ResourceType) -> bool {
    ty.is("", "namespaces") || ty.is("", "nodes") || Storage::reads_whole(ty)
}

/// Counts the objects of the pages. A page counts when it is kept.
struct CountedPages<'a> {
    listing: &'a Listing<'a>,
    ty: ResourceType,
    family: &'a mut Family,
    page: Tally,
}

impl Take for CountedPages<'_> {
    fn decode(&mut self, answer: &Answer) -> Decoded {
        let (listing, ty, family) = (self.listing, &self.ty, &mut *self.family);
        let mut items = 0;
        let mut page = Tally::default();
        let decoded = decode::page(
            &answer.content_type,
            &answer.body,
            listing.extra_fields(),
            &mut |item| {
                items += 1;
                // An object without a uid is computed, not stored (metrics, component statuses). It cannot be deleted.
                if !item.uid.is_empty() && family.is_new(&item.uid) {
                    (listing.observe)(&item);
                    if ty.is("", "nodes") {
                        page.storage.get_or_insert_default().note_node(&item.name);
                    }
                    page.note(ty, item, listing.keep);
                }
            },
        );
        if Storage::reads_whole(ty) {
            let storage = page.storage.get_or_insert_default();
            storage.note_page(ty, &answer.body);
        }
        if !listing.room.take(&page) {
            let why = "it has more to keep than there is room for".to_owned();
            return Decoded {
                items,
                page: Err(Undecodable(why)),
            };
        }
        self.page = page;
        Decoded { items, page: decoded }
    }

    fn keep(&mut self) {
        let page = std::mem::take(&mut self.page);
        self.listing.tally.borrow_mut().absorb(page);
    }

    fn restart(&mut self) {
        self.listing.tally.take();
        self.family.forget_type();
    }
}
