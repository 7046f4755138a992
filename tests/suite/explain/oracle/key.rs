//! Names of the objects of a world.

use std::fmt;

use serde_json::Value;

/// In the order of creation: owners and volumes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    ConfigMap,
    Volume,
    Claim,
    Pod,
    Attachment,
}

impl Kind {
    pub(super) const ALL: [Kind; 5] = [
        Kind::ConfigMap,
        Kind::Volume,
        Kind::Claim,
        Kind::Pod,
        Kind::Attachment,
    ];

    /// `apiVersion` and `kind`.
    pub(super) fn api(self) -> (&'static str, &'static str) {
        match self {
            Kind::ConfigMap => ("v1", "ConfigMap"),
            Kind::Volume => ("v1", "PersistentVolume"),
            Kind::Claim => ("v1", "PersistentVolumeClaim"),
            Kind::Pod => ("v1", "Pod"),
            Kind::Attachment => ("storage.k8s.io/v1", "VolumeAttachment"),
        }
    }

    /// The type as kubectl takes it.
    fn plural(self) -> &'static str {
        match self {
            Kind::ConfigMap => "configmaps",
            Kind::Volume => "persistentvolumes",
            Kind::Claim => "persistentvolumeclaims",
            Kind::Pod => "pods",
            Kind::Attachment => "volumeattachments",
        }
    }

    /// The API path of its objects.
    pub(super) fn collection(self, namespace: &str) -> String {
        let plural = self.plural();
        match self {
            Kind::ConfigMap | Kind::Claim | Kind::Pod => format!("/api/v1/namespaces/{namespace}/{plural}"),
            Kind::Volume => format!("/api/v1/{plural}"),
            Kind::Attachment => format!("/apis/storage.k8s.io/v1/{plural}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) name: String,
}

impl Key {
    pub(super) fn new(kind: Kind, name: &str) -> Self {
        Key {
            kind,
            name: name.to_owned(),
        }
    }

    /// The object of a report, if worlds have objects of its kind.
    pub(super) fn said(object: &Value) -> Option<Self> {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| object["kind"] == kind.api().1)?;
        Some(Key::new(kind, object["name"].as_str()?))
    }

    pub(super) fn path(&self, namespace: &str) -> String {
        format!("{}/{}", self.kind.collection(namespace), self.name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.plural(), self.name)
    }
}
