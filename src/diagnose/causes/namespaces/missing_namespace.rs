//! An object in a namespace that no longer exists.
//!
//! # Symptom
//!
//! `kubectl get TYPE -A` lists an object, and `kubectl get namespace` says `Error from server (NotFound): namespaces
//! "gone" not found`. Updates may fail with the same message.
//!
//! ```text
//! $ kubectl finalizers explain cm/left -n gone --from tests/causes/namespaces.yaml
//! ```
//!
//! # Why
//!
//! Somebody emptied `spec.finalizers` through `/finalize` before the namespace was empty. The Namespace is then deleted
//! and its content stays in etcd. Nothing can be created in it any more, so controllers fail. A webhook with a
//! `namespaceSelector` makes every update fail.
//!
//! # Before you act
//!
//! Look for more of them: `kubectl finalizers scan` counts objects in namespaces that do not exist.
//!
//! # If it was a mistake
//!
//! Create the namespace again. The objects in it can be used again, except those in deletion.
//!
//! # If it was intended
//!
//! Create the namespace again, let its controllers finish its content, and delete it in the normal way.
//!
//! # Do not
//!
//! Do not delete keys in etcd by hand. The API server and its controllers do not expect that.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | rejected | updates of the object are refused, because the namespace is missing |
//! | (of the finalizer) | the missing namespace is named as a further cause |
//!
//! # What it reads
//!
//! The Namespace.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/registry/core/namespace/`
//! - `kubernetes/apiserver:pkg/admission/plugin/webhook/predicates/namespace/matcher.go`

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::ObjectRef,
};

/// The cause, as the beginning of a sentence.
pub(crate) const FINALIZED_BY_FORCE: &str = "does not exist: it was finalized by force, and";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Belongings, add_missing_namespace),
};

fn add_missing_namespace(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let name = object.namespace();
    // Neither an object in use nor a pod in its grace period needs its namespace read.
    let at_rest = timing::is_in_grace_period(object, view)
        || findings
            .iter()
            .all(|finding| finding.wait.verdict == Verdict::InUse);
    if name.is_empty() || at_rest || !matches!(view.object("", "namespaces", "", name), Ok(None)) {
        return;
    }
    for finding in findings.iter_mut() {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(Blocker::new(
            Some(ObjectRef {
                type_name: "namespaces".into(),
                kind: "Namespace".into(),
                api_version: "v1".into(),
                name: name.to_owned(),
                ..ObjectRef::default()
            }),
            format!(
                "{FINALIZED_BY_FORCE} this object was left behind. Controllers cannot create anything in it, and updates may be refused \
                 with `namespaces not found`"
            ),
        ));
    }
    let Some(first) = findings.first_mut() else {
        return;
    };
    first.evidence.push(Evidence {
        source: format!("Namespace {name}"),
        value: "not found".into(),
        strength: Strength::Proof,
    });
    first.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: format!("it stays in etcd, and appears again when somebody creates a namespace {name}"),
    });
    let steps = [
        Step {
            when: When::Now,
            text: format!("create the namespace {name} again, so that its objects can be finished"),
            command: Some(Command::of("kubectl create namespace {}", [name])),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        },
        Step {
            when: When::Now,
            text: "look again: with its namespace back, its controller may finish it by itself".into(),
            command: Some(Command::explain(&object.resource.name(), object.name(), name)),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
    ];
    first.steps.splice(0..0, steps);
    let delete = Command::delete_namespace(name).map(|delete| Step {
        when: When::Gone,
        text: format!(
            "DATA LOSS if anything in {name} is still needed: delete the namespace in the normal way, which deletes all \
             that was left behind in it"
        ),
        command: Some(delete),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
    first.steps.extend(delete);
    first.do_not.push(
        "delete keys in etcd by hand: the API server and its controllers do not expect that, and clean-up outside the \
         cluster never happens"
            .into(),
    );
}
