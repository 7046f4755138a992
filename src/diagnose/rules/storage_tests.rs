//! The storage rules on small worlds: some objects, what cannot be read, and what is then said.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    diagnose::{Diagnosis, Safety, Verdict, diagnose},
    knowledge::Knowledge,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
    },
};

const NOW: &str = "2026-01-01T12:00:00Z";
const LONG_AGO: &str = "2026-01-01T10:00:00Z";
const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

/// Objects, and the types that nobody may read.
#[derive(Default)]
struct World {
    objects: Vec<Object>,
    unreadable: Vec<&'static str>,
}

fn object(group: &str, plural: &str, kind: &str, value: Value) -> Object {
    Object {
        resource: Resource::new(group, plural),
        kind: kind.to_owned(),
        api_version: if group.is_empty() {
            "v1".into()
        } else {
            format!("{group}/v1")
        },
        value,
    }
}

fn metadata(name: &str, namespace: &str, finalizers: &[&str], deleted: bool) -> Value {
    let mut metadata = json!({"name": name, "uid": format!("uid-{name}"), "finalizers": finalizers});
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    if deleted {
        metadata["deletionTimestamp"] = json!(LONG_AGO);
        metadata["deletionGracePeriodSeconds"] = json!(0);
    }
    metadata
}

fn claim(finalizers: &[&str], deleted: bool) -> Object {
    let value = json!({"metadata": metadata("data", "ns", finalizers, deleted), "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound"}});
    object("", "persistentvolumeclaims", "PersistentVolumeClaim", value)
}

fn volume(finalizers: &[&str], policy: &str, phase: &str, deleted: bool) -> Object {
    let value = json!({"metadata": metadata("pv", "", finalizers, deleted), "status": {"phase": phase},
        "spec": {"persistentVolumeReclaimPolicy": policy, "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "uid-data"}}});
    object("", "persistentvolumes", "PersistentVolume", value)
}

fn pod(name: &str, phase: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        "spec": {"nodeName": "n1", "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]},
        "status": {"phase": phase}});
    object("", "pods", "Pod", value)
}

fn lease(name: &str, renewed: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"renewTime": renewed, "leaseDurationSeconds": 15}});
    object("coordination.k8s.io", "leases", "Lease", value)
}

fn attachment(volume: &str, deleted: bool, error: &str) -> Object {
    let value = json!({"metadata": metadata("va", "", &["external-attacher/d-example-com"], deleted),
        "spec": {"attacher": "d.example.com", "nodeName": "n1", "source": {"persistentVolumeName": volume}},
        "status": {"attached": true, "detachError": {"message": error}}});
    object("storage.k8s.io", "volumeattachments", "VolumeAttachment", value)
}

fn driver() -> Object {
    object(
        "storage.k8s.io",
        "csidrivers",
        "CSIDriver",
        json!({"metadata": {"name": "d.example.com"}}),
    )
}

fn csi_node(registered: &str) -> Object {
    let value = json!({"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": registered}]}});
    object("storage.k8s.io", "csinodes", "CSINode", value)
}

fn failed_delete(message: &str) -> Object {
    let value = json!({"metadata": {"name": "pv.1", "namespace": "default"}, "reason": "VolumeFailedDelete",
        "message": message, "lastTimestamp": "2026-01-01T11:59:00Z",
        "involvedObject": {"kind": "PersistentVolume", "name": "pv", "uid": "uid-pv"}});
    object("", "events", "Event", value)
}

fn snapshot_object(plural: &str, kind: &str, value: Value) -> Object {
    object("snapshot.storage.k8s.io", plural, kind, value)
}

impl World {
    /// These objects, in a namespace that exists.
    fn of(objects: impl IntoIterator<Item = Object>) -> Self {
        let namespace = object("", "namespaces", "Namespace", json!({"metadata": {"name": "ns"}}));
        World {
            objects: objects.into_iter().chain([namespace]).collect(),
            unreadable: Vec::new(),
        }
    }

    fn without(mut self, plural: &'static str) -> Self {
        self.unreadable.push(plural);
        self
    }

    fn answer(&self, query: &Query) -> Result<Answer, Why> {
        let of = |resource: &Resource, namespace: Option<&str>| {
            let (resource, namespace) = (resource.clone(), namespace.unwrap_or_default().to_owned());
            let fits = move |object: &&Object| {
                object.resource == resource && (namespace.is_empty() || object.namespace() == namespace)
            };
            self.objects.iter().filter(fits).cloned().collect::<Vec<_>>()
        };
        let hidden = |plural: &str| self.unreadable.contains(&plural);
        match query {
            Query::Object { resource, .. } | Query::List { resource, .. } if hidden(&resource.plural) => {
                Err(Why::Interrupted)
            }
            Query::Events { .. } if hidden("events") => Err(Why::Interrupted),
            Query::Object {
                resource,
                namespace,
                name,
            } => {
                let found = of(resource, namespace.as_deref());
                Ok(Answer::Object(
                    found.into_iter().find(|o| o.name() == name).map(Box::new),
                ))
            }
            Query::List { resource, namespace } => Ok(Answer::List(of(resource, namespace.as_deref()))),
            Query::Events { name, .. } => {
                let mut events = of(&Resource::new("", "events"), None);
                events.retain(|event| event.text("/involvedObject/name") == name);
                Ok(Answer::List(events))
            }
            Query::Content { .. } | Query::Search { .. } => Err(Why::Interrupted),
        }
    }

    /// What is said of the first object.
    fn explain(&self) -> Diagnosis {
        let mut facts = Facts {
            now: NOW.parse().expect("a time"),
            types: Vec::new(),
            gaps: Vec::new(),
            answers: BTreeMap::new(),
        };
        let knowledge = Knowledge::builtin();
        loop {
            let progress = diagnose(&self.objects[0], &facts, &knowledge);
            if progress.wanted.is_empty() {
                return progress.diagnosis;
            }
            for query in progress.wanted {
                let answer = self.answer(&query);
                facts.answers.insert(query, answer);
            }
        }
    }
}

/// All that is said, as one text.
fn text(diagnosis: &Diagnosis) -> String {
    format!("{diagnosis:?}")
}

fn verdict(diagnosis: &Diagnosis) -> Verdict {
    diagnosis.waits[0].verdict
}

/// No step that destroys comes without the word in front of it.
fn warned(diagnosis: &Diagnosis) {
    for step in &diagnosis.steps {
        let loud = step.text.contains("DATA LOSS") || step.text.contains("LEAKED INFRASTRUCTURE");
        let mild = step.text.contains("is lost")
            || step.text.contains("guards nothing")
            || step.text.contains("has no volume");
        assert!(step.safety != Safety::Destructive || loud || mild, "{step:?}");
    }
}

#[test]
fn ten_thousand_pods_are_summed_up() {
    let mut world = World::of([claim(&["kubernetes.io/pvc-protection"], true)]);
    world.objects.extend((0..10_000).map(|n| {
        let phase = if n % 2 == 0 { "Running" } else { "Succeeded" };
        pod(&format!("p{n}"), phase)
    }));
    let diagnosis = world.explain();
    assert_eq!(verdict(&diagnosis), Verdict::InUse);
    assert_eq!(diagnosis.waits[0].on.len(), 6);
    assert!(text(&diagnosis).contains("9995 more pods"));
    assert!(diagnosis.steps.len() < 12, "{:?}", diagnosis.steps);
    assert!(text(&diagnosis).len() < 20_000);
    warned(&diagnosis);
}

#[test]
fn a_pod_that_is_shut_down_holds_an_ordinary_claim_and_not_its_ephemeral_one() {
    let mut owned = claim(&["kubernetes.io/pvc-protection"], true);
    owned.value["metadata"]["name"] = json!("p-own");
    owned.value["metadata"]["ownerReferences"] =
        json!([{"kind": "Pod", "name": "p", "uid": "uid-p", "controller": true}]);
    let mut user = pod("p", "Running");
    user.value["spec"]["volumes"] = json!([{"name": "own", "ephemeral": {}}]);
    assert_eq!(
        verdict(&World::of([owned.clone(), user.clone()]).explain()),
        Verdict::InUse
    );
    user.value["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
    user.value["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    assert_eq!(
        verdict(&World::of([owned.clone(), user.clone()]).explain()),
        Verdict::Stalled
    );
    user.value["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "p-own"}}]);
    assert_eq!(verdict(&World::of([owned, user]).explain()), Verdict::InUse);
}

#[test]
fn a_claim_without_the_right_to_see_pods_is_unknown() {
    let world = World::of([
        claim(&["kubernetes.io/pvc-protection"], true),
        pod("p", "Running"),
    ])
    .without("pods");
    let diagnosis = world.explain();
    assert_eq!(verdict(&diagnosis), Verdict::Unknown);
    assert_eq!(diagnosis.gaps.len(), 1);
    assert!(diagnosis.steps.is_empty());
}

#[test]
fn a_replica_set_is_stopped_through_its_deployment() {
    let mut user = pod("p", "Running");
    user.value["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "web-1", "controller": true}]);
    let owner = json!({"metadata": {"name": "web-1", "namespace": "ns",
        "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]}});
    let set = object("apps", "replicasets", "ReplicaSet", owner);
    let world = World::of([claim(&["kubernetes.io/pvc-protection"], true), user, set]);
    let commands: Vec<_> = world
        .explain()
        .steps
        .into_iter()
        .filter_map(|s| s.command)
        .collect();
    assert!(
        commands.contains(&"kubectl -n ns scale deployment web --replicas=0".to_owned()),
        "{commands:?}"
    );
}

#[test]
fn the_driver_is_gone_only_by_two_signs_that_agree() {
    let released = || volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let verdict_of = |world: World| verdict(&world.explain());
    // One sign, or one that it is there.
    assert_eq!(verdict_of(World::of([released()])), Verdict::Stalled);
    assert_eq!(
        verdict_of(World::of([released(), stale(), driver()])),
        Verdict::Stalled
    );
    let renewed = lease("d-example-com", "2026-01-01T11:59:58Z");
    assert_eq!(
        verdict_of(World::of([released(), renewed, csi_node("other")])),
        Verdict::Stalled
    );
    // Two against one that it is there.
    let world = World::of([released(), stale(), driver(), csi_node("other.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    let world = World::of([released(), stale(), csi_node("d.example.com")]);
    assert_eq!(verdict_of(world), Verdict::Stalled);
    // Two.
    assert_eq!(verdict_of(World::of([released(), stale()])), Verdict::Orphaned);
    let diagnosis = World::of([released(), csi_node("other.example.com")]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
    assert!(text(&diagnosis).contains("LEAKED INFRASTRUCTURE: take this one finalizer off"));
    warned(&diagnosis);
    // What cannot be read is no sign.
    for hidden in ["csidrivers", "csinodes", "leases"] {
        let world = World::of([released(), stale()]).without(hidden);
        assert_eq!(verdict_of(world), Verdict::Stalled, "{hidden}");
    }
}

#[test]
fn who_was_heard_of_lately_and_who_is_no_csi_driver_is_not_gone() {
    let released = volume(&[PROVISIONER], "Delete", "Released", true);
    let stale = || lease("d-example-com", LONG_AGO);
    let heard = World::of([released.clone(), stale(), failed_delete("denied")]).explain();
    assert_eq!(verdict(&heard), Verdict::Failing);
    let mut nfs = released;
    nfs.value["spec"]["csi"] = Value::Null;
    nfs.value["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "example.com/nfs"});
    let other = World::of([nfs, csi_node("d.example.com")]).explain();
    assert_eq!(verdict(&other), Verdict::Stalled);
    assert!(!text(&other).contains("not installed"));
}

#[test]
fn a_stateful_set_that_deletes_its_claims_is_not_scaled_down_lightly() {
    let mut user = pod("web-0", "Running");
    user.value["metadata"]["ownerReferences"] =
        json!([{"kind": "StatefulSet", "name": "web", "controller": true}]);
    let set = |policy: &str| {
        let value = json!({"metadata": {"name": "web", "namespace": "ns"},
            "spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": policy}}});
        object("apps", "statefulsets", "StatefulSet", value)
    };
    let world = |policy: &str| {
        World::of([
            claim(&["kubernetes.io/pvc-protection"], true),
            user.clone(),
            set(policy),
        ])
    };
    let scale = |world: World| {
        let steps = world.explain().steps;
        let found = steps
            .into_iter()
            .find(|step| step.text.contains("stop StatefulSet web"));
        found.expect("a step").text
    };
    assert!(!scale(world("Retain")).contains("DATA LOSS"));
    assert!(scale(world("Delete")).starts_with("DATA LOSS"));
    assert!(scale(world("Retain").without("statefulsets")).starts_with("DATA LOSS is possible"));
}

#[test]
fn a_driver_that_refuses_is_quoted_and_without_events_it_is_unknown() {
    let objects = || {
        [
            volume(&[PROVISIONER], "Delete", "Released", true),
            driver(),
            failed_delete("rpc error: disk is on fire"),
        ]
    };
    let diagnosis = World::of(objects()).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert!(
        diagnosis.waits[0]
            .says
            .contains("it failed 60s ago: rpc error: disk is on fire"),
        "{diagnosis:?}"
    );
    warned(&diagnosis);
    for hidden in ["events", "volumeattachments"] {
        let diagnosis = World::of(objects()).without(hidden).explain();
        let expected = if hidden == "events" {
            Verdict::Unknown
        } else {
            Verdict::Failing
        };
        assert_eq!(verdict(&diagnosis), expected);
        assert!(!diagnosis.gaps.is_empty());
    }
}

#[test]
fn retain_lets_go_and_the_phases_that_are_never_reclaimed_do_not() {
    for phase in ["Bound", "Released", "Available", "Failed"] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Retain", phase, true), driver()]).explain();
        assert_eq!(verdict(&diagnosis), Verdict::Stalled);
        assert!(text(&diagnosis).contains("the disk stays"));
    }
    for phase in ["Available", "Failed", ""] {
        let diagnosis = World::of([volume(&[PROVISIONER], "Delete", phase, true), driver()]).explain();
        assert!(text(&diagnosis).contains("it stays for ever"), "{phase}");
    }
    // In-tree, Failed is tried again.
    let mut failed = volume(&["kubernetes.io/pv-controller"], "Delete", "Failed", true);
    failed.value["status"]["message"] = json!("no volume plugin matched");
    let diagnosis = World::of([failed]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Failing);
    assert!(!text(&diagnosis).contains("for ever"));
}

#[test]
fn a_volume_deleted_first_is_destroyed_or_leaked_with_its_claim() {
    let both = ["kubernetes.io/pv-protection", PROVISIONER];
    let diagnosis = World::of([volume(&both, "Delete", "Bound", true), claim(&[], false)]).explain();
    assert!(text(&diagnosis).contains("IS DESTROYED") && !text(&diagnosis).contains("IS LEAKED"));
    let diagnosis = World::of([volume(&both[..1], "Delete", "Bound", true), claim(&[], false)]).explain();
    assert!(text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("IS DESTROYED"));
    warned(&diagnosis);
    let diagnosis = World::of([volume(&both[..1], "Retain", "Bound", true), claim(&[], false)]).explain();
    assert!(!text(&diagnosis).contains("IS LEAKED") && !text(&diagnosis).contains("DATA LOSS"));
    let hidden = World::of([volume(&both, "Delete", "Bound", true)]).without("persistentvolumeclaims");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);
}

#[test]
fn attachments_hold_a_volume_and_are_held_by_what_the_driver_says() {
    let held = volume(&["external-attacher/d-example-com"], "Delete", "Released", true);
    let diagnosis = World::of([held.clone(), attachment("pv", true, "device is busy"), driver()]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    assert!(text(&diagnosis).contains("device is busy"));
    assert_eq!(
        verdict(&World::of([held.clone(), driver()]).explain()),
        Verdict::Stalled
    );
    let hidden = World::of([held.clone(), driver()]).without("volumeattachments");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);

    let diagnosis = World::of([attachment("pv", true, ""), driver()]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(text(&diagnosis).contains("volume pv does not exist any more"));
    warned(&diagnosis);
    let hidden = World::of([attachment("pv", true, ""), driver()]).without("persistentvolumes");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);

    // In use where it is attached: no fault, and no step.
    let used = World::of([attachment("pv", false, ""), held, pod("p", "Running")]).explain();
    assert_eq!(verdict(&used), Verdict::InUse);
    assert!(used.steps.is_empty());
}

#[test]
fn an_interrupted_restore_leaves_one_finalizer_that_guards_nothing() {
    let name = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection";
    let bound = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
    let value = json!({"metadata": metadata("snap", "ns", &[name], true), "spec": {}});
    let snapshot = snapshot_object("volumesnapshots", "VolumeSnapshot", value);
    let diagnosis = World::of([snapshot.clone()]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    let step = diagnosis
        .steps
        .iter()
        .find(|s| s.text.contains("interrupted restore"))
        .expect("a step");
    let command = step.command.as_deref().unwrap_or_default();
    assert!(command.contains(name) && !command.contains(bound), "{command}");
    let mut restored = claim(&[], false);
    restored.value["spec"]["dataSource"] = json!({"kind": "VolumeSnapshot", "name": "snap"});
    restored.value["status"]["phase"] = json!("Pending");
    let diagnosis = World::of([snapshot.clone(), restored]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    warned(&diagnosis);
    let hidden = World::of([snapshot]).without("persistentvolumeclaims");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);
}

#[test]
fn a_claim_is_kept_while_it_is_copied() {
    let snapshotted = "snapshot.storage.kubernetes.io/pvc-as-source-protection";
    let source = claim(&[snapshotted], true);
    let taken = |ready: bool| {
        let value = json!({"metadata": {"name": "s", "namespace": "ns"},
            "spec": {"source": {"persistentVolumeClaimName": "data"}}, "status": {"readyToUse": ready}});
        snapshot_object("volumesnapshots", "VolumeSnapshot", value)
    };
    let diagnosis = World::of([source.clone(), taken(false)]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    warned(&diagnosis);
    // Ready, and still there: only a change of a snapshot makes the controller look.
    let diagnosis = World::of([source.clone(), taken(true)]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    let first = diagnosis.steps[0].command.as_deref().unwrap_or_default();
    assert!(
        first.contains("annotate volumesnapshots.snapshot.storage.k8s.io/s"),
        "{first}"
    );
    let hidden = World::of([source]).without("volumesnapshots");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);

    let cloned = claim(&["provisioner.storage.kubernetes.io/cloning-protection"], true);
    let mut copy = claim(&[], false);
    copy.value["metadata"]["name"] = json!("copy");
    copy.value["spec"]["dataSource"] = json!({"kind": "PersistentVolumeClaim", "name": "data"});
    copy.value["status"]["phase"] = json!("Pending");
    assert_eq!(
        verdict(&World::of([cloned.clone(), copy.clone()]).explain()),
        Verdict::Waiting
    );
    copy.value["status"]["phase"] = json!("Bound");
    assert_eq!(verdict(&World::of([cloned, copy]).explain()), Verdict::Stalled);
}

#[test]
fn a_content_needs_its_mark() {
    let protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
    let made = |annotation: &str, policy: &str| {
        let mut value = json!({"metadata": metadata("c", "", &[protection], true),
            "spec": {"driver": "d.example.com", "deletionPolicy": policy, "source": {"volumeHandle": "disk-1"},
                "volumeSnapshotRef": {"namespace": "ns", "name": "s", "uid": "uid-s"}},
            "status": {"snapshotHandle": "snap-1"}});
        if !annotation.is_empty() {
            value["metadata"]["annotations"] = json!({annotation: "yes"});
        }
        snapshot_object("volumesnapshotcontents", "VolumeSnapshotContent", value)
    };
    let diagnosis = World::of([made("", "Delete"), driver()]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(text(&diagnosis).contains("it stays for ever") && text(&diagnosis).contains("DATA LOSS"));
    warned(&diagnosis);
    let diagnosis = World::of([made("", "Retain"), driver()]).explain();
    assert!(!text(&diagnosis).contains("DATA LOSS"));
    let marked = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted";
    let diagnosis = World::of([made(marked, "Delete"), driver()]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(!text(&diagnosis).contains("for ever"));
    let stale = lease("external-snapshotter-leader-d-example-com", LONG_AGO);
    let diagnosis = World::of([made(marked, "Delete"), stale]).explain();
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned);
    let hidden = World::of([made("", "Delete"), driver()]).without("volumesnapshots");
    assert_eq!(verdict(&hidden.explain()), Verdict::Unknown);
}
