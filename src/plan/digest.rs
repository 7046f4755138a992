//! The digest that confirms a plan where no user can type. It changes with every object and with every byte
//! that would be sent.

use serde_json::json;

use super::{Plan, hash::sha256};

/// The length of the digest. A longer one would not be copied by hand; this one is not met by accident.
const DIGITS: usize = 16;

/// The digest of all plans of one run on this server. For each plan it covers the action, the object's uid and version,
/// the finalizer, the verdict, what may be the controller, the cost and what stays outside, when the dry run is made, what the plan says of a disk
/// that is kept, and the request.
pub fn digest(plans: &[Plan], server: &str) -> String {
    let plans: Vec<_> = plans
        .iter()
        .map(|plan| {
            json!([
                plan.action.word(),
                plan.target.uid,
                plan.resource_version,
                plan.finalizer.as_ref().map(ToString::to_string),
                plan.verdict.word(),
                plan.may_be,
                plan.cost.consequence.typed(),
                outside(plan),
                plan.untried.is_some(),
                consequences(plan),
                plan.request,
            ])
        })
        .collect();
    let all = sha256(json!([server, plans]).to_string().as_bytes());
    all.chars().take(DIGITS).collect()
}

/// The external resources that stay.
fn outside(plan: &Plan) -> Vec<[&str; 3]> {
    let outside = plan.cost.outside.iter();
    outside.map(|one| [&*one.what, &*one.field, &*one.id]).collect()
}

/// The state and the outcome that the plan of a rescue shows.
fn consequences(plan: &Plan) -> Option<[&Vec<String>; 2]> {
    let kept = plan.retention.as_ref().map(|it| [&it.now, &it.then]);
    kept.or_else(|| plan.stored.as_ref().map(|it| [&it.now, &it.then]))
}
