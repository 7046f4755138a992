//! Attachments and their volumes.

use crate::diagnose::{
    Verdict,
    causes::storage::tests::{assert_destructive_steps_warn, attachment, driver, pod, text, verdict, volume},
    testing::world::World,
};

#[test]
fn a_volume_waits_for_its_attachments_and_shows_the_error_of_the_driver() {
    let held = volume(&["external-attacher/d-example-com"], "Delete", "Released", true);
    let diagnosis =
        World::of([held.clone(), attachment("pv", true, "device is busy"), driver()]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Waiting);
    assert!(text(&diagnosis).contains("device is busy"));
    assert_eq!(
        verdict(&World::of([held.clone(), driver()]).explain_first()),
        Verdict::Stalled
    );
    let hidden = World::of([held.clone(), driver()]).hiding("volumeattachments");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);

    let diagnosis = World::of([attachment("pv", true, ""), driver()]).explain_first();
    assert_eq!(verdict(&diagnosis), Verdict::Stalled);
    assert!(text(&diagnosis).contains("volume pv does not exist any more"));
    assert_destructive_steps_warn(&diagnosis);
    let hidden = World::of([attachment("pv", true, ""), driver()]).hiding("persistentvolumes");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);

    // The disk is in use where it is attached: no fault, and no step.
    let used = World::of([attachment("pv", false, ""), held, pod("p", "Running")]).explain_first();
    assert_eq!(verdict(&used), Verdict::InUse);
    assert!(used.steps.is_empty());
}

#[test]
fn a_detaching_disk_names_its_volume_its_claim_and_the_pods_that_use_it() {
    let held = volume(&["external-attacher/d-example-com"], "Delete", "Bound", false);
    let detaching = || attachment("pv", true, "");
    let used = World::of([detaching(), held.clone(), driver(), pod("p", "Running")]).explain_first();
    let said = text(&used);
    assert!(
        said.contains("It attaches pv/pv, the disk of pvc/data -n ns"),
        "{said}"
    );
    assert!(said.contains("Pod p on node n1 uses that claim"), "{said}");
    // A Pod that has ended uses no disk.
    let ended = World::of([detaching(), held.clone(), driver(), pod("p", "Succeeded")]).explain_first();
    assert!(text(&ended).contains("No Pod on node n1 uses that claim"));
    let hidden = World::of([detaching(), held, driver()])
        .hiding("pods")
        .explain_first();
    assert!(text(&hidden).contains("which Pods on node n1 use that claim is not known"));
}
