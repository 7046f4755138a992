//! `nudge`: sets a harmless annotation, so that a level-triggered controller looks at the object again.
//!
//! Most controllers look at an object whenever it changes, and sometimes miss a change (`kubernetes/kubernetes`
//! issue 120041).

use std::collections::BTreeSet;

use super::{
    Action, Cost, Plan, Refusal, Request, Seen,
    model::{names_of_blockers, why},
};
use crate::diagnose::{NUDGED, Verdict};

/// The plan to set the annotation, or the refusal if that is of no use.
pub fn nudge(seen: &Seen<'_>) -> Result<Plan, Refusal> {
    let object = seen.object;
    seen.check_in_deletion()?;
    let waits = &seen.diagnosis.waits;
    if let Some(wait) = waits.iter().find(|wait| wait.verdict == Verdict::Rejected) {
        return Err(seen.refuse(
            format!(
                "rejected: every update of it is refused ({})",
                names_of_blockers(&wait.on)
            ),
            "what refuses it is repaired",
            "See what refuses it, and how to repair it:",
        ));
    }
    if let Some(wait) = waits.first()
        && waits.iter().all(|wait| wait.verdict == Verdict::InUse)
    {
        return Err(seen.refuse(
            why(wait),
            "nothing uses it any more; a nudge does not change that",
            "See what uses it, and what you can do:",
        ));
    }
    let worst = waits
        .iter()
        .find(|wait| wait.verdict == Verdict::Stalled)
        .or_else(|| waits.first());
    // The value is the version and not the time: the request for one version is always the same, so that its
    // digest can be confirmed.
    let version = object.resource_version().to_owned();
    Ok(Plan {
        action: Action::Nudge,
        target: object.reference(),
        request: Request::annotate(object, NUDGED, &version),
        resource_version: version,
        finalizer: None,
        stays: object.finalizers(),
        kubelet: None,
        verdict: worst.map_or(Verdict::Unknown, |wait| wait.verdict),
        says: worst.map(crate::diagnose::Wait::says).unwrap_or_default(),
        unable: None,
        may_be: BTreeSet::new(),
        blockers: worst.map(|wait| wait.on.clone()).unwrap_or_default(),
        evidence: seen.diagnosis.evidence.clone(),
        cost: Cost::nothing(
            "nothing reads the annotation; a controller that then finishes lets the object go, with what it stands for",
        ),
        safer: Vec::new(),
        retention: None,
        stored: None,
        untried: seen.untried(),
    })
}
