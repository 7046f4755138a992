//! The closed sets of words that a knowledge file may use where a program has to act on them.
//!
//! A word that is not here is an error of the file: the diagnosis engine understands each of these and nothing
//! else, so a misspelt one would silently mean "cannot be looked up".

use serde::{Deserialize, Serialize};

use super::KindPattern;

/// How `name` is compared with a finalizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// The whole string, case included.
    #[default]
    Exact,
    /// The finalizer begins with `name`.
    Prefix,
    /// The finalizer ends in `name`.
    Suffix,
    /// `*` stands for any characters, slashes included.
    Glob,
}

/// Which of the two lists a finalizer stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// `metadata.finalizers`, of any object.
    #[default]
    Metadata,
    /// `spec.finalizers`, of a Namespace; changed through its `finalize` subresource only.
    NamespaceSpec,
}

/// What is lost or left behind if the finalizer is removed by hand, from nothing to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Consequence {
    /// Nothing.
    #[serde(rename = "none")]
    None,
    /// A record, a status or an order of events, nothing that runs or stores.
    #[serde(rename = "metadata")]
    Metadata,
    /// Objects stay in this or another cluster with nobody to clean them up.
    #[serde(rename = "orphaned objects")]
    OrphanedObjects,
    /// Something outside Kubernetes stays: a disk, a load balancer, an account, a bill.
    #[serde(rename = "leaked infrastructure")]
    LeakedInfrastructure,
    /// Data can be destroyed or become unreachable.
    #[serde(rename = "data loss")]
    DataLoss,
}

impl Consequence {
    /// All of them, from nothing to the worst.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Metadata,
        Self::OrphanedObjects,
        Self::LeakedInfrastructure,
        Self::DataLoss,
    ];

    /// The word as people read and write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Metadata => "metadata",
            Self::OrphanedObjects => "orphaned objects",
            Self::LeakedInfrastructure => "leaked infrastructure",
            Self::DataLoss => "data loss",
        }
    }

    /// The word as it is typed: with hyphens, so that a shell takes it for one.
    pub fn typed(self) -> String {
        self.word().replace(' ', "-")
    }

    /// What somebody typed, if it is one of the words.
    pub fn of_typed(text: &str) -> Option<Self> {
        let wanted = text.trim().to_lowercase().replace(['-', '_'], " ");
        Self::ALL.into_iter().find(|known| known.word() == wanted)
    }
}

impl std::fmt::Display for Consequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Where the holder runs, which decides whether not seeing it means anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// As a workload of this cluster, which can be seen.
    #[default]
    InCluster,
    /// In the control plane: seen on self-managed clusters, not on those named in `hidden-on`.
    ControlPlane,
    /// In a control plane that users never see.
    HiddenControlPlane,
    /// In another cluster: the hub, the managed cluster, the hosting cluster.
    OtherCluster,
    /// Outside any cluster: a person with a command, a service.
    Outside,
    /// Nowhere: no released program removes this one (any more).
    Nobody,
}

/// How it stands with a holder, as far as that decides what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IfHolder {
    /// It runs, and perhaps cannot do its work.
    Runs,
    /// It was uninstalled.
    Gone,
    /// Nobody has found out yet.
    Unknown,
}

/// How the holder is found when its name is not fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// The API group that is part of the finalizer's name.
    GroupInName,
    /// The handler (controller) that is named in the part of the finalizer which the pattern leaves open.
    HandlerInName,
    /// The node that is named in the part of the finalizer which the pattern leaves open.
    NodeInName,
    /// The node that the object lies on.
    NodeOfObject,
}

/// The workload kinds that a holder runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
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
    /// Pods that no such workload is known for, such as static Pods.
    Pod,
}

/// Which statements of an entry are our judgement rather than the source's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// The phrase of the table.
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

/// What a project is for, by which the catalogue is put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// One thing that must change before the holder lets go, in a form that a program can look up.
///
/// "It" is the object that carries the finalizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wait {
    /// No Pod may use this claim, by the predicate of the pvc-protection controller.
    PodsThatMount,
    /// The claim in this volume's `spec.claimRef` must go.
    ClaimOfVolume,
    /// No `VolumeAttachment` may name this volume.
    AttachmentsOf,
    /// The `VolumeSnapshotContent` (or group content) bound to this snapshot must go.
    ContentOfSnapshot,
    /// The `VolumeSnapshot` (or group snapshot) that this content is bound to must go.
    SnapshotOfContent,
    /// No claim may be in the middle of being provisioned from this snapshot.
    ClaimsFromSnapshot,
    /// No snapshot of this claim may be in the making.
    SnapshotsOfClaim,
    /// No claim may be in the middle of being cloned from this one.
    ClonesOfClaim,
    /// Objects whose owner reference to it sets `blockOwnerDeletion` must go.
    Dependants,
    /// Owner references to it must be taken off its dependants, which stay.
    DependantsDetached,
    /// Everything in this namespace must go.
    ContentOfNamespace,
    /// All objects of the type(s) that it defines must go.
    Instances,
    /// All objects of these kinds must go, wherever they are.
    InstancesOf(Vec<KindPattern>),
    /// All objects of these kinds must go that are in its own namespace.
    InstancesBeside(Vec<KindPattern>),
    /// Objects of these kinds that were made for it must go.
    ChildObjects(Vec<KindPattern>),
    /// No object of these kinds may refer to it.
    UsedBy(Vec<KindPattern>),
    /// The object that the field at this path names (`kind`, `apiVersion`, and `name` or `resourceRef.name`) must go.
    Named(String),
    /// The object of one of these kinds that it belongs to must go first.
    Parent(Vec<KindPattern>),
    /// A condition in its status must have this value.
    Condition {
        /// `type` of the condition.
        r#type: String,
        /// `status` of the condition: `True`, `False` or `Unknown`.
        status: String,
    },
    /// `status.phase` must be none of these.
    PhaseNot(Vec<String>),
    /// `status.phase` must be one of these.
    Phase(Vec<String>),
    /// The field at this path (dots between the names) must be empty or absent.
    FieldEmpty(String),
    /// Something outside Kubernetes must be gone or must have agreed.
    External {
        /// What, as a noun phrase that follows "waits for".
        what: String,
        /// Fields of the object that name that thing outside.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        id: Vec<String>,
    },
    /// Something in another cluster must be gone, as a noun phrase.
    OtherCluster(String),
    /// Work that is under way must end, as a noun phrase.
    Activity(String),
    /// Nothing but the holder's own acknowledgement.
    HolderOnly,
    /// A person's decision; no program ever removes it.
    Person,
    /// Nothing at all: a leftover that no released program removes.
    Nothing,
}
