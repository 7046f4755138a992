//! `orphan`: an owner whose dependants are to outlive it.
//!
//! **Recognises** the finalizer on any object. **Why:** the garbage collector takes the owner out of the
//! `ownerReferences` of everything that names its uid, and only then this finalizer off; one update that is refused
//! keeps it. If it goes earlier the garbage collector finds objects whose owner is gone, and deletes them. Source:
//! `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` orphanDependents,
//! attemptToOrphanWorker. **Wants** what `foregroundDeletion` wants. **Concludes** `stalled` when it is late, with the
//! objects that still name it. **Advises** to take those references out, as the garbage collector would; never to take
//! the finalizer off before that.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::{namespace_flag, quoted},
            controller::Controller,
            garbage_collector::foreground_deletion::{Dependents, none_left, not_acting},
            verdicts,
        },
        limits,
        model::{Finding, Outlook, Safety, Step, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) fn dependents_not_orphaned(owner: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(owner, finalizer, None, view);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        format!(
            "removed by the garbage collector of kube-controller-manager{}, once it has taken this owner out of the \
             ownerReferences of all that it owns, so that those outlive it",
            holder.liveness()
        ),
    );
    holder.add_evidence(&mut finding);
    let found = match Dependents::of(owner, view, |_| true) {
        Ok(found) => found,
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "; which objects still name it is not known: {}",
                missing.in_words()
            ));
            return finding;
        }
    };
    finding.do_not.push(format!(
        "take {} off by hand, or delete it again with another --cascade, while an object still names it as owner: the \
         garbage collector then deletes that object (DATA LOSS)",
        finalizer.name
    ));
    let blockers = found.blockers(view, |_| "still names it as its owner".to_owned());
    if blockers.is_empty() {
        none_left(&mut finding, owner, &found, view);
        return finding;
    }
    finding.wait.verdict = verdicts::nothing_blocks(owner, view);
    if finding.wait.verdict == Verdict::Stalled {
        not_acting(&mut finding, &found, view);
        for dependent in found.objects.iter().take(limits::STEPS_FOR_EACH) {
            finding
                .steps
                .extend(by_hand(owner, dependent).into_iter().flatten());
        }
    }
    finding.wait.on.extend(blockers);
    finding.outlook.push(Outlook {
        when: "when it goes".into(),
        then: "what it owned stays".into(),
    });
    finding
}

/// What the garbage collector would do: first whether that is refused, then that.
fn by_hand(owner: &Object, dependent: &Object) -> Option<[Step; 2]> {
    let references = dependent.list("/metadata/ownerReferences");
    let index = references
        .iter()
        .position(|reference| reference.get("uid").and_then(Value::as_str) == Some(owner.uid()))?;
    let place = format!("/metadata/ownerReferences/{index}");
    let operations = json!([
        {"op": "test", "path": format!("{place}/uid"), "value": owner.uid()},
        {"op": "remove", "path": place},
    ]);
    let patch = format!(
        "kubectl{} patch {}/{} --type=json -p {}",
        namespace_flag(dependent),
        dependent.resource.name(),
        dependent.name(),
        quoted(&operations.to_string())
    );
    let name = format!("{} {}", dependent.kind, dependent.name());
    Some([
        Step {
            when: "what to do",
            text: format!(
                "see whether a webhook or a policy refuses that the owner is taken out of {name}; this changes nothing"
            ),
            command: Some(format!("{patch} --dry-run=server")),
            safety: Safety::Safe,
        },
        Step {
            when: advice::STILL_THERE,
            text: format!(
                "take the owner out of {name}, as the garbage collector would: it then outlives it"
            ),
            command: Some(patch),
            safety: Safety::Reversible,
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

    fn told(deleted: &str, left: &[Object]) -> Diagnosis {
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
                objects: left.to_vec(),
                gaps: Vec::new(),
            };
            world = world.answer(Query::Owned(place), Ok(Answer::Owned(found)));
        }
        for object in left {
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
    fn late_it_is_done_by_hand_for_each_that_is_left() {
        let told = told("2026-01-01T11:00:00Z", &[set()]);
        assert_eq!(verdict(&told, "orphan"), Some(Verdict::Stalled));
        assert!(commands(&told).contains("\"path\":\"/metadata/ownerReferences/1\""));
        assert!(!commands(&told).contains("--cascade"));
    }

    #[test]
    fn in_its_first_minute_it_only_waits() {
        let told = told("2026-01-01T11:59:30Z", &[set()]);
        assert_eq!(verdict(&told, "orphan"), Some(Verdict::Waiting));
        assert!(!commands(&told).contains("patch"));
    }

    #[test]
    fn with_none_left_a_second_deletion_is_safe() {
        let told = told("2026-01-01T11:00:00Z", &[]);
        assert_eq!(verdict(&told, "orphan"), Some(Verdict::Stalled));
        assert!(commands(&told).contains("--cascade=background"));
    }
}
