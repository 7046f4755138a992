//! What several causes have in common: vetoes, and who has the last word on a controller.

use serde_json::json;

use super::{explain_of, lead_to_the_end};
use crate::{
    diagnose::{
        Verdict, Veto, holder,
        holder::Liveness,
        model::{Blocker, Finding, Safety, Step, When},
        testing::{
            fixtures::{LONG_AGO, controller_manager_lease, going},
            world::{World, object},
        },
        view,
    },
    knowledge::Knowledge,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::Object,
};

fn vetoes(world: &World, target: &Object) -> Vec<Veto> {
    let diagnosis = world.explain(target);
    diagnosis.waits.into_iter().flat_map(|wait| wait.vetoes).collect()
}

#[test]
fn an_uninstallation_that_is_not_confirmed_or_not_read_is_a_veto() {
    let volume = object(
        "longhorn.io",
        "volumes",
        "Volume",
        json!({"metadata": going("pvc-1", "longhorn-system", &["longhorn.io"])}),
    );
    let world = |value: &str| {
        let name = json!({"name": "deleting-confirmation-flag", "namespace": "longhorn-system"});
        let setting = json!({"metadata": name, "value": value});
        World::of([object("longhorn.io", "settings", "Setting", setting)]).serving(
            "longhorn.io",
            "settings",
            "Setting",
        )
    };
    let veto = [Veto::UninstallNotConfirmed];
    assert_eq!(vetoes(&world("false"), &volume), veto);
    assert_eq!(vetoes(&world("true").hiding("settings"), &volume), veto);
    assert_eq!(vetoes(&world("true"), &volume), []);
}

#[test]
fn a_stopped_controller_manager_is_a_veto_for_what_it_removes() {
    let claim = object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": going("data", "shop", &["kubernetes.io/pvc-protection"])}),
    );
    let world = |renewed| World::of([controller_manager_lease(renewed)]);
    assert_eq!(vetoes(&world(LONG_AGO), &claim), [Veto::ControllerManagerStopped]);
    assert_eq!(vetoes(&world("2026-01-01T11:59:55Z"), &claim), []);
}

#[test]
fn a_disk_that_its_node_reports_in_use_is_a_veto() {
    let mut metadata = going("va", "", &["external-attacher/d-example-com"]);
    metadata.as_object_mut().expect("an object").remove("namespace");
    let attachment = object(
        "storage.k8s.io",
        "volumeattachments",
        "VolumeAttachment",
        json!({"metadata": metadata, "spec": {"attacher": "d.example.com", "nodeName": "n1",
            "source": {"persistentVolumeName": "pv"}}, "status": {"attached": true}}),
    );
    let volume = object(
        "",
        "persistentvolumes",
        "PersistentVolume",
        json!({"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "d.example.com", "volumeHandle": "disk-1"}}}),
    );
    let node = |in_use: &str| {
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n1"}, "status": {"volumesInUse": [in_use],
                "conditions": [{"type": "Ready", "status": "True"}]}}),
        )
    };
    let veto = [Veto::DiskInUse { node: "n1".into() }];
    let (this, another, other_driver) = (
        "kubernetes.io/csi/d.example.com^disk-1",
        "kubernetes.io/csi/d.example.com^disk-2",
        "kubernetes.io/csi/e.example.com^disk-1",
    );
    assert_eq!(
        vetoes(&World::of([volume.clone(), node(this)]), &attachment),
        veto
    );
    assert_eq!(
        vetoes(&World::of([volume.clone(), node(another)]), &attachment),
        []
    );
    assert_eq!(vetoes(&World::of([volume, node(other_driver)]), &attachment), []);
    // Without the volume, nobody knows which disk it is.
    assert_eq!(vetoes(&World::of([node(another)]), &attachment), veto);
    assert_eq!(vetoes(&World::of([node(other_driver)]), &attachment), []);
}

#[test]
fn the_catalogue_alone_does_not_call_the_snapshot_controller_gone() {
    let name = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
    let snapshot = object(
        "snapshot.storage.k8s.io",
        "volumesnapshots",
        "VolumeSnapshot",
        json!({"metadata": going("snap", "ns", &[name]), "spec": {}}),
    );
    let finalizer = Finalizer {
        list: List::Metadata,
        name: name.into(),
    };
    let knowledge = Knowledge::builtin();
    let found = World::default().answered(|facts| {
        let view = view(facts, &knowledge);
        let found = holder::find(&snapshot, &finalizer, None, &view);
        (found, view.wanted())
    });
    assert_eq!(found.holder.liveness(), Liveness::Unknown, "{:#?}", found.holder);
    assert!(
        found
            .holder
            .unseen
            .iter()
            .any(|why| why.contains("(inconclusive)") || why.contains("inconclusive for")),
        "{:#?}",
        found.holder
    );
}

#[test]
fn a_look_at_a_blocker_leads_to_the_last_object_that_is_held_itself() {
    let reference = |name: &str| ObjectRef {
        type_name: "things.x.test".into(),
        kind: "Thing".into(),
        name: name.into(),
        ..ObjectRef::default()
    };
    let blocker = |name: &str, on: Vec<Blocker>| {
        let mut blocker = Blocker::new(Some(reference(name)), "");
        if !on.is_empty() {
            let mut wait = Finding::new(None, Verdict::Waiting, "").wait;
            wait.on = on;
            blocker.waits.push(wait);
        }
        blocker
    };
    let led_to = |blocker: Blocker| {
        let mut finding = Finding::new(None, Verdict::Waiting, "");
        finding.steps.push(Step {
            when: When::Now,
            text: "see what holds Thing first".into(),
            command: Some(explain_of(&reference("first"))),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
        finding.wait.on.push(blocker);
        lead_to_the_end(&mut finding);
        finding.steps.remove(0)
    };
    let chain = blocker("first", vec![blocker("node", vec![blocker("pod", vec![])])]);
    let step = led_to(chain);
    assert_eq!(step.command, Some(explain_of(&reference("node"))));
    assert!(
        step.text.starts_with("see what holds Thing node"),
        "{}",
        step.text
    );
    // What waits for nothing itself has nothing more to tell.
    for short in [
        blocker("first", vec![]),
        blocker("first", vec![blocker("pod", vec![])]),
    ] {
        assert_eq!(led_to(short).text, "see what holds Thing first");
    }
}
