//! An object is being deleted although nothing holds it.
//!
//! # Symptom
//!
//! An object has a `deletionTimestamp`, no finalizers and no grace period, and stays.
//!
//! ```text
//! $ kubectl finalizers explain cm/settings -n shop --from tests/causes/api_machinery.yaml
//! ```
//!
//! # Why
//!
//! The update that removes the last finalizer also deletes the object. If that second half of the update fails once,
//! nobody tries again.
//!
//! # Before you act
//!
//! Look again: the object may have gone in the meantime.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn. Save the object and apply it again after it is gone.
//!
//! # If it was intended
//!
//! Delete the object once more. That finishes the deletion.
//!
//! # Do not
//!
//! Do not add or remove finalizers. There is nothing to remove.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stalled | nothing holds it |
//! | unknown | whoever must finish it could not be asked |
//!
//! # What it reads
//!
//! Nothing more. For a namespace, its content.
//!
//! # Sources
//!
//! - `kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete
//! - `kubernetes/apiserver:pkg/registry/generic/registry/store.go` deleteWithoutFinalizers

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, On, Reads, Tells},
        model::{Evidence, Finding, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Itself(without_finalizers),
};

fn without_finalizers(object: &Object, view: &View<'_>) -> Option<Finding> {
    (object.finalizers().is_empty() && !timing::is_in_grace_period(object, view))
        .then(|| nothing_holds_it(object))
}

/// The finding about an object without finalizers whose grace period is over.
pub(crate) fn nothing_holds_it(object: &Object) -> Finding {
    if object
        .deletion()
        .is_some_and(|deletion| deletion.grace_seconds > 0)
    {
        return Finding::new(
            None,
            Verdict::Unknown,
            "no finalizer, and its grace period is over; whoever was to finish the deletion has not done so",
        );
    }
    let mut finding = Finding::new(
        None,
        Verdict::Stalled,
        "nothing holds it: no finalizer and no grace period. The last step of its deletion failed once",
    );
    finding.tell_of(Page::of(module_path!()));
    finding.evidence.push(Evidence {
        source: format!("{} {} metadata", object.kind, object.name()),
        value: "deletionTimestamp set, no finalizers, deletionGracePeriodSeconds 0 or not set".into(),
        strength: Strength::Proof,
    });
    finding.steps.push(Step {
        when: When::Now,
        text: "delete it once more; that finishes it".into(),
        command: Some(Command::of(
            "kubectl -n {} delete {}/{}",
            [object.namespace(), &object.resource.name(), object.name()],
        )),
        safety: Safety::Safe,
        lets_go: Vec::new(),
    });
    finding
}
