//! Reads a list page by page: the only loop that does. It survives a list that expires and a server without metadata
//! lists, and it ends whatever the server sends.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use http::StatusCode;
use tokio::time::Instant;

use super::{
    decode::{PageMeta, Undecodable},
    paths::collection_path,
    request::{Answer, Failure, Server, WHOLE},
};
use crate::{
    object::{ResourceType, escape},
    snapshot::Why,
};

/// Objects per page, as in kubectl.
const PAGE_SIZE: u32 = 500;
/// How long one list may take in total, even if its server keeps sending slowly.
const LIST_LIMIT: Duration = Duration::from_secs(600);
/// How many pages in a row may be without an object. A server may send a few if a selector matches nothing.
const MAX_EMPTY_PAGES: u32 = 100;

/// Takes the objects of a list.
pub(super) trait Take {
    /// Decodes a page, and holds its objects back until [`Take::keep`] is called.
    fn decode(&mut self, answer: &Answer) -> Decoded;
    /// Takes the objects of the last page.
    fn keep(&mut self);
    /// Forgets the earlier pages as far as possible, because the list begins again.
    fn restart(&mut self);
}

/// A decoded page.
pub(super) struct Decoded {
    /// The number of its objects.
    pub(super) items: u64,
    /// The fields of the list beside its objects.
    pub(super) page: Result<PageMeta, Undecodable>,
}

/// How a list ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Why it stopped early.
    pub(super) fault: Option<Why>,
    /// Whether the list expired and continued at a newer state, so that it is not of one moment.
    pub(super) inconsistent: bool,
    /// The state of the first page. No object of the list is older.
    pub(super) resource_version: Option<String>,
}

impl Ended {
    fn stopped(self, why: Why) -> Self {
        Ended {
            fault: Some(why),
            ..self
        }
    }

    fn undecodable(self, why: &str) -> Self {
        self.stopped(Why::Undecodable(why.to_owned()))
    }
}

/// Answers the requests for pages.
pub(super) trait Source {
    /// Sends a GET.
    async fn get(&self, path: &str, accept: &'static str) -> Result<Answer, Failure>;
}

impl Source for Server {
    async fn get(&self, path: &str, accept: &'static str) -> Result<Answer, Failure> {
        self.get(path, accept).await
    }
}

/// One list to read.
pub(super) struct Pages<'a, S> {
    pub(super) server: &'a S,
    pub(super) ty: &'a ResourceType,
    pub(super) version: &'a str,
    pub(super) namespace: Option<&'a str>,
    /// More parameters of the request, each with its `&`.
    pub(super) parameters: &'a str,
    /// The media type to ask for.
    pub(super) accept: &'static str,
}

impl<S: Source> Pages<'_, S> {
    /// Reads all pages. Objects before a fault were taken.
    pub(super) async fn read(&self, take: &mut dyn Take) -> Ended {
        let mut ended = Ended::default();
        let mut accept = self.accept;
        let mut next: Option<String> = None;
        // Hashes of the used tokens: a list of a million objects has two thousand of them.
        let mut used = HashSet::new();
        let hash = RandomState::new();
        let (mut restarted, mut expired, mut empty) = (false, false, 0);
        let started = Instant::now();
        while started.elapsed() < LIST_LIMIT {
            let failure = match self.server.get(&self.path(next.as_deref()), accept).await {
                Ok(answer) => {
                    let page = take.decode(&answer);
                    // Its memory is needed for the next page.
                    drop(answer);
                    expired = false;
                    empty = if page.items > 0 { 0 } else { empty + 1 };
                    used.extend(next.as_ref().map(|token| hash.hash_one(token)));
                    let read = page.page.map(|page| {
                        if next.is_none() {
                            ended.resource_version = page.resource_version;
                        }
                        page.next
                    });
                    match read {
                        // Its objects are dropped too: they are those of an earlier page.
                        Ok(Some(token)) if used.contains(&hash.hash_one(&token)) => {
                            return ended.undecodable("the server sends the same page again and again");
                        }
                        Ok(Some(_)) if empty > MAX_EMPTY_PAGES => {
                            return ended.undecodable("the server sends page after page without an object");
                        }
                        Ok(token) => {
                            take.keep();
                            if token.is_none() {
                                return ended;
                            }
                            next = token;
                            continue;
                        }
                        Err(undecodable) => {
                            take.keep();
                            return ended.undecodable(&undecodable.0);
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
                    ended.inconsistent = true;
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
                    take.restart();
                }
                Failure::Status {
                    code: StatusCode::NOT_ACCEPTABLE,
                    ..
                } if accept != WHOLE => {
                    if self.ty.is_confidential() {
                        return ended.stopped(Why::MetadataOnlyRefused);
                    }
                    accept = WHOLE;
                }
                failure => return ended.stopped(failure.why()),
            }
        }
        ended.stopped(Why::TimedOut(LIST_LIMIT))
    }

    fn path(&self, next: Option<&str>) -> String {
        let collection = collection_path(self.ty, self.version, self.namespace);
        let mut path = format!("{collection}?limit={PAGE_SIZE}{}", self.parameters);
        if let Some(token) = next {
            path.push_str("&continue=");
            escape(token, &mut path);
        }
        path
    }
}

#[cfg(test)]
mod tests;
