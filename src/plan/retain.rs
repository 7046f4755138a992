//! `rescue --only-retain`: sets the reclaim policy of a volume to Retain, so that nothing deletes its disk.
//!
//! The API server accepts that at any time, also while the volume is being deleted
//! (`kubernetes/kubernetes:pkg/apis/core/validation/validation.go` ValidatePersistentVolumeUpdate). No diagnosis is
//! needed: with Retain nobody calls the driver, whatever holds the volume. So nothing but the volume and its claim is
//! read, and a slow or blind cluster does not delay it.
//!
//! What follows depends on the phase and on the deletion. The provisioner removes its finalizer as soon as the policy is
//! Retain, and the API server accepts no new finalizer on an object that is being deleted
//! (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` handleProtectionFinalizer).

use std::collections::BTreeSet;

use super::{Action, Claim, Cost, Outside, Plan, Request, Retention, cost};
use crate::{
    diagnose::{Verdict, kinds::PersistentVolume, reclaim_policy},
    knowledge::Consequence,
    snapshot::facts::Object,
};

/// Set on creation, and kept: nothing waits for it once the volume is released.
const PROTECTION: &str = "kubernetes.io/pv-protection";

/// The plan for a volume whose policy is not Retain yet.
pub fn retain(volume: &Object, claim: Claim) -> Plan {
    let cost = Cost {
        consequence: if goes_with_it(volume) {
            Consequence::Metadata
        } else {
            Consequence::None
        },
        text: if goes_with_it(volume) {
            "the volume object may be deleted with this change; its copy is then the only record of the disk"
                .into()
        } else {
            "the disk is kept, and so are the volume and the claim".into()
        },
        outside: disk(volume).into_iter().collect(),
        known: true,
    };
    Plan {
        action: Action::Retain,
        target: volume.reference(),
        resource_version: volume.resource_version().to_owned(),
        finalizer: None,
        stays: volume.finalizers(),
        kubelet: None,
        verdict: Verdict::Unknown,
        says: String::new(),
        unable: None,
        may_be: BTreeSet::new(),
        blockers: Vec::new(),
        evidence: Vec::new(),
        cost,
        safer: Vec::new(),
        untried: None,
        stored: None,
        retention: Some(Retention {
            policy: reclaim_policy::policy(volume).to_owned(),
            now: now(volume, &claim),
            then: then(volume, reclaim_policy::policy(volume)),
            claim,
            again: None,
        }),
        request: Request::set_retain(volume),
    }
}

/// The storage behind the volume, as the volume names it.
fn disk(volume: &Object) -> Option<Outside> {
    cost::disk(volume).or_else(|| {
        // Every volume has exactly one source.
        const NO_SOURCE: [&str; 3] = ["capacity", "claimRef", "nodeAffinity"];
        let spec = volume.value.get("spec")?.as_object()?;
        let (key, source) = spec
            .iter()
            .find(|(key, value)| value.is_object() && !NO_SOURCE.contains(&key.as_str()))?;
        Some(Outside {
            what: "the storage of this volume".into(),
            field: format!("spec.{key}"),
            id: source.to_string(),
        })
    })
}

/// Whether the volume object goes once the provisioner has removed its finalizer: it is being deleted, and no claim
/// keeps it.
fn goes_with_it(volume: &Object) -> bool {
    volume.deletion().is_some() && PersistentVolume(volume).phase() != "Bound"
}

/// What is true of the volume now.
fn now(volume: &Object, claim: &Claim) -> Vec<String> {
    let policy = reclaim_policy::policy(volume);
    let deleted = if volume.deletion().is_some() {
        "is being deleted"
    } else {
        "is not being deleted"
    };
    let phase = match PersistentVolume(volume).phase() {
        "" => "in no phase yet",
        phase => phase,
    };
    let mut all = vec![format!(
        "The volume {deleted}. It is {phase}, with policy {policy}."
    )];
    let name = claim_name(volume);
    match claim {
        Claim::None => {}
        Claim::Found(claim) if claim.deletion().is_some() => {
            all.push(format!("Claim {name} is being deleted, too."));
        }
        Claim::Found(_) => all.push(format!("Claim {name} exists and is not being deleted.")),
        Claim::Gone => all.push(format!(
            "Claim {name} does not exist any more, so there is no copy of it."
        )),
        Claim::Unread(why) => {
            all.push(format!(
                "Claim {name} could not be read, so there is no copy of it: {why}"
            ));
        }
    }
    if may_be_gone(phase) {
        all.push(format!(
            "The disk may already be gone: {} deletes it as soon as the volume is released.",
            who(volume)
        ));
    }
    all
}

/// What is true of a volume once its policy is Retain, and who acts next. `former` is the policy before.
pub fn then(volume: &Object, former: &str) -> Vec<String> {
    let disk = reclaim_policy::disk(volume);
    let claim = claim_name(volume);
    let in_deletion = volume.deletion().is_some();
    let mut all = Vec::new();
    match PersistentVolume(volume).phase() {
        "Bound" if in_deletion => {
            all.push(format!(
                "The volume stays Terminating until claim {claim} goes. Pods keep their data until then."
            ));
            all.push(format!(
                "Then the volume object goes, too. The disk {disk} stays, and only the copy still names it."
            ));
        }
        "Bound" => {
            all.push(format!(
                "When claim {claim} goes, the volume is Released and stays. Nobody deletes the disk {disk}."
            ));
            all.push(format!(
                "You can set the policy back to {former} while the volume is Bound and not being deleted."
            ));
        }
        phase => {
            if may_be_gone(phase) {
                all.push(format!(
                    "No new deletion of the disk {disk} starts. One that is under way cannot be stopped."
                ));
                all.push("Check at the storage provider that the disk still exists.".into());
            } else {
                all.push(format!("Nobody deletes the disk {disk}."));
            }
            if in_deletion {
                all.push(how_it_goes(volume));
            } else {
                all.push("The volume stays.".into());
            }
        }
    }
    if in_deletion {
        all.push("This cannot be undone: a volume that is being deleted gets no new finalizer.".into());
    }
    all
}

/// Whether the provisioner deletes the disk of a volume in this phase.
fn may_be_gone(phase: &str) -> bool {
    matches!(phase, "Released" | "Failed")
}

/// When the volume object goes, of a volume that is being deleted and not Bound.
fn how_it_goes(volume: &Object) -> String {
    let finalizers = volume.finalizers().into_iter().map(|finalizer| finalizer.name);
    let others: Vec<_> = finalizers
        .filter(|name| name != PROTECTION && !reclaim_policy::is_reclaim_finalizer(name))
        .collect();
    if others.is_empty() {
        "The volume object goes with this change. Only the copy still names the disk.".into()
    } else {
        format!(
            "The volume object stays until these finalizers are removed: {}.",
            others.join(", ")
        )
    }
}

/// Who deletes the disk under policy Delete.
fn who(volume: &Object) -> String {
    match reclaim_policy::provisioner(volume) {
        Some(name) if name.starts_with("kubernetes.io/") => "kube-controller-manager".into(),
        Some(name) => format!("the provisioner of {name}"),
        None => "its provisioner".into(),
    }
}

fn claim_name(volume: &Object) -> String {
    format!(
        "pvc/{} -n {}",
        PersistentVolume(volume).claim_name(),
        PersistentVolume(volume).claim_namespace()
    )
}

#[cfg(test)]
mod tests;
