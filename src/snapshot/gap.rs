//! What could not be observed, and why. A missing fact is a value: nothing here ever becomes an empty list.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One thing that could not be observed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// What.
    pub what: What,
    /// Why.
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
    /// Which types exist at all.
    Discovery,
    /// Which types the core group has.
    CoreGroup,
    /// Which groups there are beside the core group, and their types.
    Groups,
    /// An API group in one version: its types are not known, or cannot be reached.
    GroupVersion {
        /// Group, empty for core.
        group: String,
        /// Version; empty if it is about all of them.
        version: String,
        /// `plural.group` of types it is known to have, so that people see what is hidden.
        types: Vec<String>,
    },
    /// All objects of a type, or those after the first `read`.
    Type {
        /// `plural.group`.
        name: String,
        /// How many of its objects were read before it failed.
        read: u64,
    },
    /// The objects of a type outside a few namespaces.
    TypeOutside {
        /// `plural.group`.
        name: String,
        /// The namespaces in which it was read; may be none.
        read_in: Vec<String>,
    },
    /// The objects of a type in one namespace.
    TypeIn {
        /// `plural.group`.
        name: String,
        /// The namespace.
        namespace: String,
        /// How many of its objects were read before it failed.
        read: u64,
    },
    /// The list of namespaces.
    Namespaces,
    /// The Namespace object itself, with its own finalizers.
    Namespace(String),
    /// A file, or a document in it.
    File {
        /// As the user named it, or below a directory that they named.
        path: String,
        /// Line, from 1, if it is about one document.
        line: Option<u64>,
    },
}

impl What {
    /// Whether this group may have types that are not known because of it: what does not seem to exist in the
    /// group is then not known to be absent.
    pub fn hides_types_of(&self, wanted: &str) -> bool {
        match self {
            What::Discovery => true,
            What::CoreGroup => wanted.is_empty(),
            What::Groups => !wanted.is_empty(),
            What::GroupVersion { group, .. } => group == wanted,
            _ => false,
        }
    }

    /// The group and version, or what stands for them, whose types are not known.
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
    /// The server refused: 403, with its message.
    Forbidden(String),
    /// The server, or the backend of one group, does not know who asks: 401, with its message.
    Unauthorized(String),
    /// The group's backend does not answer; the APIService's own reason and message where they can be read.
    Unavailable(String),
    /// No answer in time.
    TimedOut(Duration),
    /// The server asked us to slow down until we gave up.
    Throttled(String),
    /// The server answered with an error of its own, quoted.
    ServerError(String),
    /// The answer makes no sense: cut short, not JSON, a proxy's page.
    Undecodable(String),
    /// The server sends only whole objects of it, and this tool does not ask for Secrets or ConfigMaps whole.
    MetadataOnlyRefused,
    /// The type vanished between discovery and reading: its CustomResourceDefinition went away.
    Vanished,
    /// The connection failed.
    Connection(String),
    /// The dump does not hold it.
    NotInDump,
    /// The user stopped the reading.
    Interrupted,
}

impl Gap {
    /// What could not be read and why, as part of a sentence.
    pub fn in_words(&self) -> String {
        let why = self.why.message();
        match &self.what {
            What::Type { name, .. } => format!("{name} could not be read: {why}"),
            What::TypeIn { name, namespace, .. } => format!("{name} in {namespace} could not be read: {why}"),
            _ => why,
        }
    }
}

impl Why {
    /// One word for scripts and for grouping: the `reason` of the JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Forbidden(_) => "Forbidden",
            Why::Unauthorized(_) => "Unauthorized",
            Why::Unavailable(_) => "Unavailable",
            Why::TimedOut(_) => "TimedOut",
            Why::Throttled(_) => "Throttled",
            Why::ServerError(_) => "ServerError",
            Why::Undecodable(_) => "Undecodable",
            Why::MetadataOnlyRefused => "MetadataOnlyRefused",
            Why::Vanished => "Vanished",
            Why::Connection(_) => "Connection",
            Why::NotInDump => "NotInDump",
            Why::Interrupted => "Interrupted",
        }
    }

    /// The reason in words, with the server's own text where there is one.
    pub fn message(&self) -> String {
        match self {
            Why::Forbidden(text)
            | Why::Unavailable(text)
            | Why::Throttled(text)
            | Why::ServerError(text)
            | Why::Undecodable(text)
            | Why::Connection(text) => text.clone(),
            Why::Unauthorized(text) => format!("the credentials are not accepted (401): {text}"),
            Why::TimedOut(limit) => format!("no answer within {} s", limit.as_secs_f32()),
            Why::MetadataOnlyRefused => {
                "the server sends only whole objects of this type, and data of Secrets and ConfigMaps is never asked for"
                    .into()
            }
            Why::Vanished => "the type was removed while it was being read".into(),
            Why::NotInDump => "the dump does not hold it".into(),
            Why::Interrupted => "stopped before it was read".into(),
        }
    }
}
