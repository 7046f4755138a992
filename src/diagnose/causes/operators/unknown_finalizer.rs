//! A finalizer that the catalogue does not have.
//!
//! # Symptom
//!
//! An object stays in deletion with a finalizer that neither you nor a search engine knows.
//!
//! ```text
//! $ kubectl finalizers explain databases.example.com/orders -n shop --from tests/suite/explain/world.yaml
//! ```
//!
//! # Why
//!
//! Whoever removes it must be allowed to change the object, and has usually written to the object before. So the rights
//! and `managedFields` point to the controller. It stays a guess: the explanation says "likely".
//!
//! # Before you act
//!
//! Find the product: the group of the type, its definition, the field manager, other objects with the same finalizer.
//!
//! # If it was a mistake
//!
//! Nobody knows what the controller deletes. Leave it stopped if it does not run, and save the object.
//!
//! # If it was intended
//!
//! Bring the product back. If nobody knows it any more, ask whoever installed it, and look for what it may have made
//! outside the cluster.
//!
//! # Do not
//!
//! Do not assume that nothing is protected. The cost of a removal is unknown, so the worst is assumed.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | a likely controller runs |
//! | failing | it cannot run, or complains of a failure itself |
//! | orphaned | nothing runs that may change the object, and a second sign agrees |
//! | unknown | otherwise |
//!
//! # What it reads
//!
//! The rights on the object and the workloads that run with these rights. Then Leases of the domain of the finalizer,
//! and the definition of the type.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go`
//! - `kubernetes/apimachinery:pkg/util/managedfields/internal/`

use crate::{
    command::Command,
    diagnose::{
        causes::{
            cause::{Cause, On, Reads, Stage, Subject, Tells},
            has_own_cause,
            operators::holder_report,
        },
        holder,
        holder::Leader,
        model::{Finding, Page, Safety, Step, When},
        view::View,
    },
    knowledge::Consequence,
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Authors, say_authors),
};

pub(crate) fn explain_without_entry(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = holder::undescribed(object, finalizer, view);
    let mut finding = holder_report::finding(
        object,
        finalizer,
        (None, &name_of_controller(object, finalizer)),
        &holder,
        view,
    );
    // The report may tell of a cause of its own already.
    finding.wait.page.get_or_insert(Page::of(module_path!()));
    let leader = holder::leader_of_domain(finalizer, view);
    if let Some(leader) = &leader {
        finding.say(leader_in_words(leader));
    }
    let leads = leader.as_ref().filter(|leader| leader.leads);
    let look = match leads {
        Some(leader) => Some(holder_report::log_step(
            object,
            leader.lease.namespace(),
            &format!("pods/{}", leader.pod),
        )),
        None => holder_report::log_step_of(object, &holder),
    };
    finding.steps.extend(look);
    finding.steps.push(find_others_step(finalizer));
    finding.steps.extend(holder_report::removal_step(
        object,
        finalizer,
        &holder,
        (
            // Nobody knows the cost, so the worst must be assumed.
            Consequence::DataLoss,
            "what its controller would have cleaned up is not known; it stays as it is, or is lost",
        ),
    ));
    finding
}

/// The name under which the controller writes this object. Many programs write as `manager`, so that names none.
fn name_of_controller(object: &Object, finalizer: &Finalizer) -> String {
    let author = holder::author_and_last_change(object, finalizer).map(|(author, _)| author);
    author
        .filter(|name| holder::is_telling(name) && !holder::is_tool_on(object, name))
        .unwrap_or_else(|| "a controller that is not in the catalogue".to_owned())
}

fn say_authors(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    for finding in findings {
        let is_unknown =
            |finalizer: &Finalizer| finding.wait.known.is_none() && !has_own_cause(subject.object, finalizer);
        if let Some(finalizer) = finding.wait.finalizer.clone().filter(is_unknown) {
            say_author(subject.object, &finalizer, finding, view);
        }
    }
}

/// Says who put the finalizer on, and when that program last wrote. That is an upper bound for the time of the
/// finalizer. A tool that people use never removes what its manifest has.
fn say_author(object: &Object, finalizer: &Finalizer, finding: &mut Finding, view: &View<'_>) {
    let Some((author, last)) = holder::author_and_last_change(object, finalizer) else {
        finding.say("Nothing tells who put it on");
        return;
    };
    let ago = Age::between(last, view.now());
    if holder::is_tool_on(object, &author) {
        finding.say(format!(
            "Field manager \"{author}\" put it on {ago} ago or earlier, from a manifest. That tool never removes it"
        ));
    } else {
        finding.say(format!(
            "Field manager \"{author}\" put it on, and last wrote {ago} ago"
        ));
    }
}

/// Probably the controller: a Lease of the same domain is that of the same product.
fn leader_in_words(leader: &Leader<'_>) -> String {
    let Leader { lease, pod, leads } = leader;
    let (is, holds) = if *leads {
        ("is", "holds")
    } else {
        ("was", "was the last that held")
    };
    let (namespace, name) = (lease.namespace(), lease.name());
    format!(
        "{pod} probably {is} the controller: it {holds} Lease {namespace}/{name}, which has the domain of the finalizer"
    )
}

fn find_others_step(finalizer: &Finalizer) -> Step {
    Step {
        when: When::Now,
        text: "see which other objects have this finalizer".into(),
        command: Some(Command::of(
            "kubectl finalizers scan --finalizer {}",
            [&finalizer.name],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}
