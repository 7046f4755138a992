//! Reads every object of a type, one by one, without keeping it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    ask::object_of,
    list::{collection_path, escape},
    request::{METADATA_LIST, Server, WHOLE},
};
use crate::{
    object::ResourceType,
    snapshot::{Why, facts::Object},
};

/// Objects per page. A volume takes three kilobytes.
const PAGE_SIZE: u32 = 500;

#[derive(Deserialize)]
struct RawList<'a> {
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

/// Passes all objects of a type to `visit`, whole or only their metadata.
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
        let mut path = format!("{}?limit={PAGE_SIZE}", collection_path(ty, &ty.version, None));
        if !next.is_empty() {
            path.push_str("&continue=");
            escape(&next, &mut path);
        }
        let answer = server.get(&path, accept).await.map_err(|failure| failure.why())?;
        let undecodable = |error: serde_json::Error| Why::Undecodable(error.to_string());
        let list: RawList<'_> = serde_json::from_slice(&answer.body).map_err(undecodable)?;
        // Go writes an empty list as null.
        if list.items.is_none() && !list.kind.ends_with("List") {
            return Err(Why::Undecodable("the answer is not a list".into()));
        }
        for item in list.items.unwrap_or_default() {
            visit(object_of(
                ty,
                serde_json::from_str(item.get()).map_err(undecodable)?,
            ));
        }
        if list.metadata.next.is_empty() {
            return Ok(());
        }
        if list.metadata.next == next {
            return Err(Why::Undecodable(
                "the server sends the same page again and again".into(),
            ));
        }
        next = list.metadata.next;
    }
}
