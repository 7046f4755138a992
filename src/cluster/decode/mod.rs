//! One page of a list, from bytes to items. Nothing that will be dropped is built.
//!
//! Items are handed over one by one and borrow from the page, so a page costs its own bytes and no more.
//! Building what kube's own list builds would take four times as long and hundreds of times the memory.

mod protobuf;
pub(crate) mod wire;

use crate::snapshot::{
    Item,
    json::{self, Beyond},
};

/// The media type of Kubernetes' protobuf, before its parameters.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What a page says beyond its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Where the next page starts; none on the last one.
    pub next: Option<String>,
}

/// A page that makes no sense, and why. Items before the fault have been handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecodable(pub String);

/// Reads one page of the given content type, handing each item to `each`.
pub fn page(
    content_type: &str,
    body: &[u8],
    beyond: Beyond,
    each: &mut dyn FnMut(Item<'_>),
) -> Result<Page, Undecodable> {
    if content_type.starts_with(PROTOBUF) {
        return protobuf::page(body, each)
            .map_err(|wire::Malformed| Undecodable("the protobuf answer is malformed".into()));
    }
    if content_type.starts_with("application/json") || content_type.is_empty() {
        return json_page(body, beyond, each);
    }
    Err(Undecodable(format!(
        "expected a list, got {content_type}: {}",
        excerpt(body)
    )))
}

fn json_page(body: &[u8], beyond: Beyond, each: &mut dyn FnMut(Item<'_>)) -> Result<Page, Undecodable> {
    match json::list(body, &mut |object| object.item(beyond).map(&mut *each)) {
        Ok(json::List {
            has_items: true,
            next,
        }) => Ok(Page { next }),
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

/// The beginning of a body that is not what was asked for, for a message of one line.
pub fn excerpt(body: &[u8]) -> String {
    const LONGEST: usize = 120;
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * LONGEST)]);
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(LONGEST) {
        words.truncate(end);
        words.push_str("...");
    }
    if words.is_empty() {
        "an empty answer".into()
    } else {
        words
    }
}
