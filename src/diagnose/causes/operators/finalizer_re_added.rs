//! A finalizer comes back after it was removed, because a controller or a GitOps tool adds it again.
//!
//! # Symptom
//!
//! A patch that removes the finalizer succeeds, and seconds later the finalizer is back. Or a controller logs `no new
//! finalizers can be added if the object is being deleted`.
//!
//! ```text
//! $ kubectl finalizers explain databases.example.com/orders -n ci --from tests/causes/operators.yaml
//! ```
//!
//! # Why
//!
//! While an object is not being deleted, whoever wants the finalizer adds it again. A GitOps tool does so when the
//! finalizer is in its manifest. Once the object is being deleted, the API server rejects new finalizers. An operator
//! whose new release has another finalizer then fails before it removes the old one.
//!
//! # Before you act
//!
//! See in `managedFields` who writes the finalizer, and when.
//!
//! # If it was a mistake
//!
//! Nothing is being deleted yet. Leave the finalizer.
//!
//! # If it was intended
//!
//! Delete the object first, and remove the finalizer then. Or remove it from the manifest.
//!
//! # Do not
//!
//! Do not fight a writer with patches.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | a controller that runs reports that the API server refused its finalizer during the deletion |
//! | (of the finalizer) | in all other cases; the page says who adds the finalizer again |
//!
//! # What it reads
//!
//! Nothing more than the object (`managedFields`) and its events.
//!
//! # Sources
//!
//! - `kubernetes/apimachinery:pkg/api/validation/objectmeta.go` ValidateNoNewFinalizers

use crate::{
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        complaint::{Complaint, complaints},
        holder::{Liveness, authors},
        model::{Evidence, Finding, Moment, Outlook, Page, Strength, Verdict},
        timing,
        view::View,
    },
    knowledge,
    knowledge::schema::Applies,
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// The message of the API server.
const NO_NEW_FINALIZERS: &str = "no new finalizers can be added if the object is being deleted";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Fate, add_re_added),
};

/// Adds who will add a finalizer again. `of_operators` are the finalizers that no cause knows by name.
fn add_re_added(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let of_operators = &subject.of_operators;
    if object.deletion().is_some() {
        add_rejected_addition(object, findings, of_operators, view);
        return;
    }
    let created = object.created();
    for finding in findings {
        let Some(finalizer) = &finding.wait.finalizer else {
            continue;
        };
        let added_later = |author: &&(String, jiff::Timestamp)| {
            let (manager, time) = author;
            let applied =
                knowledge::deployer_named(manager).is_some_and(|one| one.applies == Applies::Always);
            applied
                || created
                    .is_some_and(|created| Age::between(created, *time).0.as_secs() > timing::ADDED_LATER)
        };
        let writers = authors(object, finalizer);
        let Some((manager, time)) = writers.iter().filter(added_later).max_by_key(|(_, time)| *time) else {
            continue;
        };
        let ago = Age::between(*time, view.now());
        finding.evidence.push(Evidence {
            source: format!("{} {} metadata.managedFields", object.kind, object.name()),
            value: format!("{manager} has put on {}, the last time {ago} ago", finalizer.name),
            strength: Strength::Moderate,
        });
        finding.outlook.push(Outlook {
            when: Moment::RemovedNow,
            then: format!(
                "{manager} puts {} on again, as it did {ago} ago. Delete the object first: then the API server refuses new \
                 finalizers, and what is removed then stays away",
                finalizer.name
            ),
        });
    }
}

/// Adds that somebody tries to add a finalizer, and that the API server rejects it.
fn add_rejected_addition(
    object: &Object,
    findings: &mut [Finding],
    of_operators: &[Finalizer],
    view: &View<'_>,
) {
    // The controllers of Kubernetes do not add their finalizers again, so only finalizers of operators count.
    let Some(first) = findings.iter_mut().find(|finding| finding.is_about(of_operators)) else {
        return;
    };
    let Some(deletion) = object.deletion() else { return };
    let is_refusal = |complaint: &&Complaint| {
        complaint.text.contains(NO_NEW_FINALIZERS) && complaint.is_since(deletion.requested_at())
    };
    let complaints = complaints(object, view);
    let Some(complaint) = complaints.iter().find(is_refusal) else {
        return;
    };
    let name = complaint
        .text
        .split_once("[]string{")
        .and_then(|(_, rest)| rest.split_once('}'))
        .map_or("a finalizer", |(names, _)| names.trim_matches('"'));
    if is_held_up(first) {
        first.wait.verdict = Verdict::Failing;
        let held = first
            .wait
            .finalizer
            .as_ref()
            .map_or("", |finalizer| &finalizer.name);
        let says = format!(
            "A controller that first adds {name} gets no further here. {held} may be the name that an older release of it used"
        );
        first.say(says);
    }
    first.outlook.push(Outlook {
        when: Moment::Meanwhile,
        then: format!(
            "somebody tries to put {name} back ({}), and the API server refuses that, as it must: it is off, and is not what \
             holds the object",
            complaint.source
        ),
    });
    first.do_not.push(format!(
        "patch against whoever puts {name} back: stop that writer, or let it see the object go"
    ));
}

/// Whether a controller that runs was thought to work on the object, and nothing else was found that it waits for. It writes
/// the whole object, so with one finalizer that is refused it can change nothing.
fn is_held_up(finding: &Finding) -> bool {
    finding.liveness() == Some(Liveness::Running)
        && matches!(finding.wait.verdict, Verdict::Waiting | Verdict::Stalled)
        && finding.wait.on.iter().all(|blocker| blocker.object.is_none())
}
