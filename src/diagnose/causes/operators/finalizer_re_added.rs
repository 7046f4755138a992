//! A finalizer that comes back, and who puts it back.
//!
//! **Recognises** an object that is not being deleted, with a finalizer that somebody put on later than the object was made,
//! or that is part of a manifest which a `GitOps` tool applies again and again (`managedFields`); and one that is being
//! deleted, of which somebody says that `no new finalizers can be added`. **Why:** as long as an object is not being deleted
//! whoever wants the finalizer writes it again, so that a patch succeeds and changes nothing; afterwards the API server
//! refuses new ones (`kubernetes/apimachinery:pkg/api/validation/objectmeta.go` ValidateNoNewFinalizers). **Wants** nothing
//! more. **Concludes** nothing about the finalizers that are there. **Advises** to delete first and to take off then; and not
//! to fight a writer with patches.

use crate::{
    diagnose::{
        causes,
        complaint::complaints,
        holder::authors,
        model::{Evidence, Finding, Outlook, Strength},
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

/// Who applies a manifest not once, but whenever the object differs.
const AGAIN: [&str; 4] = ["argocd", "kustomize-controller", "helm-controller", "flux"];
/// The API server's own words.
const REFUSED: &str = "no new finalizers can be added if the object is being deleted";

pub(crate) fn add_re_added(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    if object.deletion().is_some() {
        refused(object, findings, view);
        return;
    }
    let made = object.time("/metadata/creationTimestamp");
    for finding in findings {
        let Some(finalizer) = &finding.wait.finalizer else {
            continue;
        };
        let later = |author: &&(String, jiff::Timestamp)| {
            let (manager, time) = author;
            let applied = AGAIN.iter().any(|tool| manager.starts_with(tool));
            applied || made.is_some_and(|made| Age::between(made, *time).0.as_secs() > timing::ADDED_LATER)
        };
        let all = authors(object, finalizer);
        let Some((manager, time)) = all.iter().filter(later).max_by_key(|(_, time)| *time) else {
            continue;
        };
        let ago = Age::between(*time, view.now());
        finding.evidence.push(Evidence {
            source: format!("{} {} metadata.managedFields", object.kind, object.name()),
            value: format!("{manager} has put on {}, the last time {ago} ago", finalizer.name),
            strength: Strength::Moderate,
        });
        finding.outlook.push(Outlook {
            when: "if it is taken off now".into(),
            then: format!(
                "{manager} puts {} on again, as it did {ago} ago. Delete the object first: then the API server refuses new \
                 finalizers, and what is taken off stays off",
                finalizer.name
            ),
        });
    }
}

/// Somebody tries, and may not.
fn refused(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    // Of Kubernetes' own finalizers nobody says such a thing.
    let Some(first) = findings
        .iter_mut()
        .find(|finding| causes::is_held(object, finding))
    else {
        return;
    };
    let said = complaints(object, view);
    let Some(complaint) = said.iter().find(|said| said.text.contains(REFUSED)) else {
        return;
    };
    let name = complaint
        .text
        .split_once("[]string{")
        .and_then(|(_, rest)| rest.split_once('}'))
        .map_or("a finalizer", |(names, _)| names.trim_matches('"'));
    first.outlook.push(Outlook {
        when: "meanwhile".into(),
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
