//! The rights that a plan needs, each asked for before anything is sent.

use crate::{
    cluster::{self, Server},
    command::Command,
    object::ObjectRef,
    plan::{Action, Claim, Instead, Lost, Plan, Refusal},
};

/// One right.
pub(super) struct Right {
    verb: &'static str,
    subresource: &'static str,
    object: ObjectRef,
}

/// What the requests of this plan need, and the reads between them.
pub(super) fn needed(plan: &Plan) -> Vec<Right> {
    let right = |verb, subresource, object: &ObjectRef| Right {
        verb,
        subresource,
        object: object.clone(),
    };
    let target = &plan.target;
    match plan.action {
        Action::Remove | Action::Nudge | Action::Retain => vec![right("patch", "", target)],
        Action::Finalize => vec![right("update", "finalize", target)],
        // The object has been read already, and etcd knows no such rights.
        Action::Unmark => Vec::new(),
        Action::Rescue => {
            let mut all: Vec<_> = ["get", "patch"].map(|verb| right(verb, "", target)).into();
            let retention = plan.retention.as_ref();
            let claim = match retention.map(|retention| &retention.claim) {
                Some(Claim::Found(claim)) => Some(claim.reference()),
                _ => None,
            };
            let made = match retention.and_then(|retention| retention.again) {
                Some(Lost::Claim) => claim.as_ref(),
                _ => Some(target),
            };
            all.extend(made.map(|made| right("create", "", made)));
            all.extend(claim.as_ref().map(|claim| right("get", "", claim)));
            all
        }
    }
}

/// The first right that the user does not have, and why. A server that does not answer this would not answer a request
/// either, and the dry run says more.
pub(super) async fn first_missing<'a>(server: &Server, rights: &'a [Right]) -> Option<(&'a Right, String)> {
    for right in rights {
        let may = cluster::may(server, right.verb, &right.object, right.subresource).await;
        if let Ok(Err(reason)) = may {
            return Some((right, reason));
        }
    }
    None
}

impl Right {
    /// The refusal of a plan for the target without this right.
    pub(super) fn refusal(&self, target: &ObjectRef, reason: &str) -> Refusal {
        let Right {
            verb,
            subresource,
            object,
        } = self;
        let what = match *subresource {
            "" => object.type_name.clone(),
            sub => format!("{}/{sub}", object.type_name),
        };
        let reason = match reason {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let check = Command::of(
            "kubectl -n {} auth can-i {} {}",
            [object.place(), verb, &object.type_name],
        );
        let check = match *subresource {
            "finalize" => check.with("--subresource=finalize"),
            _ => check,
        };
        Refusal::new(
            target,
            format!("you may not {verb} {what} {}{reason}", object.name),
            format!("you have the right to {verb} {what}"),
            Instead::run("Ask somebody who has it. To check a right:", check),
        )
    }
}
