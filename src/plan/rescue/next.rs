//! The next step of a rescue. It follows from what is in the cluster now, whoever made it so.

use super::{Lost, Rescue, compare::differences};
use crate::{
    diagnose::{
        kinds::{PersistentVolume, PersistentVolumeClaim},
        reclaim_policy,
    },
    plan::{RETAIN, Request},
    snapshot::facts::Object,
};

/// The next step of a rescue.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Send this request. The words say what it does.
    Send(&'static str, Request),
    /// A controller acts next.
    Wait(&'static str),
    /// The volume or the claim is there again. What differs from before without reason, a line each.
    Done(Vec<String>),
    /// A person has to decide.
    Stop(String),
}

impl Rescue {
    /// The next step in this state. Remembers whether the volume was seen with policy Retain.
    pub fn next(&mut self, volume: Option<&Object>, claim: Option<&Object>) -> Next {
        match volume {
            _ if self.lost == Lost::Claim => self.next_for_claim(volume, claim),
            Some(volume) if volume.uid() == self.volume.uid() => {
                self.kept = reclaim_policy::policy(volume) == RETAIN;
                next_with_old(volume)
            }
            Some(volume) => self.next_with_new(volume, claim),
            None if self.kept => Next::Send("make the volume again", self.creation(self.volume.name())),
            None => Next::Stop(
                "the volume went before its policy was seen as Retain, so its disk may be deleted".into(),
            ),
        }
    }

    fn next_with_new(&self, volume: &Object, claim: Option<&Object>) -> Next {
        if volume.deletion().is_some() {
            return Next::Stop("the new volume is being deleted, too. Find out who deletes it".into());
        }
        if !is_same_disk(&self.volume, volume) {
            return Next::Stop("another volume has its name now, for another disk or another claim".into());
        }
        let claim = claim.filter(|claim| claim.uid() == self.claim.uid());
        let is_bound = |claim| {
            let (claim, volume) = (
                PersistentVolumeClaim(claim).phase(),
                PersistentVolume(volume).phase(),
            );
            [claim, volume] == ["Bound", "Bound"]
        };
        if claim.is_some_and(|claim| !is_bound(claim)) {
            return Next::Wait("volume and claim are Bound");
        }
        let former = reclaim_policy::policy(&self.volume);
        let mut found = differences(&self.volume, volume);
        match claim {
            None => found.push("the claim is gone; the volume keeps the disk".into()),
            Some(claim) => {
                let claim_goes = claim.deletion().is_some();
                if self.restore_policy && reclaim_policy::policy(volume) != former {
                    if !claim_goes {
                        return Next::Send("bring the old policy back", Request::set_policy(volume, former));
                    }
                    found.push("the policy stays Retain, because the claim is being deleted".into());
                }
                found.extend(
                    differences(&self.claim, claim)
                        .into_iter()
                        .map(|one| format!("claim: {one}")),
                );
            }
        }
        Next::Done(found)
    }
}

/// The next step while the volume that was deleted still exists.
fn next_with_old(volume: &Object) -> Next {
    if volume.deletion().is_none() {
        return Next::Stop("the volume is no longer being deleted".into());
    }
    if reclaim_policy::policy(volume) != RETAIN {
        return Next::Send("set the policy to Retain", Request::set_retain(volume));
    }
    if let Some(other) = reclaim_policy::other_finalizer(volume) {
        return Next::Stop(format!("{other} also holds the volume now"));
    }
    if volume.finalizers().is_empty() {
        Next::Wait("the volume object is gone")
    } else {
        Next::Send("let the volume object go", Request::let_go(volume, RETAIN))
    }
}

/// Whether two volumes are for the same storage and the same claim.
fn is_same_disk(before: &Object, after: &Object) -> bool {
    // The source of a volume cannot change. The other objects in the specification are not the source.
    const NO_SOURCE: [&str; 3] = ["capacity", "claimRef", "nodeAffinity"];
    let sources = |volume: &Object| {
        let spec = volume.value.get("spec").and_then(serde_json::Value::as_object);
        let fields = spec.into_iter().flatten();
        fields
            .filter(|(key, value)| value.is_object() && !NO_SOURCE.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    let claim_uid = |volume: &Object| PersistentVolume(volume).claim_uid().to_owned();
    sources(before) == sources(after) && claim_uid(before) == claim_uid(after)
}
