//! The volumes that are still attached to the node of an object. A controller that deletes a machine may wait until they are
//! detached (`kubernetes-sigs/cluster-api:internal/controllers/machine/machine_controller.go` shouldWaitForNodeVolumes).

use crate::{
    diagnose::{
        causes::{advice::explain_step, storage::volume_attachments},
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

/// The fields that name the node of an object that stands for one.
const NODE: [&str; 4] = [
    "/status/nodeRef/name",
    "/status/nodeName",
    "/spec/nodeRef/name",
    "/spec/nodeName",
];

/// Names what is attached. Only an attachment that is being deleted and does not go blocks: the others may stay attached to
/// a node that lives on.
pub(super) fn add_attachments(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    // A Pod stands for no node: most volumes there are those of others.
    if object.is("", "pods") {
        return;
    }
    let Some(node) = NODE
        .iter()
        .map(|field| object.text(field))
        .find(|node| !node.is_empty())
    else {
        return;
    };
    // Attachments that could not be listed are a gap of the diagnosis.
    let Ok(all) = volume_attachments::to_node(node, view) else {
        return;
    };
    let (going, attached): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.deletion().is_some());
    for one in going.iter().take(limits::BLOCKERS) {
        let says = format!("is of its node {node}, and is being deleted");
        super::add_blocker(finding, view.blocker(one, says), runs);
    }
    let steps = going
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|one| explain_step(one, format!("see what holds {} {}", one.kind, one.name())));
    finding.steps.splice(0..0, steps);
    if !attached.is_empty() {
        let count = attached.len();
        let volumes = if count == 1 { "volume is" } else { "volumes are" };
        let names: Vec<_> = attached.iter().map(|one| one.name().to_owned()).collect();
        let names = limits::first_names(&names, limits::NAMES_IN_SENTENCE);
        finding.say(format!(
            "{count} {volumes} attached to its node {node}, by VolumeAttachment {names}"
        ));
        finding.evidence.push(Evidence {
            source: "a list of volumeattachments.storage.k8s.io".to_owned(),
            value: format!("{count} of node {node}"),
            strength: Strength::Moderate,
        });
    }
}
