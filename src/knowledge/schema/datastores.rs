//! The table of distributions and how their etcd is reached.

use serde::{Deserialize, Serialize};

use super::{Mistake, surroundings::list};

/// A distribution whose etcd can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Datastore {
    /// The name.
    pub name: String,
    /// Parts of the version of its API server (`gitVersion`); any version if there are none.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The pods of its etcd.
    #[serde(default)]
    pub pods: Option<Pods>,
    /// The label of the nodes on which its etcd runs without a pod.
    #[serde(default)]
    pub nodes: Option<String>,
    /// The port of etcd's JSON API.
    pub port: u16,
    /// The authority of its certificate.
    pub authority: Credential,
    /// A client certificate.
    pub certificate: Credential,
    /// The key of that certificate.
    pub key: Credential,
    /// The message where a cluster has neither those pods nor those nodes.
    #[serde(default)]
    pub otherwise: Option<String>,
}

/// The pods of an etcd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pods {
    /// Their namespace.
    pub namespace: String,
    /// Their labels, as a selector.
    pub labels: String,
}

/// Where a certificate or a key is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Credential {
    /// A file on the node.
    File {
        /// Its path.
        file: String,
    },
    /// A field of a Secret or ConfigMap.
    Field {
        /// The namespace.
        namespace: String,
        /// The type and the name.
        object: String,
        /// The key in its data.
        field: String,
    },
}

/// The distributions of a file, or the mistake in it.
pub fn datastores(file: &str, text: &str) -> Result<Vec<Datastore>, Mistake> {
    list(file, text, |one: &Datastore| {
        let is_nowhere = one.pods.is_none() && one.nodes.is_none();
        (one.name.clone(), one.name.is_empty() || is_nowhere)
    })
}
