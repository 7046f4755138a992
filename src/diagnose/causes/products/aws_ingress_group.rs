//! An Ingress that shares its AWS load balancer with others.
//!
//! # Symptom
//!
//! An Ingress stays in deletion, with the finalizer `group.ingress.k8s.aws/GROUP`. An event says `FailedBuildModel` or
//! `FailedDeployModel`, perhaps at another Ingress.
//!
//! ```text
//! $ kubectl finalizers explain ingresses.networking.k8s.io/blog -n web --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! The controller builds one load balancer from all Ingresses of a group. One Ingress that fails blocks all. The load
//! balancer is deleted with the last of them.
//!
//! # Before you act
//!
//! List the Ingresses of the group, and read the events of all of them.
//!
//! # If it was a mistake
//!
//! The rules of this Ingress go, and the load balancer stays for the others. Apply the Ingress again.
//!
//! # If it was intended
//!
//! Mend the Ingress that fails. The group is then built again, and this one goes.
//!
//! # Do not
//!
//! Do not delete the load balancer at AWS while there are others. They lose their traffic.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | this page has no verdict of its own; it names the others |
//!
//! # What it reads
//!
//! All Ingresses.
//!
//! # Sources
//!
//! - `kubernetes-sigs/aws-load-balancer-controller:pkg/ingress/group_loader.go`
//! - `kubernetes-sigs/aws-load-balancer-controller:pkg/shared_constants/finalizers.go`

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, Described, On, Reads, Tells, Turn},
        limits,
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, When},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const PREFIX: &str = "group.ingress.k8s.aws/";
const GROUP: &str = "alb.ingress.kubernetes.io/group.name";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Beginning(PREFIX),
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Product, add_group_members),
};

/// Adds the other Ingresses of the group.
fn add_group_members(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described {
        object, finalizer, ..
    } = *described;
    let Some(group) = finalizer.name.strip_prefix(PREFIX) else {
        return;
    };
    let all = match view.list("networking.k8s.io", "ingresses", "") {
        Ok(all) => all,
        Err(missing) => {
            finding.say(format!(
                "who else is in group {group} is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    let members = all.iter().filter(|other| other.reference() != object.reference());
    let others: Vec<_> = members
        .filter(|other| is_member(other, finalizer, group))
        .collect();
    finding.evidence.push(Evidence {
        source: format!("Ingresses of group {group}"),
        value: format!("{} besides this one", others.len()),
        strength: Strength::Strong,
    });
    if others.is_empty() {
        finding.outlook.push(Outlook {
            when: Moment::Goes,
            then: format!("it is the last of group {group}: the load balancer goes with it"),
        });
        return;
    }
    let mut names: Vec<_> = others
        .iter()
        .take(limits::NAMES_IN_SENTENCE)
        .map(|other| other.reference().pasteable())
        .collect();
    if others.len() > limits::NAMES_IN_SENTENCE {
        names.push(format!("{} more", others.len() - limits::NAMES_IN_SENTENCE));
    }
    let names = names.join(", ");
    finding.say(format!("{names} share its load balancer"));
    finding.do_not.push(format!(
        "delete the load balancer at AWS: {names} lose their traffic"
    ));
    for other in others.iter().take(limits::NAMES_IN_SENTENCE) {
        finding.steps.push(Step {
            when: When::Now,
            text: format!(
                "see the events of {} too: the group is built as one, and a member that fails holds up all",
                other.reference().pasteable()
            ),
            command: Some(Command::of(
                "kubectl -n {} describe ingress {}",
                [other.namespace(), other.name()],
            )),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
    }
}

/// Whether an Ingress belongs to the group.
fn is_member(other: &Object, finalizer: &Finalizer, group: &str) -> bool {
    other.annotation(GROUP) == group || other.finalizers().contains(finalizer)
}
