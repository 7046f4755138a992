//! `resource.kubernetes.io/delete-protection`: a device that pods have reserved.
//!
//! **Recognises** the finalizer on a `ResourceClaim`. **Why:** the controller takes it off when nobody is left in
//! `status.reservedFor`, and clears the allocation before. It drops a pod that is gone, was replaced, has finished, or is
//! being deleted without ever having had a node; a pod that is being deleted and still runs stays. An entry of another
//! sort than a pod (or, where the feature is on, a `PodGroup`) it never drops. Source:
//! `kubernetes/kubernetes:pkg/controller/resourceclaim/controller.go` syncClaim, isPodDone. **Wants** those pods, and who
//! makes them. **Concludes** `in-use` with them; `waiting` for an entry that somebody else must drop; without any
//! `stalled`. **Advises** to stop the pods, and never to remove the finalizer: the scheduler would give the device away.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        causes::{
            advice, cause::Cause, controller::Controller, pods::stop_consumers::release,
            storage::pvc_protection, verdicts,
        },
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::{Finalizer, join_group},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    group: "resource.k8s.io",
    plural: "resourceclaims",
    finalizer: "resource.kubernetes.io/delete-protection",
    explain: reserved,
};

/// Who is left in `status.reservedFor`.
#[derive(Default)]
struct Reserved<'a> {
    pods: Vec<&'a Object>,
    /// Entries that the controller does not drop: their place in the list, and what they name.
    others: Vec<(usize, String)>,
    /// Pods that could not be looked at.
    unseen: Option<Missing>,
    /// How many will be dropped at the next look.
    done: usize,
}

fn reserved(device: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(device, finalizer, None, view);
    let entries = device.list("/status/reservedFor");
    let found = who(device, entries, view);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdict(device, &found, view),
        format!(
            "removed by kube-controller-manager (resourceclaim controller){}, once nobody is left in status.reservedFor",
            holder.liveness()
        ),
    );
    holder.add_evidence(&mut finding);
    finding.wait.on = pvc_protection::blockers(&found.pods, view);
    for (place, name) in &found.others {
        finding.wait.on.push(Blocker::new(
            None,
            format!("status.reservedFor[{place}] names {name}, and Kubernetes never drops such an entry: whoever wrote it must"),
        ));
    }
    if let Some(missing) = &found.unseen {
        finding.say(format!(
            "; whether its pods still use it is not known: {}",
            missing.in_words()
        ));
    }
    if entries.is_empty() {
        finding.say("; nobody is");
    } else if found.done == entries.len() {
        finding.say("; all that it names have finished or are gone, and are dropped by the next look");
    }
    finding.evidence.push(Evidence {
        source: format!("ResourceClaim {} status.reservedFor", device.name()),
        value: format!(
            "{} entries; {} pods that still count",
            entries.len(),
            found.pods.len()
        ),
        strength: Strength::Proof,
    });
    advise(&mut finding, device, &found, view);
    finding.do_not.push(format!(
        "remove {} by hand: the scheduler forgets that the device is taken, and may give it to a second pod while the \
         first still uses it",
        finalizer.name
    ));
    finding
}

fn verdict(device: &Object, found: &Reserved<'_>, view: &View<'_>) -> Verdict {
    if !found.pods.is_empty() {
        Verdict::InUse
    } else if found.unseen.is_some() {
        Verdict::Unknown
    } else if !found.others.is_empty() {
        Verdict::Waiting
    } else {
        verdicts::nothing_blocks(device, view)
    }
}

fn who<'a>(device: &Object, entries: &[Value], view: &View<'a>) -> Reserved<'a> {
    let mut found = Reserved::default();
    for (place, entry) in entries.iter().enumerate().take(limits::CONSUMERS) {
        let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let (group, resource, name) = (field("apiGroup"), field("resource"), field("name"));
        if (group, resource) != ("", "pods") {
            found
                .others
                .push((place, format!("{} {name}", join_group(resource, group))));
            continue;
        }
        match view.object("", "pods", device.namespace(), name) {
            Ok(Some(pod)) if pod.uid() == field("uid") && !is_done(pod) => found.pods.push(pod),
            Ok(_) => found.done += 1,
            Err(missing) => found.unseen = Some(missing),
        }
    }
    found
}

/// The controller's own predicate.
fn is_done(pod: &Object) -> bool {
    pvc_protection::is_finished(pod) || pod.deletion().is_some() && pod.text("/spec/nodeName").is_empty()
}

fn advise(finding: &mut Finding, device: &Object, found: &Reserved<'_>, view: &View<'_>) {
    let going = device.deletion().is_some();
    if !found.pods.is_empty() {
        let when = if going {
            "if nothing is done"
        } else {
            "if it is deleted now"
        };
        finding.outlook.push(Outlook {
            when: when.into(),
            then: "it stays, Terminating, and its pods keep the device, until they have finished; no new pod can use the claim"
                .into(),
        });
    }
    if !going {
        return;
    }
    finding.steps.extend(release(device, &found.pods, view));
    for (place, name) in &found.others {
        finding.steps.push(drop_entry(device, *place, name));
    }
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(device));
    }
}

/// What whoever wrote the entry would do.
fn drop_entry(device: &Object, place: usize, name: &str) -> Step {
    let entry = format!("/status/reservedFor/{place}");
    let uid = device.text(&format!("{entry}/uid"));
    let operations = json!([
        {"op": "test", "path": format!("{entry}/uid"), "value": uid},
        {"op": "remove", "path": entry},
    ]);
    Step {
        when: "whoever wrote it is gone?",
        text: format!(
            "DEVICE GIVEN AWAY while it is in use, unless {name} has really stopped using it: drop this one entry. With no \
             entry left the controller clears the allocation and finishes by itself"
        ),
        command: Some(format!(
            "kubectl -n {} patch resourceclaim {} --subresource=status --type=json -p {}",
            device.namespace(),
            device.name(),
            advice::quoted(&operations.to_string())
        )),
        safety: Safety::Destructive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::testing::{
        told::{commands, said, verdict},
        world::{World, bare as object},
    };

    const NAME: &str = "resource.kubernetes.io/delete-protection";

    fn device(reserved: &Value) -> Object {
        object(
            "resource.k8s.io",
            "resourceclaims",
            "ResourceClaim",
            json!({"metadata": {"name": "gpu", "namespace": "n", "uid": "c", "finalizers": [NAME],
                "deletionTimestamp": "2026-01-01T11:00:00Z"}, "status": {"reservedFor": reserved}}),
        )
    }

    fn pod(uid: &str, phase: &str) -> Object {
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "p", "namespace": "n", "uid": uid}, "spec": {"nodeName": "a"},
                "status": {"phase": phase}}),
        )
    }

    #[test]
    fn a_pod_counts_as_long_as_it_runs_and_is_the_same() {
        let entry = json!([{"resource": "pods", "name": "p", "uid": "1"}]);
        for (found, expected) in [
            (Some(pod("1", "Running")), Verdict::InUse),
            (Some(pod("1", "Succeeded")), Verdict::Stalled),
            (Some(pod("2", "Running")), Verdict::Stalled),
            (None, Verdict::Stalled),
        ] {
            let told = World::closed()
                .object("", "pods", "n", "p", found)
                .explain(&device(&entry));
            assert_eq!(verdict(&told, NAME), Some(expected), "{}", said(&told));
        }
        let told = World::closed().explain(&device(&entry));
        assert_eq!(verdict(&told, NAME), Some(Verdict::Unknown));
    }

    #[test]
    fn what_is_no_pod_is_never_dropped() {
        let entry = json!([{"apiGroup": "jobs.test", "resource": "runs", "name": "r", "uid": "7"}]);
        let told = World::closed().explain(&device(&entry));
        assert_eq!(verdict(&told, NAME), Some(Verdict::Waiting));
        assert!(said(&told).contains("names runs.jobs.test r, and Kubernetes never drops"));
        assert!(commands(&told).contains("\"value\":\"7\""), "{}", commands(&told));
    }
}
