//! Every object of a type, shown one by one and not kept.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    ask::made,
    list::{collection_path, escape},
    request::{METADATA_LIST, Server, WHOLE},
};
use crate::{
    object::ResourceType,
    snapshot::{Why, facts::Object},
};

/// Objects a page: a volume takes three kilobytes.
const PAGE: u32 = 500;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    kind: String,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(rename = "continue", default)]
    next: String,
}

/// Shows all objects of a type, whole or only their metadata, to `visit`.
pub async fn each(
    server: &Server,
    ty: &ResourceType,
    whole: bool,
    visit: &mut dyn FnMut(Object),
) -> Result<(), Why> {
    let accept = if whole && !ty.is_confidential() {
        WHOLE
    } else {
        METADATA_LIST
    };
    let mut next = String::new();
    loop {
        let mut path = format!("{}?limit={PAGE}", collection_path(ty, &ty.version, None));
        if !next.is_empty() {
            path.push_str("&continue=");
            escape(&next, &mut path);
        }
        let answer = server.get(&path, accept).await.map_err(|failure| failure.why())?;
        let undecodable = |error: serde_json::Error| Why::Undecodable(error.to_string());
        let page: Page<'_> = serde_json::from_slice(&answer.body).map_err(undecodable)?;
        // Go's empty list is null.
        if page.items.is_none() && !page.kind.ends_with("List") {
            return Err(Why::Undecodable("the answer is not a list".into()));
        }
        for item in page.items.unwrap_or_default() {
            visit(made(ty, serde_json::from_str(item.get()).map_err(undecodable)?));
        }
        if page.metadata.next.is_empty() {
            return Ok(());
        }
        if page.metadata.next == next {
            return Err(Why::Undecodable(
                "the server sends the same page again and again".into(),
            ));
        }
        next = page.metadata.next;
    }
}
