//! The question that confirms a plan.

use super::{joined, then};
use crate::{
    output::{Style, safe::harmless, sheet::WIDTH_IN_PIPE, table::wrap},
    plan::{Action, Lost, Plan},
};

/// The question for these plans, and a line for the answer. `word` confirms. The objects are text from the server.
pub fn question(plans: &[Plan], word: &str, style: &Style) -> String {
    let asked = match plans {
        [plan] => about_one(plan),
        plans => about_several(plans),
    };
    let text = format!("{asked} Type {word} to confirm, Enter to cancel:");
    let width = style.width.unwrap_or(WIDTH_IN_PIPE);
    format!("{}\n> ", wrap(&harmless(&text), Some(width), 0))
}

fn about_one(plan: &Plan) -> String {
    let object = plan.target.pasteable();
    match plan.action {
        Action::Remove | Action::Finalize => {
            let finalizer = joined(plan.finalizer.as_slice());
            let then = then(&plan.target.kind, &plan.stays, plan.kubelet.as_deref());
            format!("Remove {finalizer} from {object}? {then}")
        }
        Action::Nudge => format!("Set an annotation on {object}? Its finalizers stay."),
        Action::Retain => format!("Set the reclaim policy of {object} to Retain?"),
        Action::Rescue => match plan.retention.as_ref().and_then(|retention| retention.again) {
            Some(Lost::Claim) => format!("Keep {object}, and make its claim again once that is gone?"),
            _ => format!("Let {object} go and make it again, for the same disk and claim?"),
        },
        Action::Unmark => format!("Write {object} to etcd without its deletion?"),
    }
}

fn about_several(plans: &[Plan]) -> String {
    let count = plans.len();
    let first = plans.first();
    match first.map(|plan| plan.action) {
        Some(Action::Nudge) => format!("Set an annotation on {count} objects? Their finalizers stay."),
        Some(Action::Rescue) => format!("Make {count} volumes or their claims again, as planned?"),
        Some(Action::Unmark) => format!("Write {count} objects to etcd without their deletion?"),
        Some(Action::Retain) => format!("Set the reclaim policy of {count} volumes to Retain?"),
        Some(Action::Remove | Action::Finalize) | None => {
            let finalizer = first.map_or(&[][..], |plan| plan.finalizer.as_slice());
            format!("Remove {} from {count} objects?", joined(finalizer))
        }
    }
}
