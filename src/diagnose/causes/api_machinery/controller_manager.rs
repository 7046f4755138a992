//! kube-controller-manager does not act, so none of Kubernetes' own finalizers is removed.
//!
//! # Symptom
//!
//! Many unrelated objects stay `Terminating` at once: namespaces, claims, pods of Jobs. New pods of Deployments do not
//! appear either.
//!
//! ```text
//! $ kubectl -n kube-system get lease kube-controller-manager -o jsonpath='{.spec.renewTime}'
//! 2026-03-14T02:41:00.000000Z
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pvc/data -n shop --from tests/causes/controller_manager.yaml
//! ```
//!
//! # Why
//!
//! The namespace, volume, job and pod controllers and the garbage collector run in one process with one Lease,
//! `kube-system/kube-controller-manager`. While the process does not run, nothing removes their finalizers.
//!
//! # Before you act
//!
//! See whether the process runs. On most clusters it is a static pod of the control plane; on a managed cluster, ask
//! the provider.
//!
//! # If it was a mistake
//!
//! As long as kube-controller-manager is stopped, nothing goes. Use the time to save objects and to keep disks.
//!
//! # If it was intended
//!
//! Bring kube-controller-manager back. Everything that waits for it then goes by itself.
//!
//! # Do not
//!
//! Do not remove finalizers one by one because everything hangs. That skips what they protect, and the cause stays.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | a stale Lease alone does not prove that the process is dead, so the verdict stays, and the Lease is named with its age |
//! | stalled | nothing blocks the removal, and the controller has not acted |
//!
//! # What it reads
//!
//! That Lease, and the Leases of the API servers ([`crate::diagnose::causes::api_machinery::etcd_not_writable`]).
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:cmd/kube-controller-manager/app/`

use crate::{
    command::Command,
    diagnose::{
        causes::{
            api_machinery::etcd_not_writable,
            cause::{Cause, On, Reads, Stage, Subject, Tells},
        },
        holder,
        holder::Life,
        model::{Blocker, CauseState, Finding, Page, Safety, Step, StepKind, Verdict, When},
        removal::Veto,
        view::{Missing, View},
    },
    knowledge::Entry,
    object::{Age, List},
    snapshot::facts::Object,
};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "kube-controller-manager";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Cluster, add_stopped_controller_manager),
};

/// Adds the stale Lease to every finding that waits for one of its controllers.
fn add_stopped_controller_manager(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    if object.deletion().is_none() {
        return;
    }
    for finding in findings {
        let Some(finalizer) = &finding.wait.finalizer else {
            continue;
        };
        let entry = view.entry(object, finalizer);
        let Some(entry) = entry.filter(is_removed_by_it) else {
            continue;
        };
        if finding.wait.verdict != Verdict::InUse {
            add_stale_lease(finding, view);
        }
        let is_in_metadata = finding
            .wait
            .finalizer
            .as_ref()
            .is_some_and(|it| it.list == List::Metadata);
        if let (Verdict::Stalled, true, Some(account)) = (
            finding.wait.verdict,
            is_in_metadata,
            entry.holder.service_accounts.first(),
        ) && matches!(stale_lease(view), Ok(None))
        {
            finding.steps.push(check_one_controller(object, account));
        }
    }
}

/// Whether one of its controllers removes the finalizer of this catalogue entry.
fn is_removed_by_it(entry: &Entry) -> bool {
    entry
        .holder
        .leases
        .iter()
        .any(|lease| lease.name == NAME && lease.namespace.as_deref() == Some(NAMESPACE))
}

/// Tells how to check one controller. The Lease belongs to the whole process and does not show a single controller.
fn check_one_controller(object: &Object, account: &str) -> Step {
    Step {
        when: When::StillThere,
        text: format!(
            "the Lease is that of the whole process. This one controller may be switched off (--controllers of \
             kube-controller-manager), or may not change the object: with --use-service-account-credentials it acts as \
             {account}, and this must say yes"
        ),
        command: Some(Command::may(
            "update",
            &object.resource.name(),
            object.namespace(),
            (NAMESPACE, account),
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// Adds the Lease as a blocker if it is stale. If the Lease cannot be read, drops the steps that do the work of a
/// controller: that controller may only be stopped.
pub(crate) fn add_stale_lease(finding: &mut Finding, view: &View<'_>) {
    let mut blocker = match blocker(view) {
        Ok(Some(blocker)) => blocker,
        Ok(None) => return,
        Err(_) => {
            finding.steps.retain(|step| step.when != When::StillThere);
            return;
        }
    };
    let unwritable = etcd_not_writable::stale_api_server_lease(view);
    let is_unwritable = unwritable.is_some();
    blocker.on.extend(unwritable);
    if !finding.wait.on.contains(&blocker) {
        finding.wait.on.push(blocker);
    }
    finding.tell_of(Page::of(module_path!()));
    // Touching the object has no effect while no controller runs.
    finding
        .steps
        .retain(|step| step.kind() != StepKind::Nudge && step.when != When::StillThere);
    finding.steps.insert(
        0,
        Step {
            when: When::Now,
            text: if is_unwritable {
                "then see that kube-controller-manager is back: it ends when it cannot renew its Lease, and is started \
                 again where it is a static pod of the control plane"
            } else {
                "see whether kube-controller-manager runs. Once it does, what waits for it goes on. On most clusters it \
                 is a static pod of the control plane"
            }
            .into(),
            command: Some(Command::of(
                "kubectl -n {} get pods -l component={} -o wide",
                [NAMESPACE, NAME],
            )),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
    );
    if is_unwritable {
        etcd_not_writable::add_steps(finding);
    }
    finding.forbid(Veto::ControllerManagerStopped);
    finding.do_not.push(
        "take finalizers out one by one because everything hangs: that skips what they protect, and the cause stays".into(),
    );
}

/// Its stale Lease as a blocker of whatever waits for one of its controllers.
pub(crate) fn blocker(view: &View<'_>) -> Result<Option<Blocker>, Missing> {
    Ok(stale_lease(view)?.map(|(lease, ago)| {
        Blocker::new(
            Some(lease.reference()),
            format!(
                "last renewed {ago} ago: kube-controller-manager does not run, or cannot reach the API server, and none \
                 of Kubernetes' own controllers acts"
            ),
        )
        .in_state(CauseState::Down)
    }))
}

/// Its Lease and the time since the last renewal, if that is too long.
pub(crate) fn stale_lease<'a>(view: &View<'a>) -> Result<Option<(&'a Object, Age)>, Missing> {
    let Some(lease) = view.object("coordination.k8s.io", "leases", NAMESPACE, NAME)? else {
        return Ok(None);
    };
    Ok(match holder::life_of_lease(lease, view.now()) {
        Some((_, Life::Stale { ago, .. })) => Some((lease, ago)),
        _ => None,
    })
}
