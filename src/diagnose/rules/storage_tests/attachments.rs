//! Attachments, and the volumes behind them.

use super::{World, attachment, driver, pod, text, verdict, volume, warned};
use crate::diagnose::Verdict;

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
