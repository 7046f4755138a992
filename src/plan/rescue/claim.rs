//! `rescue pvc/NAME`: makes a claim again that was deleted by mistake, for the volume that it had.
//!
//! With policy Retain the volume keeps the disk when its claim goes, and is Released. A new claim that names the volume is
//! never provisioned, and is bound once the volume names it
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncUnboundClaim). So is a claim of
//! that name that somebody else made first, unless it has a volume already. The old claim goes by itself once no pod uses
//! it: nothing here takes its finalizers off, or stops a pod.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::{Lost, Next, Rescue, compare::differences, metadata_to_keep};
use crate::{
    diagnose::{
        kinds::{ManagedFields, PersistentVolume, PersistentVolumeClaim},
        reclaim_policy,
        taken_back::obstacle_of_claim,
    },
    object::ObjectRef,
    plan::{FIELD_MANAGER, RETAIN, Refusal, Request},
    snapshot::facts::Object,
};

/// Whether a rescue set the policy before the volume was Released, although the answer to that request was lost. The request
/// names the version of the volume that was Bound, so it fails on one that is Released. Only a later request of this program
/// could set the policy then. A provisioner deletes the disk of a Released volume only
/// (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete).
fn was_kept_in_time(volume: &Object) -> bool {
    let set = ManagedFields::all(volume)
        .filter(|entry| {
            entry.manager() == Some(FIELD_MANAGER)
                && entry
                    .below(&["f:spec", "f:persistentVolumeReclaimPolicy"])
                    .is_some()
        })
        .filter_map(ManagedFields::time);
    let released = PersistentVolume(volume).in_phase_since();
    released.is_some_and(|released| set.max().is_some_and(|set| set <= released))
}

/// What the controller of volumes sets on a claim that it has bound. A new claim with them would be Lost.
const SET_BY_BINDING: [&str; 2] = [
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
];

/// The pods that use a claim; or why they could not be read.
pub type Users = Result<Vec<ObjectRef>, String>;

impl Rescue {
    /// The rescue of a claim whose volume stays, or why there is none.
    pub(super) fn of_claim(volume: &Object, claim: Object, restore_policy: bool) -> Result<Self, Refusal> {
        if let Some(obstacle) = obstacle_of_claim(&claim) {
            return Err(super::not_again(obstacle, volume, Some(&claim)));
        }
        Ok(Rescue {
            kept: reclaim_policy::policy(volume) == RETAIN,
            volume: volume.clone(),
            claim,
            restore_policy,
            lost: Lost::Claim,
            sets: Vec::new(),
        })
    }

    /// The state before the first step, a sentence each.
    pub(super) fn claim_now(&self, users: &Users) -> Vec<String> {
        let claim = self.claim.reference().pasteable();
        let policy = reclaim_policy::policy(&self.volume);
        let mut now = vec![format!(
            "The claim {claim} is being deleted. The volume stays, with policy {policy}."
        )];
        now.extend(waits_for(users));
        now
    }

    /// The steps, a sentence each.
    pub(super) fn claim_steps(&self) -> Vec<String> {
        let held: Vec<_> = self.claim.finalizers().into_iter().map(|one| one.name).collect();
        let mut all = vec![self.keep_step()];
        all.push(format!(
            "Wait until the claim is gone. Nothing here removes {} from it, or stops a pod. The volume is Released then, \
             and Retain keeps its provisioner from deleting the disk.",
            held.join(", ")
        ));
        all.push(
            "Make the claim again at once, for the same volume. It has a new uid. If a StatefulSet makes it first, that \
             claim gets the volume."
                .into(),
        );
        all.push("Let the volume name the new claim.".into());
        all.push("Wait until volume and claim are Bound, and compare them with their copies.".into());
        all.push(self.policy_step());
        all
    }

    /// What is where in this state, while the volume exists.
    pub(super) fn claim_state(&self, volume: &Object, claim: Option<&Object>) -> String {
        match claim {
            None if self.kept => format!(
                "The claim is gone. Its volume {} stays, and keeps the disk.",
                volume.name()
            ),
            None => format!(
                "The claim is gone, and its volume {} still exists.",
                volume.name()
            ),
            Some(claim) if claim.uid() == self.claim.uid() => "The claim is still being deleted.".into(),
            Some(claim) => format!(
                "The claim exists again. It is {}.",
                PersistentVolumeClaim(claim).phase()
            ),
        }
    }

    /// The next step in this state.
    pub(super) fn next_for_claim(&mut self, volume: Option<&Object>, claim: Option<&Object>) -> Next {
        let Some(volume) = volume.filter(|volume| volume.uid() == self.volume.uid()) else {
            return Next::Stop("the volume of the claim is gone. Its copy is the record of the disk".into());
        };
        if volume.deletion().is_some() {
            return Next::Stop("the volume is being deleted now, too. Take that back first".into());
        }
        let former = reclaim_policy::policy(&self.volume);
        let is_kept = reclaim_policy::policy(volume) == RETAIN;
        let old = claim.is_some_and(|claim| claim.uid() == self.claim.uid());
        let named = PersistentVolume(volume).claim_uid();
        self.kept = self.kept || !old && is_kept && was_kept_in_time(volume);
        match claim {
            Some(_) if old && !is_kept => Next::Send("set the policy to Retain", Request::set_retain(volume)),
            Some(_) if old => {
                self.kept = true;
                Next::Wait("no pod uses the claim, and it is gone")
            }
            _ if !self.kept => Next::Stop(
                "the claim went before the policy of its volume was seen as Retain, so the disk may be deleted".into(),
            ),
            None if named != self.claim.uid() => {
                Next::Stop("the volume is for another claim now".into())
            }
            None => Next::Send("make the claim again", self.claim_creation(self.claim.name())),
            Some(new) if new.deletion().is_some() => {
                Next::Stop("the new claim is being deleted, too. Find out who deletes it".into())
            }
            Some(new) if !["", volume.name()].contains(&PersistentVolumeClaim(new).volume()) => Next::Stop(format!(
                "a claim of that name was made by somebody else, and has volume {}",
                PersistentVolumeClaim(new).volume()
            )),
            Some(new) if named == self.claim.uid() => {
                Next::Send("let the volume name the new claim", Request::set_claim(volume, new.uid()))
            }
            Some(new) if named != new.uid() => Next::Stop("the volume is for another claim now".into()),
            Some(new)
                if [PersistentVolume(volume).phase(), PersistentVolumeClaim(new).phase()] != ["Bound", "Bound"] =>
            {
                Next::Wait("volume and claim are Bound")
            }
            Some(_) if self.restore_policy && reclaim_policy::policy(volume) != former => {
                Next::Send("bring the old policy back", Request::set_policy(volume, former))
            }
            Some(new) => {
                let mut found = differences(&with_claim(&self.volume, new.uid()), volume);
                let claim = differences(&without_binding(&self.claim), &without_binding(new));
                found.extend(claim.into_iter().map(|one| format!("claim: {one}")));
                Next::Done(found)
            }
        }
    }

    /// All requests that can follow while the old claim exists.
    pub(super) fn claim_trials(&self, volume: &Object) -> Vec<Request> {
        let mut all = vec![Request::set_claim(volume, PersistentVolume(volume).claim_uid())];
        if reclaim_policy::policy(volume) != RETAIN {
            all.push(Request::set_retain(volume));
        }
        // A uid is unique, so no claim has this name. It comes last, because a quota can refuse it: see
        // `waits_for_the_old_one`.
        all.push(self.claim_creation(&format!("rescue-{}", self.claim.uid())));
        all
    }

    /// The request that makes the claim again, with this name.
    pub(super) fn claim_creation(&self, name: &str) -> Request {
        let old = without_binding(&self.claim);
        let mut metadata = metadata_to_keep(&old, name);
        metadata.insert("namespace".into(), old.namespace().into());
        let spec = old.value.get("spec");
        let body =
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec});
        Request::create(&self.claim, body)
    }
}

/// What the claim waits for, a sentence.
fn waits_for(users: &Users) -> Option<String> {
    /// How many pods are named.
    const NAMED: usize = 5;
    let users = match users {
        Err(why) => return Some(format!("Which pods use it could not be read: {why}.")),
        Ok(users) if users.is_empty() => return None,
        Ok(users) => users,
    };
    let named: Vec<_> = users.iter().take(NAMED).map(ObjectRef::pasteable).collect();
    let more = match users.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (use_it, end) = if users.len() == 1 {
        ("uses", "that pod ends. Restart it")
    } else {
        ("use", "those pods end. Restart them")
    };
    Some(format!(
        "{}{more} {use_it} the claim. It goes only once {end} when this waits for it.",
        named.join(", ")
    ))
}

/// The volume as it is when it names the claim with this uid.
fn with_claim(volume: &Object, uid: &str) -> Object {
    let mut volume = volume.clone();
    if let Some(named) = volume.value.pointer_mut("/spec/claimRef/uid") {
        *named = uid.into();
    }
    volume
}

fn without_binding(claim: &Object) -> Object {
    let mut claim = claim.clone();
    let annotations = claim.value.pointer_mut("/metadata/annotations");
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.retain(|name, _| !SET_BY_BINDING.contains(&name.as_str()));
    }
    claim
}
