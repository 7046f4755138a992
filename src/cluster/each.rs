//! Reads the objects of a type one by one.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    decode::{PageMeta, Undecodable},
    pages::{Decoded, Pages, Take},
    request::{Answer, METADATA_LIST, Server, WHOLE, or_default},
};
use crate::{
    object::ResourceType,
    snapshot::{
        Room, Why,
        facts::{Object, Resource},
    },
};

#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(default)]
    kind: String,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(rename = "continue", default, deserialize_with = "or_default")]
    next: String,
}

/// Passes all objects of a type to `visit`, whole or only their metadata, without keeping them.
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
    Selection {
        server,
        ty,
        namespace: None,
        parameters: "",
        accept,
        room: None,
    }
    .visit(visit)
    .await
}

/// Some objects of a type.
pub(super) struct Selection<'a> {
    pub(super) server: &'a Server,
    pub(super) ty: &'a ResourceType,
    pub(super) namespace: Option<&'a str>,
    /// Selectors, each with its `&`.
    pub(super) parameters: &'a str,
    /// The media type to ask for.
    pub(super) accept: &'static str,
    /// The room for all that is visited; none if it is not kept.
    pub(super) room: Option<&'a Room>,
}

impl Selection<'_> {
    /// Passes each object to `visit`, once. What a list that fails took is room again.
    pub(super) async fn visit(&self, visit: &mut dyn FnMut(Object)) -> Result<(), Why> {
        let pages = Pages {
            server: self.server,
            ty: self.ty,
            version: &self.ty.version,
            namespace: self.namespace,
            parameters: self.parameters,
            accept: self.accept,
        };
        let mut objects = Objects::new(self.ty, self.room, visit);
        let fault = pages.read(&mut objects).await.fault;
        if let (Some(_), Some(room)) = (&fault, self.room) {
            room.give_back(objects.size);
        }
        fault.map_or(Ok(()), Err)
    }
}

/// Takes whole pages of objects, and passes them on one by one.
pub(super) struct Objects<'a> {
    ty: &'a ResourceType,
    page: Vec<Object>,
    visit: &'a mut dyn FnMut(Object),
    /// Hashes of the uids of the visited objects. A list that begins again has most of them again.
    visited: HashSet<u64>,
    hasher: RandomState,
    room: Option<&'a Room>,
    /// How many bytes all pages had.
    size: usize,
}

impl<'a> Objects<'a> {
    pub(super) fn new(
        ty: &'a ResourceType,
        room: Option<&'a Room>,
        visit: &'a mut dyn FnMut(Object),
    ) -> Self {
        Objects {
            ty,
            page: Vec::new(),
            visit,
            visited: HashSet::new(),
            hasher: RandomState::new(),
            room,
            size: 0,
        }
    }

    fn read(&mut self, answer: &Answer) -> Result<PageMeta, Undecodable> {
        let undecodable = |error: serde_json::Error| Undecodable(error.to_string());
        let size = answer.body.len();
        if self.room.is_some_and(|room| !room.take_bytes(size)) {
            return Err(Undecodable("it has more to keep than there is room for".into()));
        }
        self.size = self.size.saturating_add(size);
        let list: RawList<'_> = serde_json::from_slice(&answer.body).map_err(undecodable)?;
        // Go writes an empty list as null.
        if list.items.is_none() && !list.kind.ends_with("List") {
            return Err(Undecodable("the answer is not a list".into()));
        }
        for item in list.items.unwrap_or_default() {
            let value = serde_json::from_str(item.get()).map_err(undecodable)?;
            self.page.push(object_of(self.ty, value));
        }
        Ok(PageMeta {
            next: Some(list.metadata.next).filter(|token| !token.is_empty()),
            resource_version: None,
        })
    }
}

impl Take for Objects<'_> {
    fn decode(&mut self, answer: &Answer) -> Decoded {
        self.page.clear();
        let page = self.read(answer);
        Decoded {
            items: self.page.len() as u64,
            page,
        }
    }

    fn keep(&mut self) {
        for object in self.page.drain(..) {
            // An object without a uid is computed, not stored, and such lists have one page.
            let uid = object.uid();
            if uid.is_empty() || self.visited.insert(self.hasher.hash_one(uid)) {
                (self.visit)(object);
            }
        }
    }

    fn restart(&mut self) {}
}

/// The object of a type with this content.
pub(super) fn object_of(ty: &ResourceType, value: Value) -> Object {
    Object {
        resource: Resource::new(&ty.group, &ty.plural),
        kind: ty.kind.clone(),
        api_version: ty.api_version(),
        value,
    }
}
