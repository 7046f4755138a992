//! Lists one type page by page. Each page is decoded and dropped before the next request.

use std::{
    cell::RefCell,
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use http::StatusCode;
use tokio::time::Instant;

pub(super) use crate::object::escape;

use super::{
    decode,
    request::{Answer, Failure, METADATA, METADATA_LIST, Server, WHOLE},
};
use crate::{
    object::ResourceType,
    snapshot::{Item, Keep, Storage, Tally, Why, driver, json::ExtraFields},
};

/// Objects per page, as in kubectl.
const PAGE_SIZE: u32 = 500;
/// How long one type may take in total, even if its server keeps sending slowly.
const TYPE_LIMIT: Duration = Duration::from_secs(600);

/// How many pages in a row may be without an object. A server may send a few if a selector matches nothing.
const MAX_EMPTY_PAGES: u32 = 100;

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

impl Listed {
    fn stopped(self, why: Why) -> Self {
        Listed {
            fault: Some(why),
            ..self
        }
    }
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
        let mut listed = Listed::default();
        // Objects have the version that they were read in.
        let ty = ResourceType {
            version: version.to_owned(),
            ..self.ty.clone()
        };
        let mut accept = self.accept();
        let mut next: Option<String> = None;
        // Hashes of the used tokens: a list of a million objects has two thousand of them.
        let mut used = HashSet::new();
        let hash = RandomState::new();
        let (mut restarted, mut expired, mut empty) = (false, false, 0);
        let started = Instant::now();
        while started.elapsed() < TYPE_LIMIT {
            let path = self.path(version, next.as_deref());
            let failure = match self.server.get(&path, accept).await {
                Ok(answer) => {
                    let page = self.page(&ty, &answer, family);
                    expired = false;
                    empty = if page.items > 0 { 0 } else { empty + 1 };
                    used.extend(next.as_ref().map(|token| hash.hash_one(token)));
                    match page.end {
                        // Its objects are dropped too: they are those of an earlier page.
                        Ok(Some(token)) if used.contains(&hash.hash_one(&token)) => {
                            return listed.stopped(Why::Undecodable(
                                "the server sends the same page again and again".into(),
                            ));
                        }
                        Ok(Some(_)) if empty > MAX_EMPTY_PAGES => {
                            return listed.stopped(Why::Undecodable(
                                "the server sends page after page without an object".into(),
                            ));
                        }
                        Ok(token) => {
                            self.tally.borrow_mut().absorb(page.tally);
                            if token.is_none() {
                                return listed;
                            }
                            next = token;
                            continue;
                        }
                        Err(undecodable) => {
                            self.tally.borrow_mut().absorb(page.tally);
                            return listed.stopped(Why::Undecodable(undecodable.0));
                        }
                    }
                }
                Err(failure) => failure,
            };
            match failure {
                // The state of the list was compacted. The server gives a token to continue at a newer state. A list
                // that expires twice at the same token does not advance.
                Failure::Status {
                    code: StatusCode::GONE,
                    next: Some(token),
                    ..
                } if !expired => {
                    listed.inconsistent = true;
                    expired = true;
                    next = Some(token);
                }
                // Without a token, the list begins again, but only once. A list that expires twice is too large.
                Failure::Status {
                    code: StatusCode::GONE,
                    next: None,
                    ..
                } if next.is_some() && !restarted => {
                    restarted = true;
                    next = None;
                    used.clear();
                    self.tally.take();
                    family.forget_type();
                }
                Failure::Status {
                    code: StatusCode::NOT_ACCEPTABLE,
                    ..
                } if accept != WHOLE => {
                    if self.ty.is_confidential() {
                        return listed.stopped(Why::MetadataOnlyRefused);
                    }
                    accept = WHOLE;
                }
                failure => return listed.stopped(failure.why()),
            }
        }
        listed.stopped(Why::TimedOut(TYPE_LIMIT))
    }

    fn page(&self, ty: &ResourceType, answer: &Answer, family: &mut Family) -> CountedPage {
        let mut page = CountedPage {
            items: 0,
            tally: Tally::default(),
            end: Ok(None),
        };
        let decoded = decode::page(
            &answer.content_type,
            &answer.body,
            self.extra_fields(),
            &mut |item| {
                page.items += 1;
                // An object without a uid is computed, not stored (metrics, component statuses). It cannot be deleted.
                if !item.uid.is_empty() && family.is_new(&item.uid) {
                    (self.observe)(&item);
                    if ty.is("", "nodes") {
                        page.tally.storage.get_or_insert_default().note_node(&item.name);
                    }
                    page.tally.note(ty, item, self.keep);
                }
            },
        );
        if Storage::reads_whole(ty) {
            let storage = page.tally.storage.get_or_insert_default();
            storage.note_page(ty, &answer.body);
        }
        page.end = decoded.map(|page| page.next);
        page
    }

    fn path(&self, version: &str, next: Option<&str>) -> String {
        let mut path = format!(
            "{}?limit={PAGE_SIZE}",
            collection_path(self.ty, version, self.namespace)
        );
        let selector = self
            .keep
            .filter
            .selector
            .as_ref()
            .map(|selector| ("labelSelector", selector.as_str()));
        for (key, value) in selector.into_iter().chain(next.map(|token| ("continue", token))) {
            path.push('&');
            path.push_str(key);
            path.push('=');
            escape(value, &mut path);
        }
        path
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

/// One decoded page: the number of its items, the tally of the items that count, and the next token.
struct CountedPage {
    items: u64,
    tally: Tally,
    end: Result<Option<String>, decode::Undecodable>,
}

/// The path of one object. Names may hold special characters: a ClusterRole may be called `a?b`.
pub(super) fn object_path(ty: &ResourceType, namespace: Option<&str>, name: &str) -> String {
    let mut path = collection_path(ty, &ty.version, namespace);
    path.push('/');
    escape(name, &mut path);
    path
}

/// The path of a collection. The namespace may come from the command line.
pub(super) fn collection_path(ty: &ResourceType, version: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|name| {
        let mut escaped = String::new();
        escape(name, &mut escaped);
        escaped
    });
    ty.path(version, namespace.as_deref())
}
