//! Paths of requests.

use crate::object::{ResourceType, escape};

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
