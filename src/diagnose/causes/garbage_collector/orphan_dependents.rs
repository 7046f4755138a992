//! `orphan`: an owner whose dependents are to outlive it.
//!
//! # Symptom
//!
//! An object was deleted with `--cascade=orphan`, and stays with the finalizer `orphan`.
//!
//! ```text
//! $ kubectl finalizers explain replicasets.apps/web -n shop --from tests/causes/garbage_collector.yaml
//! ```
//!
//! # Why
//!
//! The garbage collector removes the owner from the `ownerReferences` of every object that names its uid. Only then it
//! removes this finalizer. One rejected update keeps the finalizer.
//!
//! # Before you act
//!
//! See which objects still name the owner, and whether their updates are rejected.
//!
//! # If it was a mistake
//!
//! The owner cannot be kept. Its dependents are kept: that is what `orphan` is for.
//!
//! # If it was intended
//!
//! Let the garbage collector finish. If it is late, remove the references from the dependents, as it would. If none is
//! left, delete the owner once more.
//!
//! # Do not
//!
//! Do not remove the finalizer before that. The garbage collector then finds objects whose owner is gone, and deletes
//! them.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | the garbage collector had less than a minute |
//! | stalled | it is late; the objects that still name the owner are named |
//! | unknown | a type could not be listed |
//!
//! # What it reads
//!
//! The same as for `foregroundDeletion`: all objects that name the uid of the owner.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` orphanDependents,
//!   attemptToOrphanWorker

use serde_json::json;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            garbage_collector::foreground_deletion::{
                Dependents, add_late_garbage_collector, add_no_dependents,
            },
            verdicts,
        },
        kinds::OwnerReference,
        limits,
        model::{Finding, Moment, Outlook, Page, Safety, Step, Verdict, When},
        removal::Veto,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Named("orphan"),
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Finalizer(dependents_not_orphaned),
};

fn dependents_not_orphaned(owner: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(owner, finalizer, None, view);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        holder
            .removes("kube-controller-manager")
            .part("garbage collector")
            .once(
                "it has taken this owner out of the ownerReferences of all that it owns, so that those outlive it",
            ),
    );
    finding.tell_of(Page::of(module_path!()));
    holder.add_evidence(&mut finding);
    let dependents = match Dependents::of(owner, view, |_| true) {
        Ok(dependents) => dependents,
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "which objects still name it is not known: {}",
                missing.in_words()
            ));
            return finding;
        }
    };
    finding.do_not.push(format!(
        "take {} off by hand, or delete it again with another --cascade. The garbage collector then deletes each object \
         that still names it as owner (DATA LOSS)",
        finalizer.name
    ));
    let blockers = dependents.blockers(view, |_| "still names it as its owner".to_owned());
    if blockers.is_empty() {
        add_no_dependents(&mut finding, owner, &dependents, view);
        return finding;
    }
    finding.wait.verdict = verdicts::nothing_blocks(owner, view);
    finding.forbid(Veto::DependentsWouldGo);
    if finding.wait.verdict == Verdict::Stalled {
        add_late_garbage_collector(&mut finding, &dependents, view);
        for dependent in dependents.objects.iter().take(limits::STEPS_FOR_EACH) {
            finding
                .steps
                .extend(orphan_steps(owner, dependent).into_iter().flatten());
        }
    }
    finding.wait.on.extend(blockers);
    finding.outlook.push(Outlook {
        when: Moment::Goes,
        then: "what it owned stays".into(),
    });
    finding
}

/// The steps that do the work of the garbage collector: first the dry run, then the update.
fn orphan_steps(owner: &Object, dependent: &Object) -> Option<[Step; 2]> {
    let index = OwnerReference::all(dependent).position(|reference| reference.is_to(owner))?;
    let reference_path = OwnerReference::pointer(index);
    let operations = json!([
        {"op": "test", "path": format!("{reference_path}/uid"), "value": owner.uid()},
        {"op": "remove", "path": reference_path},
    ]);
    let patch = Command::json_patch(
        &dependent.resource.name(),
        dependent.name(),
        dependent.namespace(),
        &operations.to_string(),
    );
    let name = format!("{} {}", dependent.kind, dependent.name());
    Some([
        Step {
            when: When::Now,
            text: format!(
                "see whether a webhook or a policy refuses that the owner is taken out of {name}; this changes nothing"
            ),
            command: Some(patch.clone().with("--dry-run=server")),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
        Step {
            when: When::StillThere,
            text: format!(
                "take the owner out of {name}, as the garbage collector would: it then outlives it"
            ),
            command: Some(patch),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diagnose::{
            Diagnosis,
            testing::{
                told::{commands, verdict},
                world::{World, bare as object},
            },
        },
        snapshot::facts::{Answer, Owned, Query, Where},
    };

    fn explain_with(deleted: &str, remaining: &[Object]) -> Diagnosis {
        let owner = object(
            "apps",
            "deployments",
            "Deployment",
            json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u1", "finalizers": ["orphan"],
                "deletionTimestamp": deleted}}),
        );
        let mut world = World::closed().with_type("apps", "replicasets").object(
            "coordination.k8s.io",
            "leases",
            "kube-system",
            "kube-controller-manager",
            None,
        );
        for place in [Where::Namespace("ns".into()), Where::Owner("u1".into())] {
            let found = Owned {
                objects: remaining.to_vec(),
                gaps: Vec::new(),
            };
            world = world.answer(Query::Owned(place), Ok(Answer::Owned(found)));
        }
        for object in remaining {
            world = world.object("apps", "replicasets", "ns", object.name(), Some(object.clone()));
        }
        world.explain(&owner)
    }

    fn set() -> Object {
        object(
            "apps",
            "replicasets",
            "ReplicaSet",
            json!({"metadata": {"name": "web-1", "namespace": "ns", "uid": "u2", "ownerReferences": [
                {"uid": "other"}, {"uid": "u1", "blockOwnerDeletion": false}]}}),
        )
    }

    #[test]
    fn advises_to_orphan_each_dependent_if_the_garbage_collector_is_late() {
        let diagnosis = explain_with("2026-01-01T11:00:00Z", &[set()]);
        assert_eq!(verdict(&diagnosis, "orphan"), Some(Verdict::Stalled));
        assert!(commands(&diagnosis).contains("\"path\":\"/metadata/ownerReferences/1\""));
        assert!(!commands(&diagnosis).contains("--cascade"));
        assert_eq!(diagnosis.waits[0].vetoes, [Veto::DependentsWouldGo]);
    }

    #[test]
    fn only_waits_in_the_first_minute() {
        let diagnosis = explain_with("2026-01-01T11:59:30Z", &[set()]);
        assert_eq!(verdict(&diagnosis, "orphan"), Some(Verdict::Waiting));
        assert!(!commands(&diagnosis).contains("patch"));
    }

    #[test]
    fn advises_a_second_deletion_if_no_dependent_is_left() {
        let diagnosis = explain_with("2026-01-01T11:00:00Z", &[]);
        assert_eq!(verdict(&diagnosis, "orphan"), Some(Verdict::Stalled));
        assert!(commands(&diagnosis).contains("--cascade=background"));
        assert_eq!(diagnosis.waits[0].vetoes, []);
    }
}
