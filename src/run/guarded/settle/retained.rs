//! How a change of the reclaim policy ended. A volume that is gone is good news only if the policy was Retain
//! before it went.

use super::{Settled, is_newer, unknown_result};
use crate::{
    act::{After, policy_set_by},
    diagnose::reclaim_policy,
    exit::Exit,
    plan::{Plan, Retention, then},
    report::outcome::OutcomeResult,
    snapshot::facts::Object,
};

const LOOK_FOR_DISK: &str = "Check at the storage provider whether the disk still exists.";

/// The volume was gone before the request arrived.
pub(super) fn gone_before() -> Settled {
    Settled::failed(format!(
        "The volume was gone before the request arrived, so its policy was not changed. {LOOK_FOR_DISK}"
    ))
}

/// The policy is Retain.
pub(super) fn set(volume: &Object, retention: &Retention) -> Settled {
    let says = format!(
        "The policy is Retain. {}",
        then(volume, &retention.policy).join(" ")
    );
    let mut settled = Settled::new(OutcomeResult::Retained, says, Exit::Done);
    settled.held_by = volume.finalizers();
    settled
}

pub(super) fn settled_from(after: &After, plan: &Plan, retention: &Retention, lost: bool) -> Settled {
    match after {
        After::Out(volume) => set(volume, retention),
        After::Gone if lost => Settled::new(
            OutcomeResult::Unknown,
            format!(
                "The volume is gone. It is not known whether its policy was Retain before that. {LOOK_FOR_DISK}"
            ),
            Exit::Failed,
        ),
        After::Gone => Settled::new(
            OutcomeResult::Gone,
            format!(
                "The policy was set to Retain, and then the volume object was deleted. Nothing started to delete the disk after \
                 that. Only the copy still names it. {LOOK_FOR_DISK}"
            ),
            Exit::Done,
        ),
        After::Another(_) => Settled::new(
            OutcomeResult::Unknown,
            format!("The volume is gone. A new volume has its name. {LOOK_FOR_DISK}"),
            Exit::Failed,
        ),
        After::StillOn(volume) if lost && is_newer(volume, plan) => Settled::failed(
            "The volume has changed since, so the request was not carried out, and will not be. Look at the new plan.",
        ),
        After::StillOn(_) if lost => unknown_result(
            "The policy is not Retain so far, so the request most likely did not arrive. If it did, the API server can still \
             carry it out, in most clusters for a minute. Run the command again.",
            true,
        ),
        After::StillOn(volume) => {
            let by = match policy_set_by(volume) {
                Some((manager, time)) => format!("{manager} set it, at {time} or before"),
                None => "no manager is recorded".into(),
            };
            Settled::new(
                OutcomeResult::CameBack,
                format!("The policy is {} again: {by}.", reclaim_policy::policy(volume)),
                Exit::Failed,
            )
        }
        After::NotKnown(why) => {
            unknown_result(&format!("The volume cannot be read: {}", why.message()), lost)
        }
    }
}
