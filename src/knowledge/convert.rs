//! Converts the program's types to the catalogue's types.
//!
//! The catalogue has its own types because `build.rs` compiles them without the rest of the program.

use super::schema::{GroupKind, List};
use crate::object;

impl From<object::List> for List {
    fn from(list: object::List) -> Self {
        match list {
            object::List::Metadata => Self::Metadata,
            object::List::Spec => Self::NamespaceSpec,
        }
    }
}

impl<'a> From<&'a object::ResourceType> for GroupKind<'a> {
    fn from(resource: &'a object::ResourceType) -> Self {
        Self {
            group: &resource.group,
            kind: &resource.kind,
        }
    }
}

impl<'a> From<&'a object::ObjectRef> for GroupKind<'a> {
    fn from(object: &'a object::ObjectRef) -> Self {
        let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
        Self {
            group,
            kind: &object.kind,
        }
    }
}
