//! The fixed sets of words in knowledge files that a program has to act on.
//!
//! Any other word is an error in the file. The diagnosis understands only these, so a misspelt word would
//! silently mean "cannot be looked up".

use serde::{Deserialize, Serialize};

use super::KindPattern;

/// How to compare `name` with a finalizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// The whole string, case-sensitive.
    #[default]
    Exact,
    /// The finalizer begins with `name`.
    Prefix,
    /// The finalizer ends in `name`.
    Suffix,
    /// `*` stands for any characters, including slashes.
    Glob,
}

/// The list that contains a finalizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// `metadata.finalizers`, of any object.
    #[default]
    Metadata,
    /// `spec.finalizers` of a Namespace, which changes only through its `finalize` subresource.
    NamespaceSpec,
}

/// What is lost, or remains without an owner, if the finalizer is removed by hand. From harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Consequence {
    /// Nothing.
    #[serde(rename = "none")]
    None,
    /// A record, a status or an order of events; nothing that runs or stores data.
    #[serde(rename = "metadata")]
    Metadata,
    /// Objects remain in this or another cluster, and nobody cleans them up.
    #[serde(rename = "orphaned objects")]
    OrphanedObjects,
    /// Something outside Kubernetes remains: a disk, a load balancer, an account, a bill.
    #[serde(rename = "leaked infrastructure")]
    LeakedInfrastructure,
    /// Data can be destroyed or become unreachable.
    #[serde(rename = "data loss")]
    DataLoss,
}

impl Consequence {
    /// All consequences, from harmless to worst.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Metadata,
        Self::OrphanedObjects,
        Self::LeakedInfrastructure,
        Self::DataLoss,
    ];

    /// The word in text and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Metadata => "metadata",
            Self::OrphanedObjects => "orphaned objects",
            Self::LeakedInfrastructure => "leaked infrastructure",
            Self::DataLoss => "data loss",
        }
    }

    /// The word on the command line: with hyphens, so that a shell takes it for one word.
    pub fn typed(self) -> String {
        self.word().replace(' ', "-")
    }

    /// The consequence for a typed word, if there is one.
    pub fn from_typed(text: &str) -> Option<Self> {
        let wanted = text.trim().to_lowercase().replace(['-', '_'], " ");
        Self::ALL.into_iter().find(|known| known.word() == wanted)
    }
}

impl std::fmt::Display for Consequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Where the controller runs. This decides whether its absence proves anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// As a visible workload in this cluster.
    #[default]
    InCluster,
    /// In the control plane: visible on self-managed clusters, but not on the platforms in `hidden-on`.
    ControlPlane,
    /// In a control plane that users cannot see.
    HiddenControlPlane,
    /// In another cluster: the hub, the managed cluster, the hosting cluster.
    OtherCluster,
    /// Outside any cluster: a person with a command, a service.
    Outside,
    /// Nowhere: no released program removes this finalizer (any more).
    Nobody,
}

/// The state of the controller, as far as it decides what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IfHolder {
    /// It runs, but it may be unable to do its work.
    Runs,
    /// It was uninstalled.
    Gone,
    /// Its state is not known yet.
    Unknown,
}

/// What a message of a controller is about. `knowledge/topics.yaml` has the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The account that it uses elsewhere, and what it may do there.
    Credentials,
    /// Something that still uses what is to be deleted.
    Use,
    /// A lock or a protection against deletion.
    Lock,
}

/// How long a finalizer must not be removed by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum While {
    /// A Pod that it owns has not ended, or its node does not report.
    ItMayRun,
    /// Its node does not report.
    NodeIsSilent,
    /// One of these objects exists.
    Exists(Vec<Left>),
    /// A cause of its own decides, in the code of the program.
    ItsCauseForbids,
}

/// Objects that must be gone before a finalizer is removed by hand. Where both they and the object with the finalizer are in a
/// namespace, only those of the same namespace count. Pods count until they have ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Left {
    /// Their kind, without `*`.
    pub kind: KindPattern,
    /// Their namespace, if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Only those that have the same text at this JSON pointer …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// … as the object with the finalizer has at one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<String>,
}

/// What a step can cost, by itself and by what follows from it. From harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// It only reads.
    ReadOnly,
    /// Nothing can be lost, neither by the step nor by what follows from it.
    Safe,
    /// It can be undone.
    Reversible,
    /// Something is lost or can be lost, by the step or by what follows from it. The text says what.
    Destructive,
}

impl Label {
    /// All of them, the harmless first.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Safe, Self::Reversible, Self::Destructive];

    /// The word in files and in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Safe => "safe",
            Self::Reversible => "reversible",
            Self::Destructive => "destructive",
        }
    }
}

/// How to find the controller if its name is not fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The CSI driver that the object names (`spec.csi.driver`, `spec.attacher`, `spec.driver`, `driver` of a class).
    CsiDriver,
    /// The provisioner of the claim's or volume's `StorageClass`.
    StorageClass,
    /// `spec.controllerName` of the object or of its `GatewayClass`.
    ControllerName,
    /// The Crossplane provider package that serves the object's API group.
    CrossplaneProvider,
    /// The workload whose `ServiceAccount` may patch objects of this kind.
    RbacOnKind,
    /// The API group in the finalizer's name.
    GroupInName,
    /// The handler (controller) in the part of the finalizer that the wildcard matches.
    HandlerInName,
    /// The node in the part of the finalizer that the wildcard matches.
    NodeInName,
    /// The node of the object.
    NodeOfObject,
}

/// The kinds of workload that a controller runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum WorkloadKind {
    /// `apps/v1` Deployment.
    #[default]
    Deployment,
    /// `apps/v1` `StatefulSet`.
    StatefulSet,
    /// `apps/v1` `DaemonSet`.
    DaemonSet,
    /// `batch/v1` Job.
    Job,
    /// Pods without a known workload, such as static Pods.
    Pod,
}

impl WorkloadKind {
    /// The kind, as Kubernetes writes it.
    pub fn name(self) -> &'static str {
        match self {
            WorkloadKind::Deployment => "Deployment",
            WorkloadKind::StatefulSet => "StatefulSet",
            WorkloadKind::DaemonSet => "DaemonSet",
            WorkloadKind::Job => "Job",
            WorkloadKind::Pod => "Pod",
        }
    }
}

/// The statements of an entry that are our judgement and not the source's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// The phrase in the table.
    Protects,
    /// What it waits for.
    WaitsFor,
    /// Who removes it and how to find it.
    Holder,
    /// The consequence.
    IfRemoved,
    /// The order of the steps.
    Fix,
    /// The versions.
    Versions,
}

/// The area of a project, which sorts the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// Kubernetes itself.
    KubernetesCore,
    /// The sidecars that every storage driver runs.
    KubernetesStorageSidecars,
    /// Storage.
    Storage,
    /// Load balancers of clouds and networks.
    CloudLoadBalancers,
    /// Resources of clouds and other services, made from Kubernetes objects.
    CloudProvisioning,
    /// Whole clusters and their machines.
    ClusterLifecycle,
    /// Many clusters from one.
    MulticlusterRancher,
    /// Deployment and pipelines.
    GitopsCi,
    /// Certificates, secrets, policies.
    SecuritySecrets,
    /// Networks, gateways, meshes.
    MeshNetwork,
    /// Databases and queues.
    Data,
    /// Batch work and machine learning.
    MlBatch,
    /// Virtual machines.
    Virtualization,
    /// Monitoring and everything that runs a platform.
    PlatformOperators,
    /// What operators are built with.
    OperatorFrameworks,
}

/// One condition that must change before the controller removes the finalizer, in a form that a program can
/// look up.
///
/// "It" is the object with the finalizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wait {
    /// No Pod may use this claim, by the predicate of the pvc-protection controller.
    PodsThatMount,
    /// The claim in this volume's `spec.claimRef` must be gone.
    ClaimOfVolume,
    /// No `VolumeAttachment` may name this volume.
    AttachmentsOf,
    /// The `VolumeSnapshotContent` (or group content) bound to this snapshot must be gone.
    ContentOfSnapshot,
    /// The `VolumeSnapshot` (or group snapshot) bound to this content must be gone.
    SnapshotOfContent,
    /// No claim may be in the middle of being provisioned from this snapshot.
    ClaimsFromSnapshot,
    /// No snapshot of this claim may be in progress.
    SnapshotsOfClaim,
    /// No claim may be in the middle of being cloned from this one.
    ClonesOfClaim,
    /// Dependents whose owner reference to it sets `blockOwnerDeletion` must be gone.
    Dependants,
    /// Owner references to it must be removed from its dependents, which remain.
    DependantsDetached,
    /// Everything in this namespace must be gone.
    ContentOfNamespace,
    /// All objects of the type(s) that it defines must be gone.
    Instances,
    /// All objects of these kinds must be gone, in every namespace.
    InstancesOf(Vec<KindPattern>),
    /// All objects of these kinds in its own namespace must be gone.
    InstancesBeside(Vec<KindPattern>),
    /// Objects of these kinds that were created for it must be gone.
    ChildObjects(Vec<KindPattern>),
    /// No object of these kinds may refer to it.
    UsedBy(Vec<KindPattern>),
    /// The object in the field at this path (`kind`, `apiVersion`, and `name` or `resourceRef.name`) must be
    /// gone.
    Named(String),
    /// Its parent object of one of these kinds must be gone first.
    Parent(Vec<KindPattern>),
    /// A condition in its status must have this value.
    Condition {
        /// `type` of the condition.
        r#type: String,
        /// `status` of the condition: `True`, `False` or `Unknown`.
        #[cfg_attr(test, schemars(extend("enum" = ["True", "False", "Unknown"])))]
        status: String,
    },
    /// `status.phase` must be none of these.
    PhaseNot(Vec<String>),
    /// `status.phase` must be one of these.
    Phase(Vec<String>),
    /// The field at this path (separated by dots) must be empty or absent.
    FieldEmpty(String),
    /// Something outside Kubernetes must be gone or must have agreed.
    External {
        /// The external thing, as a noun phrase that follows "waits for".
        what: String,
        /// The fields of the object that identify it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        id: Vec<String>,
    },
    /// Something in another cluster must be gone, as a noun phrase.
    OtherCluster(String),
    /// Work in progress must end, as a noun phrase.
    Activity(String),
    /// Only the controller's own acknowledgement.
    HolderOnly,
    /// A person's decision; no program removes it.
    Person,
    /// Nothing at all: a leftover that no released program removes.
    Nothing,
}

impl Wait {
    /// The kinds of the objects that it is about; none where the object itself or something else tells.
    pub fn kinds(&self) -> &[KindPattern] {
        match self {
            Wait::InstancesOf(kinds)
            | Wait::InstancesBeside(kinds)
            | Wait::ChildObjects(kinds)
            | Wait::UsedBy(kinds)
            | Wait::Parent(kinds) => kinds,
            _ => &[],
        }
    }
}

impl Wait {
    /// The finalizers for which this word can be looked up, by a cause of their own; none if it can be for all.
    pub fn only_for(&self) -> Option<&'static [&'static str]> {
        Some(match self {
            Self::PodsThatMount => &["kubernetes.io/pvc-protection"],
            Self::ClaimOfVolume => &[
                "kubernetes.io/pv-protection",
                "kubernetes.io/pv-controller",
                "external-provisioner.volume.kubernetes.io/finalizer",
            ],
            Self::AttachmentsOf => &[
                "external-provisioner.volume.kubernetes.io/finalizer",
                "external-attacher/",
            ],
            Self::ContentOfSnapshot => &["snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"],
            Self::SnapshotOfContent => {
                &["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"]
            }
            Self::ClaimsFromSnapshot => &[
                "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
                "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
            ],
            Self::SnapshotsOfClaim => &["snapshot.storage.kubernetes.io/pvc-as-source-protection"],
            Self::ClonesOfClaim => &["provisioner.storage.kubernetes.io/cloning-protection"],
            Self::Dependants => &["foregroundDeletion"],
            Self::DependantsDetached => &["orphan"],
            Self::ContentOfNamespace => &["kubernetes", "openshift.io/origin"],
            _ => return None,
        })
    }
}
