//! Controllers that run on every node, such as agents for local disks. Only the agent on the object's own node
//! can act.
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
        // The name may still be another name of a Node. The agents on other nodes are well, so none is at fault.
        Ok(None) => {
            let value = format!(
                "does not exist, and only the Pod of {} on it can act",
                name_of(daemon_set)
            );
            let sign = Sign::new(
                Trace::Home,
                Tells::Off,
                Strength::Moderate,
                format!("Node {node}"),
                value,
            );
            holder.add(sign.about(ObjectRef {
                type_name: "nodes".to_owned(),
                kind: "Node".to_owned(),
                api_version: "v1".to_owned(),
                namespace: None,
                name: node.to_owned(),
                uid: String::new(),
            }));
        }
        Err(missing) => holder.add_missing(&missing),
    }
}
