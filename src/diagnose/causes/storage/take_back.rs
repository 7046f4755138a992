//! Steps that take a deletion back, for what is worth it.
//!
//! **Recognises** a Bound volume in deletion whose claim stays, and a claim in deletion with a volume. Recognises an object
//! that may own claims with a disk at stake. **Why:** a volume and a claim can be made again for the same disk. Any other
//! object would be a new one with another uid, so its deletion has to go from etcd
//! (`kubernetes/apiserver:pkg/registry/rest/update.go` BeforeUpdate). **Wants** the volume of a claim, and the claim of a
//! volume. Wants the namespace, too: one that is being deleted accepts no new object. **Concludes** nothing about a
//! finalizer. **Advises** `rescue`, or to look with it for a way to etcd.

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            storage::{
                pv_protection,
                reclaim_policy::{self, volumes_of},
            },
        },
        kinds::PersistentVolume,
        model::{Finding, Safety, Step},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the step to those that apply to a mistake, which come first.
pub(crate) fn add_take_back_step(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    if object.deletion().is_none() {
        return;
    }
    let step = match (object.resource.group.as_str(), object.resource.plural.as_str()) {
        ("", "persistentvolumes") => of_volume(object, view),
        ("", "persistentvolumeclaims") => of_claim(object, view),
        _ => is_worth_it(object, findings).then(|| in_etcd(object)),
    };
    let step = step.filter(|_| keeps_what_is_made(object.namespace(), view));
    if let (Some(finding), Some(step)) = (findings.first_mut(), step) {
        let steps = &mut finding.steps;
        let kept = steps
            .iter()
            .take_while(|step| step.when == advice::MISTAKE)
            .count();
        steps.insert(kept, step);
    }
}

/// Whether an object can be made again in this namespace, and stays there.
fn keeps_what_is_made(namespace: &str, view: &View<'_>) -> bool {
    namespace.is_empty()
        || matches!(view.object("", "namespaces", "", namespace), Ok(found) if found.is_none_or(|found| found.deletion().is_none()))
}

fn of_volume(volume: &Object, view: &View<'_>) -> Option<Step> {
    if PersistentVolume(volume).phase() != "Bound" {
        return None;
    }
    let claim = pv_protection::claim_of(volume, view).ok()??;
    if claim.deletion().is_some() {
        return None;
    }
    if has_owner(volume) || reclaim_policy::other_finalizer(volume).is_some() {
        return Some(in_etcd(volume));
    }
    Some(Step {
        when: advice::MISTAKE,
        text: "Take the deletion back: the volume is made again. Its disk, claim and pods stay.".into(),
        command: Some(Command::of("kubectl finalizers rescue pv/{}", [volume.name()])),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    })
}

fn of_claim(claim: &Object, view: &View<'_>) -> Option<Step> {
    let volumes = volumes_of([claim], view).ok()?;
    // A volume in deletion has its own explanation: it is taken back first.
    if volumes.is_empty() || volumes.iter().any(|volume| volume.deletion().is_some()) {
        return None;
    }
    has_owner(claim).then(|| in_etcd(claim))
}

/// Whether `rescue` makes this claim again. The step that keeps its disk says so, because it has the same command but for
/// a flag.
pub(crate) fn is_made_again(claim: &Object, view: &View<'_>) -> bool {
    !has_owner(claim) && keeps_what_is_made(claim.namespace(), view)
}

/// Whether `rescue` refuses to make it again: its owner may delete it again.
fn has_owner(object: &Object) -> bool {
    !object.list("/metadata/ownerReferences").is_empty()
}

/// Whether the disks of claims go with it. For anything less, nobody should change etcd by hand. `rescue` refuses a
/// namespace: its objects are deleted one by one, whatever becomes of it.
fn is_worth_it(object: &Object, findings: &[Finding]) -> bool {
    let mut steps = findings.iter().flat_map(|finding| &finding.steps);
    !object.is("", "namespaces") && steps.any(advice::is_keep_disks)
}

/// Shows whether etcd can be reached, and with what command. Nothing is changed yet.
fn in_etcd(object: &Object) -> Step {
    Step {
        when: advice::MISTAKE,
        text: "Take the deletion back, if you can reach the etcd of this cluster. This shows how.".into(),
        command: Some(Command::way_to_etcd(
            &object.resource.name(),
            object.name(),
            object.namespace(),
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}
