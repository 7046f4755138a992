//! A finalizer that the catalogue does not have.
//!
//! **Recognises** what nobody has described. **Why:** whoever removes it must be allowed to change the object
//! (`kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go`), and has mostly written to it before
//! (`kubernetes/apimachinery:pkg/util/managedfields/internal/`). **Wants** the rights on the object, what runs with them,
//! Leases of its domain, the definition of the type. **Concludes** as for described ones, and says that the holder is
//! likely, not known. **Advises** to find the product and bring it back; what is lost otherwise is not known, and is said
//! so.

use crate::{
    diagnose::{
        causes::operators::holder_report,
        holder,
        model::{Finding, Safety, Step},
        view::View,
    },
    knowledge::Consequence,
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) fn without_an_entry(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let found = holder::undescribed(object, finalizer, view);
    let mut finding = holder_report::finding(
        object,
        finalizer,
        "a controller that is not in the catalogue",
        &found,
        view,
    );
    finding.say(". What it waits for, and what is lost without it, is not known");
    finding.steps.push(Step {
        when: "what to do",
        text: "see what its name tells, and where to look for its controller".into(),
        command: Some(format!("kubectl finalizers explain {}", finalizer.name)),
        safety: Safety::Safe,
    });
    finding.steps.extend(holder_report::last_line(
        object,
        finalizer,
        &found,
        (
            // The worst must be assumed of what nobody knows.
            Consequence::DataLoss,
            "what its controller would have cleaned up is not known; it stays as it is, or is lost",
        ),
    ));
    finding
}
