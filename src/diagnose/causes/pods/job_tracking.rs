//! `batch.kubernetes.io/job-tracking`: a Pod that its Job has not counted yet.
//!
//! # Symptom
//!
//! A `Completed` or `Error` pod of a Job stays `Terminating`, with the finalizer `batch.kubernetes.io/job-tracking`.
//!
//! ```text
//! $ kubectl finalizers explain pod/import-x7k2p -n shop --from tests/causes/pods.yaml
//! ```
//!
//! # Why
//!
//! The Job controller removes the finalizer when the pod is finished and counted, and from pods whose Job is gone or
//! finished. It handles only pods of a batch/v1 Job. A pod that another kind controls keeps the finalizer for ever. So
//! does a pod of a Job whose `spec.managedBy` names another controller.
//!
//! # Before you act
//!
//! See who controls the pod (`metadata.ownerReferences`), and whether `spec.managedBy` of the Job names somebody else.
//!
//! # If it was a mistake
//!
//! Nothing is lost: a finished pod holds only its logs and its exit code.
//!
//! # If it was intended
//!
//! Let the Job count the pod: bring kube-controller-manager or the controller of `spec.managedBy` back. If no Job
//! counts it, remove this one finalizer.
//!
//! # Do not
//!
//! Do not remove the finalizer while its Job runs. The Job then counts wrong, runs a piece of work again, or never
//! completes.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | its Job will count it |
//! | stalled | no Job counts it, or the controller has not acted |
//! | unknown | the Job could not be read, or another controller manages it |
//!
//! # What it reads
//!
//! The Job, and the Lease of kube-controller-manager.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/job/job_controller.go`

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            verdicts,
        },
        kinds::{Job, OwnerReference, Pod},
        model::{
            Blocker, Evidence, Finding, Liveness, Moment, Outlook, Page, Safety, Said, Step, Strength,
            Verdict, When,
        },
        view::View,
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "pods")],
    finalizer: On::Named("batch.kubernetes.io/job-tracking"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(not_counted),
};

/// The controller that counts, unless `spec.managedBy` names another one.
const BUILT_IN: &str = "kubernetes.io/job-controller";

fn not_counted(pod: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let Some(owner) = OwnerReference::to_controller(pod) else {
        return no_job_counts(pod, finalizer, "no Job controls this pod", view);
    };
    if !(owner.group() == "batch" && owner.kind() == "Job") {
        return controlled_by_other_kind(pod, finalizer, owner, view);
    }
    let (name, uid) = (owner.name(), owner.uid());
    match view.object("batch", "jobs", pod.namespace(), name) {
        Err(missing) => Finding::new(
            Some(finalizer.clone()),
            Verdict::Unknown,
            format!(
                "how its Job {name} stands, and so who is still to count the pod, is not known: {}",
                missing.in_words()
            ),
        ),
        Ok(Some(job)) if job.uid() == uid => job_exists(pod, finalizer, job, view),
        Ok(_) => no_job_counts(
            pod,
            finalizer,
            &format!("its Job {name} does not exist any more"),
            view,
        ),
    }
}

/// The wait for the Job controller.
fn job_controller() -> Said {
    Said::removed_by("kube-controller-manager", Liveness::Unknown, Vec::new()).part("job")
}

/// The finding for a Pod that no Job counts: the Job controller removes the finalizer.
fn no_job_counts(pod: &Object, finalizer: &Finalizer, why: &str, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(pod, view),
        job_controller().now(format!(
            "{why}, so nothing is to be counted and it should go at once"
        )),
    );
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(pod));
        finding.steps.push(Step {
            when: When::StillThere,
            text: format!("remove this one entry; nothing is lost by it, because {why}"),
            command: Some(advice::removal_command(pod, finalizer)),
            safety: Safety::Safe,
            lets_go: Vec::new(),
        });
    }
    finding
}

/// The finding for a Pod of another kind, which the Job controller ignores.
fn controlled_by_other_kind(
    pod: &Object,
    finalizer: &Finalizer,
    owner: OwnerReference<'_>,
    view: &View<'_>,
) -> Finding {
    let (api_version, kind, name) = (owner.api_version(), owner.kind(), owner.name());
    let ty = view.kind(owner.group(), kind);
    let group = if owner.group().is_empty() {
        "the core group"
    } else {
        owner.group()
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Orphaned,
        format!(
            "nobody removes it: the Job controller looks after pods of a batch/v1 Job only, and this pod is controlled by \
             {kind} {name} of {group}"
        ),
    );
    finding.wait.on.push(Blocker::new(
        ty.map(|ty| ObjectRef {
            type_name: ty.name(),
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
            namespace: ty.namespaced.then(|| pod.namespace().to_owned()),
            name: name.to_owned(),
            ..ObjectRef::default()
        }),
        "controls the pod and is no batch/v1 Job, so no Job ever counts it",
    ));
    finding.evidence.push(Evidence {
        source: format!("Pod {} metadata.ownerReferences", pod.name()),
        value: format!("controller {api_version} {kind} {name}"),
        strength: Strength::Proof,
    });
    finding.evidence.push(Evidence {
        source: "kubernetes/kubernetes:pkg/controller/job/job_controller.go".into(),
        value: "pods of other controllers are left alone".into(),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: "it stays for ever, unless the controller of its owner takes the entry out itself".into(),
    });
    finding.steps.push(Step {
        when: When::Now,
        text: "remove this one entry; nothing is lost by it, because no Job counts the pod".into(),
        command: Some(advice::removal_command(pod, finalizer)),
        safety: Safety::Safe,
        lets_go: Vec::new(),
    });
    finding
}

/// The finding for a Pod whose Job exists.
fn job_exists(pod: &Object, finalizer: &Finalizer, job: &Object, view: &View<'_>) -> Finding {
    let name = job.name();
    let manager = Job(job).manager();
    if !manager.is_empty() && manager != BUILT_IN {
        return Finding::new(
            Some(finalizer.clone()),
            Verdict::Unknown,
            format!(
                "Job {name} is managed by {manager} (spec.managedBy), which must remove it; kube-controller-manager \
                 leaves it alone, and whether {manager} runs is not known"
            ),
        );
    }
    let finished = ["Complete", "Failed"]
        .into_iter()
        .find(|kind| matches!(job.condition(kind), Some(("True", ..))));
    if let Some(finished) = finished {
        return no_job_counts(
            pod,
            finalizer,
            &format!("its Job {name} is finished ({finished})"),
            view,
        );
    }
    if job.deletion().is_some() {
        return no_job_counts(pod, finalizer, &format!("its Job {name} is being deleted"), view);
    }
    let phase = Pod(pod).phase();
    let ended = Pod(pod).is_finished();
    let counts_ended_only = Job(job).counts_only_ended();
    let mut finding = if ended || (pod.deletion().is_some() && !counts_ended_only) {
        let mut finding = Finding::new(
            Some(finalizer.clone()),
            verdicts::nothing_blocks(pod, view),
            job_controller().once(format!("Job {name}, which is not finished, has counted the pod")),
        );
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(pod));
        }
        finding
    } else {
        let mut said = job_controller().once(format!("the pod has ended and Job {name} has counted it"));
        if counts_ended_only {
            said = said.now("its podReplacementPolicy Failed counts a pod only when it has ended");
        }
        let mut finding = Finding::new(
            Some(finalizer.clone()),
            Verdict::Waiting,
            said.now(format!("it is {phase}")),
        );
        finding.wait.on.push(Blocker::new(
            Some(pod.reference()),
            format!("{phase}, and not ended"),
        ));
        finding
    };
    finding.evidence.push(Evidence {
        source: format!("Job {}/{name} status", job.namespace()),
        value: format!(
            "not finished, {} active, {} succeeded, {} failed",
            Job(job).active(),
            Job(job).succeeded(),
            Job(job).failed()
        ),
        strength: Strength::Proof,
    });
    finding.do_not.push(format!(
        "remove {} by hand while Job {name} runs: it counts wrong, runs a piece of work again or never completes",
        finalizer.name
    ));
    finding
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::testing::{
        fixtures::controller_manager_lease,
        told::{commands, said, verdict},
        world::{World, bare as object},
    };

    const NAME: &str = "batch.kubernetes.io/job-tracking";

    fn pod() -> Object {
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {
                "name": "p", "namespace": "n", "uid": "1", "finalizers": [NAME],
                "deletionTimestamp": "2026-01-01T11:00:00Z", "deletionGracePeriodSeconds": 0,
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "2", "controller": true}],
            }, "status": {"phase": "Running"}}),
        )
    }

    /// The diagnosis with this Job, and without a Lease that shows a stopped kube-controller-manager.
    fn diagnosis_with(job: Option<Value>) -> crate::diagnose::Diagnosis {
        let job = job.map(|value| object("batch", "jobs", "Job", value));
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        World::closed()
            .object("batch", "jobs", "n", "j", job)
            .object(group, "leases", "kube-system", name, None)
            .explain(&pod())
    }

    #[test]
    fn a_job_that_is_gone_does_not_count_pods() {
        let diagnosis = diagnosis_with(None);
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
        assert!(
            commands(&diagnosis).contains("remove"),
            "{}",
            commands(&diagnosis)
        );
        let another = diagnosis_with(Some(
            json!({"metadata": {"name": "j", "namespace": "n", "uid": "other"}}),
        ));
        assert_eq!(verdict(&another, NAME), Some(Verdict::Stalled));
    }

    #[test]
    fn does_not_advise_removal_while_the_controller_manager_is_stopped() {
        let lease = controller_manager_lease("2026-01-01T11:50:00.000000Z");
        let diagnosis = World::closed()
            .object("batch", "jobs", "n", "j", None)
            .object(
                "coordination.k8s.io",
                "leases",
                "kube-system",
                "kube-controller-manager",
                Some(lease),
            )
            .explain(&pod());
        assert!(
            said(&diagnosis).contains("last renewed 10m ago"),
            "{}",
            said(&diagnosis)
        );
        assert!(!commands(&diagnosis).contains("remove") && !commands(&diagnosis).contains("nudge"));
    }

    #[test]
    fn does_not_advise_removal_if_the_controller_manager_is_unknown() {
        let diagnosis = World::closed()
            .object("batch", "jobs", "n", "j", None)
            .explain(&pod());
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
        assert!(
            !commands(&diagnosis).contains("remove"),
            "{}",
            commands(&diagnosis)
        );
    }

    #[test]
    fn a_job_that_cannot_be_read_is_unknown() {
        let diagnosis = World::closed().explain(&pod());
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Unknown));
        assert_eq!(commands(&diagnosis), "");
    }

    #[test]
    fn a_job_with_another_manager_is_left_to_that_manager() {
        let diagnosis = diagnosis_with(Some(json!({
            "metadata": {"name": "j", "namespace": "n", "uid": "2"}, "spec": {"managedBy": "kueue.x-k8s.io/multikueue"},
        })));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Unknown));
        assert!(said(&diagnosis).contains("kueue.x-k8s.io/multikueue"));
        assert!(!commands(&diagnosis).contains("remove"));
    }

    #[test]
    fn warns_against_removal_while_the_job_runs() {
        let diagnosis = diagnosis_with(Some(
            json!({"metadata": {"name": "j", "namespace": "n", "uid": "2"}}),
        ));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
        assert!(!commands(&diagnosis).contains("remove"));
        assert!(
            diagnosis
                .do_not
                .iter()
                .any(|text| text.contains("while Job j runs"))
        );
    }
}
