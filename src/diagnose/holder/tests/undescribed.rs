//! Tests controllers that the catalogue does not describe.

use serde_json::json;

use super::*;

#[test]
fn finds_an_undescribed_controller_by_its_rights() {
    let mut all = vec![deployment("ops", &json!({"app": "w"}), 1, 1)];
    all.extend(widget_rights("ops", "cert-manager"));
    let diagnosis = World::of(all).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Waiting, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("It likely runs. Deployment ops/cert-manager"),
        "{}",
        diagnosis.waits[0].says()
    );

    // No workload runs with the rights: one sign. No account has the rights: another sign. Both never occur
    // together.
    let diagnosis = World::of(widget_rights("ops", "cert-manager")).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    let diagnosis = World::default().explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(!advises_removal(&diagnosis));
}

#[test]
fn an_undescribed_controller_is_gone_by_two_signs() {
    let mut definition = definition();
    definition.value["metadata"]["name"] = "widgets.widgets.test".into();
    definition.value["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service":
        {"namespace": "ops", "name": "webhook"}}}});
    let diagnosis = World::of([definition]).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    assert!(
        diagnosis
            .steps
            .last()
            .is_some_and(|step| step.text.starts_with("DATA LOSS"))
    );
}
