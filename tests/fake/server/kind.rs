//! What discovery says about one type in one version.

/// One type in one version, as discovery describes it.
#[derive(Clone, Debug)]
pub struct Kind {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub kind: String,
    pub namespaced: bool,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub verbs: Vec<String>,
    pub subresources: Vec<String>,
    pub json_only: bool,
    pub whole_only: bool,
}

/// Kinds that cannot be derived from their plural, because of the capitals inside.
const KINDS: &[&str] = &[
    "APIService",
    "ConfigMap",
    "ControllerRevision",
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "EndpointSlice",
    "HorizontalPodAutoscaler",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ReplicaSet",
    "ServiceAccount",
    "StatefulSet",
    "VolumeAttachment",
];

impl Kind {
    /// A cluster-scoped type with all usual verbs and a `status` subresource. Its kind is derived from the
    /// plural.
    ///
    /// The first version of a group is the preferred one. All versions of a type serve the same objects.
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        let verbs = [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ];
        Kind {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            kind: guess(plural),
            namespaced: false,
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: verbs.map(Into::into).into(),
            subresources: vec!["status".into()],
            json_only: false,
            whole_only: false,
        }
    }

    pub fn kind(mut self, kind: &str) -> Self {
        self.kind = kind.into();
        self
    }

    pub fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    pub fn short(mut self, name: &str) -> Self {
        self.short_names.push(name.into());
        self
    }

    pub fn category(mut self, name: &str) -> Self {
        self.categories.push(name.into());
        self
    }

    /// Sets exactly these verbs: a type for reviews has only `create`.
    pub fn verbs(mut self, verbs: &[&str]) -> Self {
        self.verbs = verbs.iter().map(|&verb| verb.into()).collect();
        self
    }

    /// Sets exactly these subresources.
    pub fn subresources(mut self, names: &[&str]) -> Self {
        self.subresources = names.iter().map(|&name| name.into()).collect();
        self
    }

    /// The type has no protobuf.
    pub fn json_only(mut self) -> Self {
        self.json_only = true;
        self
    }

    /// The type has no metadata-only objects: 406 if nothing else is accepted, else whole objects.
    pub fn whole_only(mut self) -> Self {
        self.whole_only = true;
        self
    }

    /// `plural.group`, the key of its objects.
    pub fn name(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether its group looks like that of a CRD. Custom objects are encoded from maps: `metadata` after
    /// `items`.
    pub fn is_custom(&self) -> bool {
        self.group.contains('.') && !self.group.ends_with(".k8s.io")
    }
}

fn guess(plural: &str) -> String {
    let singular = match plural {
        _ if plural.ends_with("ies") => format!("{}y", &plural[..plural.len() - 3]),
        _ if plural.ends_with("sses") => plural[..plural.len() - 2].to_owned(),
        _ => plural.strip_suffix('s').unwrap_or(plural).to_owned(),
    };
    if let Some(known) = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(&singular)) {
        return (*known).to_owned();
    }
    let mut letters = singular.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
