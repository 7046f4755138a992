//! Controllers that run on every node, such as agents for local disks. Only the agent on the object's own node
//! can act.
//!
//! A Pod belongs to the kubelet of its node, or to a program that stands for one.
//!
//! The object names its node itself (`openebs/lvm-localpv:pkg/apis/openebs.io/lvm/v1alpha1/lvmvolume.go`
//! `spec.ownerNodeID`, `topolvm/topolvm:api/v1/logicalvolume_types.go` `spec.nodeName`), or the name of its
//! finalizer does.

use crate::{
    diagnose::{
        holder::{
            pod_template::name_of,
            standing,
            trace::{Holder, Sign, Tells, Trace},
            writer,
        },
        model::Strength,
        view::View,
    },
    knowledge::{Entry, FoundBy},
    object::{Finalizer, ObjectRef},
    snapshot::facts::{By, Object},
};

/// The fields that name the node of an object.
const FIELDS: [&str; 2] = ["/spec/nodeName", "/spec/ownerNodeID"];

/// The node on which the controller of this object must run, if it must run on one node and that node is known.
pub(super) fn node_of_holder<'a>(
    object: &'a Object,
    finalizer: &'a Finalizer,
    entry: &Entry,
) -> Option<&'a str> {
    let ways = &entry.holder.found_by;
    let in_name = || {
        ways.contains(&FoundBy::NodeInName)
            .then(|| entry.matched(&finalizer.name))?
    };
    let in_object = || {
        let told = FIELDS.into_iter().map(|field| object.text(field));
        ways.contains(&FoundBy::NodeOfObject)
            .then(|| told.into_iter().find(|name| !name.is_empty()))?
    };
    in_name().filter(|name| !name.is_empty()).or_else(in_object)
}

/// Adds signs of the `DaemonSet`'s Pod on that node. The Pods on other nodes do not count, even if they are
/// ready.
pub(super) fn add_pod_on_node(daemon_set: &Object, node: &str, holder: &mut Holder, view: &View<'_>) {
    // Queried together, so that they are read together.
    let (pods, found) = (
        view.search("", "pods", "", By::Node(node.to_owned())),
        view.object("", "nodes", "", node),
    );
    let pods = match pods {
        Ok(pods) => pods,
        Err(missing) => return holder.add_missing(&missing),
    };
    let own: Vec<_> = pods
        .iter()
        .filter(|pod| pod.is_owned_by(daemon_set.uid()))
        .collect();
    for pod in &own {
        standing::add_standing(pod, Strength::Strong, holder, view);
    }
    if !own.is_empty() {
        return;
    }
    match found {
        Ok(Some(_)) => {
            let value = format!("has no Pod on node {node}, and no other one can act");
            let sign = Sign::new(
                Trace::Workload,
                Tells::Failing,
                Strength::Strong,
                name_of(daemon_set),
                value,
            );
            // A Pod that is being replaced is missing for a moment.
            holder.add(sign.about(daemon_set.reference()).lasting(false));
        }
        // The agents on other nodes are well, so none is at fault.
        Ok(None) => holder.add(missing_node(node, &format!("the Pod of {}", name_of(daemon_set)))),
        Err(missing) => holder.add_missing(&missing),
    }
}

/// Adds that the node of a Pod is gone, if whoever put the finalizer on is the kubelet of that Pod: only a kubelet writes
/// the state of containers (`kubernetes/kubernetes:pkg/kubelet/status/status_manager.go` syncPod).
pub(super) fn add_missing_node_of_pod(
    object: &Object,
    finalizer: &Finalizer,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let node = object.text("/spec/nodeName");
    let kubelet = writer::last_change(object, &["f:status", "f:containerStatuses"]);
    let Some(author) = writer::author(object, finalizer) else {
        return;
    };
    let is_of_kubelet = kubelet.is_some_and(|change| change.manager == author);
    if object.resource.name() != "pods" || node.is_empty() || !is_of_kubelet {
        return;
    }
    match view.object("", "nodes", "", node) {
        Ok(Some(_)) => {}
        Ok(None) => holder.add(missing_node(node, &author)),
        Err(missing) => holder.add_missing(&missing),
    }
}

/// That nobody can act, because there is no Node of this name. It may still be another name of a Node.
fn missing_node(node: &str, agent: &str) -> Sign {
    let value = format!("does not exist, and only {agent} on it can act");
    let source = format!("Node {node}");
    let sign = Sign::new(Trace::Home, Tells::Off, Strength::Moderate, source, value);
    sign.about(ObjectRef {
        type_name: "nodes".to_owned(),
        kind: "Node".to_owned(),
        api_version: "v1".to_owned(),
        namespace: None,
        name: node.to_owned(),
        uid: String::new(),
    })
}
