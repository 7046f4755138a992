//! Attachments, and the volumes behind them.

use crate::diagnose::{
    Verdict,
    causes::storage::tests::{attachment, driver, pod, text, verdict, volume, warned},
    testing::world::World,
};

#[test]
fn attachments_hold_a_volume_and_are_held_by_what_the_driver_says() {
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
    warned(&diagnosis);
    let hidden = World::of([attachment("pv", true, ""), driver()]).hiding("persistentvolumes");
    assert_eq!(verdict(&hidden.explain_first()), Verdict::Unknown);

    // In use where it is attached: no fault, and no step.
    let used = World::of([attachment("pv", false, ""), held, pod("p", "Running")]).explain_first();
    assert_eq!(verdict(&used), Verdict::InUse);
    assert!(used.steps.is_empty());
}
