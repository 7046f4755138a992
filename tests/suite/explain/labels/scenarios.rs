//! The stuck deletions whose steps are carried out. Each can be made many times in one cluster: all its objects carry the
//! name of the copy. Each family of causes has a file.

mod api_machinery;
mod garbage_collector;
mod impact;
mod namespaces;
mod network;
mod operators;
mod pods;
mod products;
mod storage;

use serde_json::{Value, json};

pub(super) use self::api_machinery::DAMAGED_OBJECT;

use crate::{
    explain::{
        custom_resources::{add_definition, going_in},
        told::SOON,
    },
    harness::{Cluster, Namespace, has, wait},
};

/// The driver of the disks, and its StorageClass.
pub(super) const DRIVER: &str = "labels.example.test";
/// A driver that makes, attaches and photographs disks, and then fails at all that a deletion needs.
pub(super) const FAILING_DRIVER: &str = "failing.example.test";

/// With a namespace, `explain` takes TYPE.GROUP/NAME for an object, never for a finalizer. Cluster-scoped objects ignore it.
const ANYWHERE: &str = "default";

/// What is explained, and its namespace.
pub(super) type Target = [String; 2];
/// Makes one copy. The text is its name.
pub(super) type Make = fn(&Cluster, &str) -> Target;

/// One stuck deletion, or an object that is to be deleted.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) make: Make,
    /// How many of its steps change something. Each is carried out on a copy of its own, so that no step hides what
    /// another one would lose. A copy of a scenario without such steps is only looked at.
    pub(super) steps: usize,
    /// How many of those can be carried out as they are printed. The others have something to fill in, need a program
    /// that is not here, or are refused.
    pub(super) carried_out: usize,
    /// What a person fills in for words of its commands.
    pub(super) fills: &'static [(&'static str, &'static str)],
    /// The causes that its explanation tells of, by their pages below `docs/causes/`.
    pub(super) tells: &'static [&'static str],
    /// Causes that add to what others tell, each with words that only it says.
    pub(super) adds: &'static [(&'static str, &'static str)],
    /// Whether its controller counts as late when the machine is slow. The step that wakes the controller then comes first; it
    /// is neither counted nor tried.
    pub(super) may_be_late: bool,
    /// The type that it needs, if that came with a minor version which is newer than the oldest tested one.
    came: Option<(&'static str, u32)>,
}

impl Scenario {
    /// Whether the API server serves the type that the scenario needs. A scenario that is left out says so.
    pub(super) fn can_be_made(&self) -> bool {
        self.came.is_none_or(|(what, minor)| has(what, minor))
    }

    /// All causes that it is about.
    pub(super) fn causes(&self) -> impl Iterator<Item = &'static str> {
        let adding = self.adds.iter().map(|(page, _)| *page);
        self.tells.iter().copied().chain(adding)
    }

    /// Its steps that change something, and how many of them are carried out.
    const fn steps(self, steps: usize, carried_out: usize) -> Self {
        Scenario {
            steps,
            carried_out,
            ..self
        }
    }

    const fn fills(self, fills: &'static [(&'static str, &'static str)]) -> Self {
        Scenario { fills, ..self }
    }

    const fn tells(self, tells: &'static [&'static str]) -> Self {
        Scenario { tells, ..self }
    }

    const fn adds(self, adds: &'static [(&'static str, &'static str)]) -> Self {
        Scenario { adds, ..self }
    }

    const fn may_be_late(self) -> Self {
        Scenario {
            may_be_late: true,
            ..self
        }
    }

    const fn since(self, what: &'static str, minor: u32) -> Self {
        Scenario {
            came: Some((what, minor)),
            ..self
        }
    }
}

const fn scenario(name: &'static str, make: Make) -> Scenario {
    Scenario {
        name,
        make,
        steps: 0,
        carried_out: 0,
        fills: &[],
        tells: &[],
        adds: &[],
        may_be_late: false,
        came: None,
    }
}

/// Scenarios that are made at the same time in one cluster, and what breaks the cluster before.
pub(super) struct Stage {
    pub(super) scenarios: &'static [&'static [Scenario]],
    pub(super) before: fn(&Cluster),
}

/// What does not disturb others.
pub(super) const TOGETHER: Stage = Stage {
    scenarios: &[
        storage::ALL,
        namespaces::ALL,
        pods::ALL,
        garbage_collector::ALL,
        api_machinery::ALL,
        network::ALL,
        operators::ALL,
        products::ALL,
        impact::ALL,
    ],
    before: |_| {},
};

/// What stops a whole cluster. One comes after the other, in a cluster of their own without a garbage collector.
pub(super) const BROKEN: &[Stage] = &[
    garbage_collector::STOPPED,
    namespaces::DEAD_API_GROUP,
    api_machinery::UNLISTABLE_TYPES,
    api_machinery::STOPPED_CONTROLLERS,
];

impl Stage {
    pub(super) fn all(&self) -> impl Iterator<Item = &'static Scenario> + use<> {
        self.scenarios.iter().copied().flatten()
    }
}

/// The types and operators that copies share.
pub(super) fn prepare(cluster: &Cluster) {
    let each: [fn(&Cluster); 3] = [api_machinery::prepare, operators::prepare, products::prepare];
    std::thread::scope(|scope| {
        for one in each {
            scope.spawn(move || one(cluster));
        }
    });
}

/// A custom type of a product: group, version, plural and kind.
fn defined(cluster: &Cluster, scope: &str, types: &[[&str; 4]]) {
    for one in types {
        add_definition(cluster, scope, *one);
    }
}

/// A namespace that can have Pods.
fn namespace<'a>(cluster: &'a Cluster, name: &str) -> Namespace<'a> {
    let ns = cluster.namespace_to_keep(name);
    wait("the namespace has its account", SOON, || {
        ns.get(["serviceaccount", "default"]).is_some()
    });
    ns
}

/// An object of a custom type in this namespace, or in none: its version, kind, name, and the finalizers that hold it.
fn object([api, kind, name]: [&str; 3], namespace: &str, finalizers: &[&str]) -> Value {
    let mut object = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}});
    if !finalizers.is_empty() {
        object["metadata"]["finalizers"] = finalizers.into();
    }
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// The object with more fields, each at its root.
fn with<const N: usize>(mut object: Value, fields: [(&str, Value); N]) -> Value {
    for (field, value) in fields {
        object[field] = value;
    }
    object
}

/// Makes an object of a custom type and deletes it, long ago.
fn deleted(cluster: &Cluster, plural: &str, object: &Value) -> Target {
    let target = going_in(cluster, plural, object, 40);
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    [target, namespace.to_owned()]
}

/// Deletes an object of a built-in type.
fn target(cluster: &Cluster, what: &str, namespace: &str) -> Target {
    cluster.delete(what, namespace);
    [what.to_owned(), namespace.to_owned()]
}

fn node(cluster: &Cluster, name: &str, ready: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}"
    ));
    cluster.patch_status(
        ["node", name],
        &json!({"conditions": [{"type": "Ready", "status": ready, "reason": "Test", "message": ""}]}),
    );
    if ready == "Unknown" {
        // Later, its taints would look like what a step has changed.
        wait("the node has its taints", SOON, || {
            let taints = cluster.get(["node", name]).unwrap()["spec"]["taints"].to_string();
            taints.contains("NoExecute") && taints.contains("NoSchedule")
        });
    }
}

/// A namespace, a node, and a bound claim `data` with a disk. Returns the name of the volume.
fn bound_claim(cluster: &Cluster, name: &str, metadata: &str) -> String {
    bound_claim_of(cluster, name, DRIVER, metadata)
}

fn bound_claim_of(cluster: &Cluster, name: &str, driver: &str, metadata: &str) -> String {
    namespace(cluster, name);
    node(cluster, name, "True");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: {name}{metadata}}}, spec: \
         {{storageClassName: {driver}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let claim = || {
        cluster
            .get(["pvc", "data", "--namespace", name])
            .unwrap_or_default()
    };
    wait("the claim is bound", SOON, || {
        claim()["status"]["phase"] == "Bound"
    });
    claim()["spec"]["volumeName"].as_str().unwrap().to_owned()
}

/// The template of a Pod that uses the claim. It needs no kubelet to end.
fn pod_spec(name: &str, more: &str) -> String {
    format!(
        "{{nodeName: {name}, terminationGracePeriodSeconds: 0, {more} containers: [{{name: c, image: i}}], volumes: \
         [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]}}"
    )
}

fn pod(cluster: &Cluster, name: &str, phase: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {name}}}, spec: {}}}",
        pod_spec(name, "")
    ));
    cluster.patch_status(["pod", "p", "--namespace", name], &json!({"phase": phase}));
}

/// A StatefulSet, a Deployment or a Job that runs one Pod with the claim.
fn workload(cluster: &Cluster, name: &str, kind: &str) {
    let manifest = if kind == "Job" {
        format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: work, namespace: {name}}}, spec: {{template: {{spec: {}}}}}}}",
            pod_spec(name, "restartPolicy: Never,")
        )
    } else {
        let more = if kind == "StatefulSet" {
            "serviceName: web,"
        } else {
            ""
        };
        format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: web, namespace: {name}}}, spec: {{replicas: 1, {more} \
                 selector: {{matchLabels: {{a: web}}}}, template: {{metadata: {{labels: {{a: web}}}}, spec: {}}}}}}}",
            pod_spec(name, "")
        )
    };
    cluster.apply(&manifest);
    let maker = if kind == "Deployment" { "ReplicaSet" } else { kind };
    let pods = || cluster.get(["pods", "--namespace", name]).unwrap_or_default();
    let owned = || {
        let pods = pods();
        let mut pods = pods["items"].as_array().into_iter().flatten();
        let pod = pods.find(|pod| pod["metadata"]["ownerReferences"][0]["kind"] == maker)?;
        Some(pod["metadata"]["name"].as_str()?.to_owned())
    };
    wait("the pod exists", SOON, || owned().is_some());
    let pod = owned().unwrap();
    cluster.patch_status(["pod", &pod, "--namespace", name], &json!({"phase": "Running"}));
}
