//! Listing one type: page by page, each page decoded and dropped before the next is asked for.

use std::{collections::HashSet, fmt::Write as _, time::Duration};

use http::StatusCode;
use tokio::time::Instant;

use super::{
    decode,
    request::{Failure, METADATA, Server, WHOLE},
};
use crate::{
    object::ResourceType,
    snapshot::{Item, Keep, Tally, Why},
};

/// Objects a page, as kubectl asks for them.
const PAGE: u32 = 500;
/// How long one type may take in all, however diligently its server trickles.
const TYPE_LIMIT: Duration = Duration::from_secs(600);

/// What came of listing one type, in one namespace or everywhere.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) tally: Tally,
    /// Why it stopped before the end.
    pub(super) fault: Option<Why>,
    /// Whether the list expired on the way and went on at a newer state, so that it is not of one moment.
    pub(super) torn: bool,
    /// The version it was read in, if not the preferred one.
    pub(super) other_version: Option<(String, String)>,
}

/// The uids of one family of types, to count what two groups share once.
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

    /// The next type of the family begins.
    fn next_type(&mut self) {
        if let Some(current) = &mut self.current {
            self.earlier.extend(current.drain());
        }
    }
}

/// One list to make.
pub(super) struct Listing<'a> {
    pub(super) server: &'a Server,
    pub(super) ty: &'a ResourceType,
    pub(super) namespace: Option<&'a str>,
    pub(super) keep: &'a Keep,
    /// Shown each object.
    pub(super) observe: &'a dyn Fn(&Item<'_>),
    /// Told after each page how many objects have gone by.
    pub(super) progress: &'a dyn Fn(u64),
}

impl Listing<'_> {
    /// Makes it. Whatever was read before a fault is in the result.
    pub(super) async fn run(&self, family: &mut Family) -> Listed {
        family.next_type();
        let mut listed = self.pages(&self.ty.version, family).await;
        // The server converts between versions only where the stored one differs from the one asked for: with
        // a dead conversion webhook another version may still be readable
        // (`kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/converter.go`).
        for version in &self.ty.other_versions {
            match &listed.fault {
                Some(Why::ServerError(message)) if message.contains("conversion webhook") => {
                    let message = message.clone();
                    let again = self.pages(version, family).await;
                    if again.fault.is_none() {
                        listed = Listed {
                            other_version: Some((version.clone(), message)),
                            ..again
                        };
                    }
                }
                _ => break,
            }
        }
        listed
    }

    async fn pages(&self, version: &str, family: &mut Family) -> Listed {
        let mut listed = Listed::default();
        // What is said of an object is said in the version that it was read in.
        let ty = ResourceType {
            version: version.to_owned(),
            ..self.ty.clone()
        };
        let mut accept = if self.is_namespaces() { WHOLE } else { METADATA };
        let mut next: Option<String> = None;
        let mut restarted = false;
        let began = Instant::now();
        loop {
            let path = self.path(version, next.as_deref());
            let failure = match self.server.get(&path, accept).await {
                Ok(answer) => {
                    let page = decode::page(
                        &answer.content_type,
                        &answer.body,
                        self.is_namespaces(),
                        &mut |item| {
                            self.note(&ty, item, &mut listed.tally, family);
                        },
                    );
                    (self.progress)(listed.tally.objects);
                    match page {
                        Ok(page) if page.next.is_none() => return listed,
                        // A server that hands out the same token again would keep us for ever.
                        Ok(page) if page.next == next => {
                            listed.fault = Some(Why::Undecodable("the server repeats the same page".into()));
                            return listed;
                        }
                        Ok(page) => {
                            next = page.next;
                            if began.elapsed() < TYPE_LIMIT {
                                continue;
                            }
                            listed.fault = Some(Why::TimedOut(TYPE_LIMIT));
                        }
                        Err(undecodable) => listed.fault = Some(Why::Undecodable(undecodable.0)),
                    }
                    return listed;
                }
                Err(failure) => failure,
            };
            match failure {
                // The list's state was compacted away; the server names the place to go on from, at a newer one.
                Failure::Status {
                    code: StatusCode::GONE,
                    next: Some(token),
                    ..
                } if next.as_ref() != Some(&token) => {
                    listed.torn = true;
                    next = Some(token);
                }
                // Or it names none, and the list begins again. Once: what expires twice is larger than its time.
                Failure::Status {
                    code: StatusCode::GONE,
                    next: None,
                    ..
                } if next.is_some() && !restarted => {
                    restarted = true;
                    listed.tally = Tally::default();
                    next = None;
                }
                Failure::Status {
                    code: StatusCode::NOT_ACCEPTABLE,
                    ..
                } if accept == METADATA => {
                    if self.ty.is_confidential() {
                        listed.fault = Some(Why::MetadataOnlyRefused);
                        return listed;
                    }
                    accept = WHOLE;
                }
                failure => {
                    listed.fault = Some(failure.why());
                    return listed;
                }
            }
        }
    }

    fn note(&self, ty: &ResourceType, item: Item<'_>, tally: &mut Tally, family: &mut Family) {
        // Without a uid it is computed, not stored (metrics, component statuses): it cannot be deleted.
        if !item.uid.is_empty() && family.is_new(&item.uid) {
            (self.observe)(&item);
            tally.note(ty, item, self.keep);
        }
    }

    fn path(&self, version: &str, next: Option<&str>) -> String {
        let mut path = format!("{}?limit={PAGE}", self.ty.path(version, self.namespace));
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

    /// Namespaces alone are asked for whole: what holds one may stand in its spec, and why in its status.
    fn is_namespaces(&self) -> bool {
        self.ty.is("", "namespaces")
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986.
pub(super) fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(byte.into());
        } else {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}
