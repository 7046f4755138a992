//! `rescue pv/NAME`: lets a Bound volume go that was deleted by mistake, and makes it again for the same claim. Of a claim
//! that was deleted by mistake it waits for the end, see [`claim`].
//!
//! A deletion cannot be taken back. But with policy Retain nobody deletes the disk, and the claim waits. It is Lost while
//! its volume is away, and Bound again once a volume has its name and names its uid
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncBoundClaim). A provisioner
//! deletes the disk of a Released volume with policy Delete only
//! (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete). Here the policy is
//! Retain before the volume goes.
//!
//! Each step follows from the present state, so a run that ended anywhere can be continued.

mod claim;
mod compare;
mod deleters;
mod next;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::deleters::by_sets;
pub use self::{claim::Users, next::Next};
pub(super) use self::{compare::changes, deleters::deleters};
use super::{Action, Claim, Cost, Instead, Lost, Plan, RETAIN, Refusal, Request, Retention, retain};
use crate::{
    command::Command,
    diagnose::{
        kinds::PersistentVolume,
        reclaim_policy,
        taken_back::{Obstacle, are_bound, obstacle_of_volume},
    },
    knowledge::{Consequence, Knowledge},
    snapshot::facts::Object,
};

/// Metadata that the new object keeps.
const KEPT: [&str; 3] = ["name", "labels", "annotations"];

/// A volume and its claim, as they were when the rescue began. One of them is made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rescue {
    volume: Object,
    claim: Object,
    /// Whether the old reclaim policy comes back at the end.
    restore_policy: bool,
    /// Whether the volume was seen with policy Retain before anything went. Otherwise its disk may go.
    kept: bool,
    /// Which of them was deleted.
    #[serde(default)]
    lost: Lost,
    /// What StatefulSets do with the claim, a sentence each.
    #[serde(default)]
    sets: Vec<String>,
}

impl Rescue {
    /// The rescue of this volume, or why there is none.
    pub fn new(volume: &Object, claim: Claim, restore_policy: bool) -> Result<Self, Refusal> {
        let target = volume.reference();
        let refuse = |why: String, needs: &str, instead| Refusal::new(&target, why, needs, instead);
        let claim_goes = matches!(&claim, Claim::Found(claim) if claim.deletion().is_some());
        if volume.deletion().is_none() && !claim_goes {
            let why = "neither it nor its claim is being deleted, so there is nothing to take back".into();
            return Err(refuse(why, "one of them is being deleted", keep_disk(volume)));
        }
        let claim =
            bound_claim(volume, claim).map_err(|(why, needs)| refuse(why, needs, keep_disk(volume)))?;
        if volume.deletion().is_none() {
            return Rescue::of_claim(volume, claim, restore_policy);
        }
        if let Some(obstacle) = obstacle_of_volume(volume) {
            return Err(not_again(obstacle, volume, None));
        }
        let restore_policy = restore_policy && reclaim_policy::policy(volume) != RETAIN;
        if restore_policy && claim.deletion().is_some() {
            return Err(refuse(
                format!(
                    "{} is being deleted, so the disk would be deleted with it under the old policy",
                    claim.reference().pasteable()
                ),
                "the claim is not being deleted, or the policy stays Retain",
                Instead::run(
                    "See the plan without --restore-policy:",
                    Command::of("kubectl finalizers rescue pv/{} --plan", [volume.name()]),
                ),
            ));
        }
        Ok(Rescue {
            kept: reclaim_policy::policy(volume) == RETAIN,
            volume: volume.clone(),
            claim,
            restore_policy,
            lost: Lost::Volume,
            sets: Vec::new(),
        })
    }

    /// Remembers what these StatefulSets do with the claim. They are all of its namespace, or why they could not be read.
    pub fn consider(&mut self, sets: &Result<Vec<Object>, String>) {
        self.sets = by_sets(&self.claim, sets);
    }

    /// Whether the volume was seen with policy Retain before anything went.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// Which of them is made again.
    pub fn lost(&self) -> Lost {
        self.lost
    }

    /// The volume as it was.
    pub fn volume(&self) -> &Object {
        &self.volume
    }

    /// The claim as it was.
    pub fn claim(&self) -> &Object {
        &self.claim
    }

    /// The plan, before the first step. `users` are the pods that use the claim.
    pub fn plan(&self, users: &Users, knowledge: &Knowledge) -> Plan {
        let mut now = match self.lost {
            Lost::Volume => self.volume_now(),
            Lost::Claim => self.claim_now(users),
        };
        now.extend(self.deleters(knowledge));
        self.plan_from(now)
    }

    fn volume_now(&self) -> Vec<String> {
        let claim = self.claim.reference().pasteable();
        let mut now = vec![format!(
            "The volume is being deleted. It is Bound to {claim}, with policy {}.",
            reclaim_policy::policy(&self.volume)
        )];
        if self.claim.deletion().is_some() {
            now.push(
                "The claim is being deleted, too, and that goes on. When it goes, the volume is Released and keeps its \
                 disk. Rescue the claim after the volume."
                    .into(),
            );
        }
        now
    }

    /// The plan to go on with a rescue that ended in this state, or what a person has to decide first.
    pub fn resumed(
        &mut self,
        volume: Option<&Object>,
        claim: Option<&Object>,
        knowledge: &Knowledge,
    ) -> Result<Plan, Refusal> {
        if let Next::Stop(why) = self.next(volume, claim) {
            return Err(Refusal::new(
                &self.volume.reference(),
                why,
                "the volume is as this rescue left it",
                Instead::only(
                    "Look for the disk at the storage provider, and use the copies of volume and claim.",
                ),
            ));
        }
        let state = self.state(volume, claim);
        let now = [state].into_iter().chain(self.deleters(knowledge)).collect();
        Ok(self.plan_from(now))
    }

    /// What is where in this state, in a few sentences.
    pub fn state(&self, volume: Option<&Object>, claim: Option<&Object>) -> String {
        let disk = reclaim_policy::disk(&self.volume);
        match volume {
            Some(volume) if self.lost == Lost::Claim => self.claim_state(volume, claim),
            Some(volume) if volume.uid() == self.volume.uid() => format!(
                "The volume is still being deleted, with policy {}.",
                reclaim_policy::policy(volume)
            ),
            Some(volume) => format!(
                "The volume exists again. It is {}.",
                PersistentVolume(volume).phase()
            ),
            None if self.kept => {
                format!("The volume object is gone. Its policy was Retain, so its disk {disk} stays.")
            }
            None => format!("The volume object is gone. Whether its disk {disk} stays is not known."),
        }
    }

    fn plan_from(&self, now: Vec<String>) -> Plan {
        let claim = Claim::Found(self.claim.clone().into());
        let first = retain(&self.volume, claim.clone());
        Plan {
            action: Action::Rescue,
            cost: Cost {
                consequence: Consequence::Metadata,
                text: match self.lost {
                    Lost::Volume => "the volume object gets a new uid and new times; disk, claim and pods stay",
                    Lost::Claim => {
                        "the claim gets a new uid and new times, and its pods have to end first; disk and volume stay"
                    }
                }
                .into(),
                ..first.cost
            },
            retention: Some(Retention {
                policy: reclaim_policy::policy(&self.volume).to_owned(),
                now,
                then: match self.lost {
                    Lost::Volume => self.volume_steps(),
                    Lost::Claim => self.claim_steps(),
                },
                claim,
                again: Some(self.lost),
            }),
            request: match self.lost {
                Lost::Volume => self.creation(self.volume.name()),
                Lost::Claim => self.claim_creation(self.claim.name()),
            },
            ..first
        }
    }

    /// The steps, a sentence each.
    fn volume_steps(&self) -> Vec<String> {
        let held: Vec<_> = self.volume.finalizers().into_iter().map(|one| one.name).collect();
        let carried = attacher_finalizers(&self.volume);
        let mut all = vec![self.keep_step()];
        all.push(format!(
            "Remove {}, only if the policy is Retain. The volume object goes.",
            held.join(", ")
        ));
        all.push(
            "Make the volume again at once. In between, nobody sees the volume: its claim is Lost for a moment, no new pod \
             can mount it, and its attacher cannot detach it. A kube-controller-manager that starts just then may detach \
             it from a node that does not report it in use."
                .into(),
        );
        if !carried.is_empty() {
            all.push(format!(
                "The new volume has {} from the start: it can be attached to a node.",
                carried.join(", ")
            ));
        }
        all.push("Wait until volume and claim are Bound, and compare them with their copies.".into());
        all.push(self.policy_step());
        all
    }

    /// The step that keeps the disk.
    fn keep_step(&self) -> String {
        if reclaim_policy::policy(&self.volume) == RETAIN {
            "The policy is Retain already, so nobody deletes the disk.".into()
        } else {
            "Set the policy to Retain, and read it back. A provisioner deletes a disk only while its volume is Released \
             with policy Delete. Retain rules that moment out."
                .into()
        }
    }

    /// What becomes of the policy at the end.
    fn policy_step(&self) -> String {
        let policy = reclaim_policy::policy(&self.volume);
        if self.restore_policy {
            format!("Set the policy to {policy} again. If the claim is deleted after that, so is the disk.")
        } else if policy == RETAIN {
            "The policy stays Retain.".into()
        } else {
            "The policy stays Retain. --restore-policy brings the old one back.".into()
        }
    }

    /// Who may delete the volume or its claim again, a sentence each.
    pub fn deleters(&self, knowledge: &Knowledge) -> Vec<String> {
        let mut all = deleters(&self.volume, "volume", knowledge);
        all.extend(deleters(&self.claim, "claim", knowledge));
        all.extend(self.sets.iter().cloned());
        all
    }

    /// All requests that can follow from this state, for a dry run. The creation has another name, because the volume may
    /// still exist.
    pub fn trials(&self, volume: Option<&Object>) -> Vec<Request> {
        // A uid is unique, so no volume has this name.
        let creation = self.creation(&format!("rescue-{}", self.volume.uid()));
        match volume {
            volume if self.lost == Lost::Claim => {
                volume.map(|now| self.claim_trials(now)).unwrap_or_default()
            }
            None => vec![creation],
            Some(old) if old.uid() == self.volume.uid() => {
                let mut all = vec![creation];
                let policy = reclaim_policy::policy(old);
                if policy != RETAIN {
                    all.insert(0, Request::set_retain(old));
                }
                all.push(Request::let_go(old, policy));
                all
            }
            Some(_) => Vec::new(),
        }
    }

    /// The request that makes the volume again, with this name.
    fn creation(&self, name: &str) -> Request {
        let mut metadata = metadata_to_keep(&self.volume, name);
        let carried = attacher_finalizers(&self.volume);
        if !carried.is_empty() {
            metadata.insert("finalizers".into(), carried.into());
        }
        let mut spec = self.volume.value.get("spec").cloned().unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("persistentVolumeReclaimPolicy".into(), RETAIN.into());
        }
        let body =
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec});
        Request::create(&self.volume, body)
    }
}

/// The metadata of a new object of this name that is made like the old one.
fn metadata_to_keep(old: &Object, name: &str) -> Map<String, Value> {
    let old = old.value.get("metadata");
    let mut metadata: Map<_, _> = KEPT
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), old?.get(*field)?.clone())))
        .collect();
    metadata.insert("name".into(), name.into());
    metadata
}

/// The claim that the volume is Bound to; otherwise why it is not, and what is needed.
fn bound_claim(volume: &Object, claim: Claim) -> Result<Object, (String, &'static str)> {
    const NEEDS: &str = "the volume is Bound to its claim";
    let phase = PersistentVolume(volume).phase();
    match claim {
        Claim::Found(claim) if are_bound(volume, &claim) => Ok(*claim),
        Claim::Unread(why) => Err((
            format!("its claim could not be read: {why}"),
            "you have the right to read the claim",
        )),
        Claim::Gone => Err((
            "its claim is gone, so the provisioner may have deleted the disk already".into(),
            NEEDS,
        )),
        Claim::Found(_) | Claim::None if phase == "Bound" => {
            Err(("its claim does not name it as its volume".into(), NEEDS))
        }
        Claim::Found(_) | Claim::None => Err((format!("it is {phase} and not Bound"), NEEDS)),
    }
}

/// Why a volume, or its claim, is not made again.
fn not_again(obstacle: Obstacle, volume: &Object, claim: Option<&Object>) -> Refusal {
    let target = volume.reference();
    let (whose, which) = match claim.map(|claim| claim.reference().pasteable()) {
        Some(claim) => (format!("the owner of {claim}"), claim),
        None => ("its owner".into(), "it".into()),
    };
    let (why, needs, instead) = match obstacle {
        Obstacle::Owner(owner) => (
            format!("{whose}, {owner}, may delete it again, and the new object cannot be its own"),
            "it has no owner references",
            keep_disk(volume),
        ),
        Obstacle::Finalizer(other) => (
            format!("{other} also holds {which}, and its controller may have work to do first"),
            "only Kubernetes, the provisioner and the attacher hold it",
            Instead::explain(&target, "See who removes it, and when:"),
        ),
        Obstacle::Resize => (
            format!("the volume of {which} is being resized, and a new claim would ask for more than it has"),
            "the resize is finished",
            keep_disk(volume),
        ),
    };
    Refusal::new(&target, why, needs, instead)
}

fn keep_disk(volume: &Object) -> Instead {
    Instead::run(
        "To keep its disk, see the plan for that:",
        Command::of(
            "kubectl finalizers rescue pv/{} --only-retain --plan",
            [volume.name()],
        ),
    )
}

fn attacher_finalizers(volume: &Object) -> Vec<String> {
    let names = volume.finalizers().into_iter().map(|one| one.name);
    names
        .filter(|name| name.starts_with(reclaim_policy::ATTACHER))
        .collect()
}
