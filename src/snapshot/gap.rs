//! A gap: data that could not be read, and why. A missing fact is a value, and never becomes an empty list.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One thing that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// What is missing.
    pub what: What,
    /// Why it is missing.
    pub why: Why,
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum What {
    /// All types of the server.
    Discovery,
    /// The types of the core group.
    CoreGroup,
    /// All groups except the core group, with their types.
    Groups,
    /// One version of an API group: its types are unknown or unreachable.
    GroupVersion {
        /// Group, empty for core.
        group: String,
        /// Version; empty for all versions.
        version: String,
        /// `plural.group` of its known types, to show users what is hidden.
        types: Vec<String>,
    },
    /// All objects of a type, or the objects after the first `read`.
    Type {
        /// `plural.group`.
        name: String,
        /// How many of its objects were read before the failure.
        read: u64,
    },
    /// The objects of a type outside a few namespaces.
    TypeOutside {
        /// `plural.group`.
        name: String,
        /// The namespaces in which it was read; may be empty.
        read_in: Vec<String>,
    },
    /// The objects of a type in one namespace.
    TypeIn {
        /// `plural.group`.
        name: String,
        /// The namespace.
        namespace: String,
        /// How many of its objects were read before the failure.
        read: u64,
    },
    /// The list of namespaces.
    Namespaces,
    /// The Namespace object itself, with its own finalizers.
    Namespace(String),
    /// A file, or a document in it.
    File {
        /// The path as the user named it, or below a named directory.
        path: String,
        /// The line, from 1, if the gap is about one document.
        line: Option<u64>,
    },
    /// The controller of this product, which must remove a finalizer.
    Controller(String),
    /// The version of the API server.
    Version,
}

impl What {
    /// Whether this gap may hide types of the group. A type that seems to be missing from the group may then exist.
    pub fn hides_types_of(&self, wanted: &str) -> bool {
        match self {
            What::Discovery => true,
            What::CoreGroup => wanted.is_empty(),
            What::Groups => !wanted.is_empty(),
            What::GroupVersion { group, .. } => group == wanted,
            _ => false,
        }
    }

    /// The group and version whose types are unknown, or a description of them.
    pub fn silent_group(&self) -> Option<String> {
        match self {
            What::Discovery => Some("every group".into()),
            What::CoreGroup => Some("the core group (/api)".into()),
            What::Groups => Some("every group but the core group (/apis)".into()),
            What::GroupVersion { group, version, .. } => Some(
                [group, version]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join("/"),
            ),
            _ => None,
        }
    }
}

/// Why it is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// The server refused with 403. Holds its message.
    Forbidden(String),
    /// The server, or the backend of one group, does not accept the credentials: 401. Holds its message.
    Unauthorized(String),
    /// The backend of the group does not answer. Holds what is known of it.
    Unavailable(String),
    /// The backend of the group does not answer, as the condition of its APIService says.
    ApiServiceUnavailable {
        /// The name of the APIService.
        name: String,
        /// The reason and the message of its condition.
        says: String,
    },
    /// No answer within this time.
    TimedOut(Duration),
    /// The server asked to slow down until the retries ran out.
    Throttled(String),
    /// The server answered with another error. Holds its message.
    ServerError(String),
    /// The answer cannot be parsed: cut short, not JSON, a proxy's page.
    Undecodable(String),
    /// The server sends only whole objects, but the program never requests whole Secrets or ConfigMaps.
    MetadataOnlyRefused,
    /// The type disappeared between discovery and reading: its CustomResourceDefinition was deleted.
    Vanished,
    /// The connection failed.
    Connection(String),
    /// The dump does not have it.
    NotInDump,
    /// The user stopped the run.
    Interrupted,
    /// It runs where this cluster does not show it. Holds the place.
    OutOfSight(String),
}

impl Gap {
    /// What could not be read and why, as a part of a sentence.
    pub fn in_words(&self) -> String {
        let why = self.why.message();
        match &self.what {
            What::Type { name, .. } => format!("{name} could not be read: {why}"),
            What::TypeIn { name, namespace, .. } => format!("{name} in {namespace} could not be read: {why}"),
            What::Controller(product) => format!("the controller of {product} could not be seen: {why}"),
            What::Version => format!("the version of the API server could not be read: {why}"),
            What::Discovery if matches!(self.why, Why::NotInDump) => {
                "the recording has no list of all types".into()
            }
            _ => why,
        }
    }
}

impl Why {
    /// Whether the backend of the group does not answer.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Why::Unavailable(_) | Why::ApiServiceUnavailable { .. })
    }

    /// One word for scripts and for grouping: `reason` in the JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Forbidden(_) => "Forbidden",
            Why::Unauthorized(_) => "Unauthorized",
            Why::Unavailable(_) | Why::ApiServiceUnavailable { .. } => "Unavailable",
            Why::TimedOut(_) => "TimedOut",
            Why::Throttled(_) => "Throttled",
            Why::ServerError(_) => "ServerError",
            Why::Undecodable(_) => "Undecodable",
            Why::MetadataOnlyRefused => "MetadataOnlyRefused",
            Why::Vanished => "Vanished",
            Why::Connection(_) => "Connection",
            Why::NotInDump => "NotInDump",
            Why::Interrupted => "Interrupted",
            Why::OutOfSight(_) => "OutOfSight",
        }
    }

    /// The reason as text, with the server's own message if there is one.
    pub fn message(&self) -> String {
        match self {
            Why::Forbidden(text)
            | Why::Unavailable(text)
            | Why::Throttled(text)
            | Why::ServerError(text)
            | Why::Undecodable(text)
            | Why::Connection(text) => text.clone(),
            Why::ApiServiceUnavailable { name, says } => format!("APIService {name}: {says}"),
            Why::Unauthorized(text) => format!("the credentials are not accepted (401): {text}"),
            Why::TimedOut(limit) => format!("no answer within {} s", limit.as_secs_f32()),
            Why::MetadataOnlyRefused => {
                "the server sends only whole objects of this type, and data of Secrets and ConfigMaps is never asked for"
                    .into()
            }
            Why::Vanished => "the type was removed while it was being read".into(),
            Why::NotInDump => "it is not in this recording".into(),
            Why::Interrupted => "stopped before it was read".into(),
            Why::OutOfSight(place) => format!("it runs {place}"),
        }
    }
}
