//! The other Pods of a Pod's owner that are not ready, or are being deleted. A controller that lets a member of a cluster go often asks the others
//! first: a coordinator of a database tells whether a server may leave.

use super::{Troubled, only_named};
use crate::{
    diagnose::{
        complaint::{join, shortened},
        kinds::{OwnerReference, Pod},
        limits,
        model::Finding,
        view::View,
    },
    snapshot::facts::Object,
};

/// Says which are not ready, and returns them. Nothing shows that the controller needs them.
pub(super) fn add_siblings(pod: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    add_containers(pod, finding);
    let Some(owner) = OwnerReference::to_controller(pod).filter(|owner| !owner.uid().is_empty()) else {
        return Vec::new();
    };
    // Pods that could not be listed are a gap of the diagnosis.
    let all = view.list("", "pods", pod.namespace()).unwrap_or_default();
    let is_sibling = |other: &&Object| other.name() != pod.name() && other.is_owned_by(owner.uid());
    let going: Vec<_> = all
        .iter()
        .filter(is_sibling)
        .filter(|other| other.deletion().is_some())
        .map(|other| other.name().to_owned())
        .collect();
    if !going.is_empty() {
        finding.say(format!(
            "Of the same {}, these are being deleted, too: {}",
            owner.kind(),
            limits::first_names(&going, limits::NAMES_IN_SENTENCE)
        ));
    }
    let unready = all
        .iter()
        .filter(is_sibling)
        .filter(|other| other.deletion().is_none())
        .filter_map(|other| Some((other, why_unready(other)?)));
    let mut troubled = Vec::new();
    for (other, why) in unready.take(limits::NAMES_IN_SENTENCE) {
        finding.say(format!(
            "Pod {} of the same {} is not ready: {why}",
            other.name(),
            owner.kind()
        ));
        let says = format!("belongs to the same {}, and is not ready: {why}", owner.kind());
        troubled.push(Troubled {
            node: only_named(other.reference(), says),
            exists: true,
        });
    }
    troubled
}

/// Says which containers have not ended, as the last status tells. Many controllers let a Pod go only after all have.
fn add_containers(pod: &Object, finding: &mut Finding) {
    let left: Vec<_> = Pod(pod).containers_left().collect();
    if !left.is_empty() {
        let first = limits::first_names(&left, limits::NAMES_IN_SENTENCE);
        finding.say(format!("By its status, container {}", shortened(&first)));
    }
}

fn why_unready(pod: &Object) -> Option<String> {
    let (status, reason, message) = pod.condition("Ready")?;
    let is_unready = status == "False" && !Pod(pod).is_finished();
    let why = || match Pod(pod).why_not_ready() {
        Some(why) => why.says,
        None => join(reason, message),
    };
    is_unready.then(why)
}
