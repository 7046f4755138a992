//! A finalizer that the catalogue does not have.
//!
//! **Recognises** a finalizer that nobody has described. **Why:** whoever removes it must be allowed to change the
//! object (`kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go`), and has usually written to the object
//! before (`kubernetes/apimachinery:pkg/util/managedfields/internal/`). **Wants** the rights on the object and the
//! workloads that run with these rights. Then wants Leases of the domain of the finalizer, and the definition of the
//! type. **Concludes** as for known finalizers, and says that the controller is likely, not known. Anything that runs
//! and may change the object may be the controller, so this cause concludes `orphaned` only if nothing does.
//! **Advises** to find the product and bring it back. Says that the cost of removal is unknown.

use crate::{
    command::Command,
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

pub(crate) fn explain_without_entry(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = holder::undescribed(object, finalizer, view);
    let mut finding = holder_report::finding(
        object,
        finalizer,
        (None, "a controller that is not in the catalogue"),
        &holder,
        view,
    );
    finding.say("What it waits for, and what is lost without it, is not known");
    finding.steps.push(Step {
        when: "what to do",
        text: "see what its name tells, and where to look for its controller".into(),
        command: Some(Command::of("kubectl finalizers explain {}", [&finalizer.name])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
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
