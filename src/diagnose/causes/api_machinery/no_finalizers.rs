//! An object is being deleted although nothing holds it.
//!
//! **Recognises** a deletion timestamp without finalizers and without a grace period. **Why:** the update that
//! removes the last finalizer also deletes the object. If that second half of the update fails once, nobody tries
//! again. Source: `kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete, and
//! `pkg/registry/generic/registry/store.go` deleteWithoutFinalizers. **Wants** nothing. For a namespace it wants the
//! content. **Concludes** `stalled`. **Advises** to delete the object once more, which finishes the deletion.

use crate::{
    command::Command,
    diagnose::{
        causes::{namespaces::finalizer_lists, pods::grace_period},
        model::{Evidence, Finding, Page, Safety, Step, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn nothing_holds_it(object: &Object, view: &View<'_>) -> Finding {
    if object
        .deletion()
        .is_some_and(|deletion| deletion.in_grace(view.now()))
    {
        return grace_period::in_grace_period(object, view);
    }
    if object
        .number("/metadata/deletionGracePeriodSeconds")
        .unwrap_or_default()
        > 0
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
    if object.is("", "namespaces") && !finalizer_lists::leaves_nothing_behind(object, &mut finding, view) {
        return finding;
    }
    finding.steps.push(Step {
        when: "what to do",
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
