//! Holders that run on every node, of which only the one on the object's own node can act: agents that look after a local disk.
//!
//! Where the object lies, it says itself (`openebs/lvm-localpv:pkg/apis/openebs.io/lvm/v1alpha1/lvmvolume.go`
//! `spec.ownerNodeID`, `topolvm/topolvm:api/v1/logicalvolume_types.go` `spec.nodeName`), or its finalizer's name does.

use crate::{
    diagnose::{
        holder::{
            standing,
            trace::{Holder, Sign, Tells, Trace},
            workload::name_of,
        },
        model::Strength,
        view::View,
    },
    knowledge::{Entry, FoundBy},
    object::Finalizer,
    snapshot::facts::{By, Object},
};

/// Fields with the name of the node that an object lies on.
const FIELDS: [&str; 2] = ["/spec/nodeName", "/spec/ownerNodeID"];

/// The node on which the holder of this object must run, if there is just one and something tells it.
pub(super) fn of<'a>(object: &'a Object, finalizer: &'a Finalizer, entry: &Entry) -> Option<&'a str> {
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

/// How the `DaemonSet`'s Pod on that node stands. Those of the other nodes may be as ready as they like.
pub(super) fn state(daemons: &Object, node: &str, holder: &mut Holder, view: &View<'_>) {
    // Asked together, so that they are read together.
    let (pods, found) = (
        view.search("", "pods", "", By::Node(node.to_owned())),
        view.object("", "nodes", "", node),
    );
    let pods = match pods {
        Ok(pods) => pods,
        Err(missing) => return holder.miss(&missing),
    };
    let own: Vec<_> = pods
        .iter()
        .filter(|pod| pod.owned_by(daemons.uid()).next().is_some())
        .collect();
    for pod in &own {
        standing::state(pod, Strength::Strong, holder, view);
    }
    if !own.is_empty() {
        return;
    }
    // What is no Node's name may still be its other name.
    let (strength, there) = match found {
        Ok(Some(_)) => (Strength::Strong, ""),
        Ok(None) => (Strength::Moderate, ": there is no Node of that name"),
        Err(missing) => return holder.miss(&missing),
    };
    let value = format!("has no Pod on node {node}, and no other one can act{there}");
    let sign = Sign::new(Trace::Workload, Tells::Failing, strength, name_of(daemons), value);
    holder.add(sign.about(daemons.reference()));
}
