//! Decodes one page of a list into items. Objects that are dropped are never built.
//!
//! Items are passed on one by one and borrow from the page, so a page costs only its own bytes. kube's own list would
//! take four times as long and hundreds of times the memory.

mod protobuf;
pub(crate) mod wire;

use crate::snapshot::{
    Item,
    json::{self, ExtraFields},
};

/// The media type of Kubernetes' protobuf, before its parameters.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The part of a page beside its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageMeta {
    /// The token of the next page; none on the last page.
    pub next: Option<String>,
    /// The state of the cluster that the list has. A watch continues from it.
    pub resource_version: Option<String>,
}

/// A page that cannot be decoded, and why. Items before the fault were passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecodable(pub String);

/// Decodes one page of the given content type and passes each item to `each`.
pub fn page(
    content_type: &str,
    body: &[u8],
    extra_fields: ExtraFields,
    each: &mut dyn FnMut(Item<'_>),
) -> Result<PageMeta, Undecodable> {
    if content_type.starts_with(PROTOBUF) {
        return protobuf::page(body, each)
            .map_err(|wire::Malformed| Undecodable("the protobuf answer is malformed".into()));
    }
    if content_type.starts_with("application/json") || content_type.is_empty() {
        return json_page(body, extra_fields, each);
    }
    Err(Undecodable(format!(
        "expected a list, got {content_type}: {}",
        excerpt(body)
    )))
}

fn json_page(
    body: &[u8],
    extra_fields: ExtraFields,
    each: &mut dyn FnMut(Item<'_>),
) -> Result<PageMeta, Undecodable> {
    match json::list(body, &mut |object| object.item(extra_fields).map(&mut *each)) {
        Ok(json::List {
            has_items: true,
            next,
            resource_version,
        }) => Ok(PageMeta {
            next,
            resource_version,
        }),
        Ok(json::List { has_items: false, .. }) => {
            Err(Undecodable(format!("expected a list, got {}", excerpt(body))))
        }
        Err(error) if error.is_eof() => Err(Undecodable(format!(
            "the answer was cut short after {} bytes",
            body.len()
        ))),
        Err(error) => Err(Undecodable(format!(
            "the answer is not a list that can be read: {error}"
        ))),
    }
}

/// The beginning of an unexpected body, for a message of one line.
pub fn excerpt(body: &[u8]) -> String {
    const MAX_LENGTH: usize = 120;
    let text = String::from_utf8_lossy(body.get(..4 * MAX_LENGTH).unwrap_or(body));
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(MAX_LENGTH) {
        words.truncate(end);
        words.push_str("...");
    }
    if words.is_empty() {
        "an empty answer".into()
    } else {
        words
    }
}
