//! kube-controller-manager does not act: then none of Kubernetes' own finalizers goes.
//!
//! **Recognises** a finalizer of its controllers, and a Lease that it has not renewed in time. **Why:** the
//! namespace, volume, job and pod controllers and the garbage collector are one process with one Lease,
//! `kube-system/kube-controller-manager`. Source: `kubernetes/kubernetes:cmd/kube-controller-manager/app/`.
//! **Wants** that Lease, and those of the API servers
//! ([`store`]). **Concludes** nothing new about what is in use; a Lease alone does not prove death, so the
//! verdict stays, and the Lease stands beside it with its age. **Advises** to bring it back first, and not to take
//! finalizers out one by one.

use crate::{
    diagnose::{
        causes::{advice, advice::namespace_flag, api_machinery::etcd_not_writable},
        holder,
        holder::Life,
        model::{Blocker, Finding, Safety, Step, Verdict},
        view::{Missing, View},
    },
    knowledge::Entry,
    object::{Age, List},
    snapshot::facts::Object,
};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "kube-controller-manager";

/// Says it in every finding that waits for one of its controllers.
pub(crate) fn mention(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    if object.deletion().is_none() {
        return;
    }
    let reference = object.reference();
    for finding in findings {
        let Some(finalizer) = &finding.wait.finalizer else {
            continue;
        };
        let entry = view
            .knowledge
            .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
        let Some(entry) = entry.filter(is_its_own) else {
            continue;
        };
        if finding.wait.verdict != Verdict::InUse {
            blame(finding, view);
        }
        let by_patch = finding
            .wait
            .finalizer
            .as_ref()
            .is_some_and(|it| it.list == List::Metadata);
        if let (Verdict::Stalled, true, Some(account)) = (
            finding.wait.verdict,
            by_patch,
            entry.holder.service_accounts.first(),
        ) && matches!(stale(view), Ok(None))
        {
            finding.steps.push(one_of_them(object, account));
        }
    }
}

/// Whether it is one of its controllers that removes what this entry is about.
fn is_its_own(entry: &Entry) -> bool {
    entry
        .holder
        .leases
        .iter()
        .any(|lease| lease.name == NAME && lease.namespace.as_deref() == Some(NAMESPACE))
}

/// The Lease is that of the whole process, and says nothing of one controller.
fn one_of_them(object: &Object, account: &str) -> Step {
    Step {
        when: advice::STILL_THERE,
        text: format!(
            "the Lease is that of the whole process. This one controller may be switched off (--controllers of \
             kube-controller-manager), or may not change the object: with --use-service-account-credentials it acts as \
             {account}, and this must say yes"
        ),
        command: Some(format!(
            "kubectl auth can-i update {}{} --as=system:serviceaccount:{NAMESPACE}:{account}",
            object.resource.name(),
            namespace_flag(object)
        )),
        safety: Safety::Safe,
    }
}

/// Adds the stale Lease to what is in the way, if it is stale. Where it cannot be seen, nothing is taken out in the
/// place of a controller that perhaps only does not run.
pub(crate) fn blame(finding: &mut Finding, view: &View<'_>) {
    let mut blocker = match blocker(view) {
        Ok(Some(blocker)) => blocker,
        Ok(None) => return,
        Err(_) => {
            finding.steps.retain(|step| step.when != advice::STILL_THERE);
            return;
        }
    };
    let unwritten = etcd_not_writable::unwritten(view);
    let full = unwritten.is_some();
    blocker.on.extend(unwritten);
    if !finding.wait.on.contains(&blocker) {
        finding.wait.on.push(blocker);
    }
    // Nobody looks, however often it is touched.
    finding
        .steps
        .retain(|step| !advice::is_nudge(step) && step.when != advice::STILL_THERE);
    finding.steps.insert(
        0,
        Step {
            when: "what to do",
            text: if full {
                "then see that kube-controller-manager is back: it ends when it cannot renew its Lease, and is started \
                 again where it is a static pod of the control plane"
            } else {
                "bring kube-controller-manager back first; what waits for it goes by itself then. On most clusters it \
                 is a static pod of the control plane"
            }
            .into(),
            command: Some(format!(
                "kubectl -n {NAMESPACE} get pods -l component={NAME} -o wide; kubectl -n {NAMESPACE} get lease {NAME}"
            )),
            safety: Safety::Safe,
        },
    );
    if full {
        etcd_not_writable::advise(finding);
    }
    finding.do_not.push(
        "take finalizers out one by one because everything hangs: that skips what they protect, and the cause stays".into(),
    );
}

/// Its stale Lease, in the way of whatever one of its controllers is to do.
pub(crate) fn blocker(view: &View<'_>) -> Result<Option<Blocker>, Missing> {
    Ok(stale(view)?.map(|(lease, ago)| {
        Blocker::new(
            Some(lease.reference()),
            format!(
                "last renewed {ago} ago: kube-controller-manager does not run, or cannot reach the API server, and none \
                 of Kubernetes' own controllers acts"
            ),
        )
    }))
}

/// Its Lease and the time since the last renewal, if that is too long ago.
pub(crate) fn stale<'a>(view: &View<'a>) -> Result<Option<(&'a Object, Age)>, Missing> {
    let Some(lease) = view.object("coordination.k8s.io", "leases", NAMESPACE, NAME)? else {
        return Ok(None);
    };
    Ok(match holder::of(lease, view.now()) {
        Some((_, Life::Stale { ago, .. })) => Some((lease, ago)),
        _ => None,
    })
}
