//! Limits the length of quoted text. A driver may put a stack trace into a condition, and any user with the
//! right to write a status may put megabytes there. Every text of a diagnosis is limited, whichever cause made
//! it. Commands are never shortened.

use crate::diagnose::{
    limits,
    model::{Blocker, Diagnosis, Wait},
};

/// Shortens every text of a diagnosis that is too long.
pub(super) fn shorten_texts(diagnosis: &mut Diagnosis) {
    shorten(&mut diagnosis.headline);
    diagnosis.waits.iter_mut().for_each(wait);
    for outlook in &mut diagnosis.outlook {
        shorten(&mut outlook.then);
    }
    for step in &mut diagnosis.steps {
        shorten(&mut step.text);
        for one in &mut step.lets_go {
            shorten(&mut one.what);
            shorten(&mut one.why);
        }
    }
    diagnosis.do_not.iter_mut().for_each(shorten);
    for evidence in &mut diagnosis.evidence {
        shorten(&mut evidence.value);
    }
}

fn wait(wait: &mut Wait) {
    let said = &mut wait.said;
    let signs = said
        .controller
        .iter_mut()
        .flat_map(|controller| &mut controller.signs);
    signs
        .chain(&mut said.once)
        .chain(&mut said.work)
        .chain(&mut said.now)
        .for_each(shorten);
    wait.on.iter_mut().for_each(self::blocker);
}

fn blocker(blocker: &mut Blocker) {
    shorten(blocker.says.text_to_shorten());
    blocker.on.iter_mut().for_each(self::blocker);
    blocker.waits.iter_mut().for_each(wait);
}

/// Shortens a text to the maximum number of characters, and shows that with `…`.
pub(super) fn shorten(text: &mut String) {
    // Most texts are short enough even in bytes.
    if text.len() > limits::TEXT
        && let Some((end, _)) = text.char_indices().nth(limits::TEXT)
    {
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        diagnose::{
            diagnose,
            testing::world::{World, object},
        },
        knowledge::Knowledge,
        snapshot::facts::Object,
    };

    const MEGABYTES: usize = 3_000_000;

    /// A long text with control characters for terminals and with characters of several bytes.
    fn long_text() -> String {
        "\u{1b}[2Jfailed ✗ ".repeat(MEGABYTES / 16)
    }

    fn held(group: &str, plural: &str, kind: &str, finalizer: &str, more: &Value) -> Object {
        let mut value = json!({"metadata": {"name": "a", "finalizers": [finalizer],
            "deletionTimestamp": "2026-01-01T11:58:00Z", "deletionGracePeriodSeconds": 0}});
        let fields = value.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("fields").clone());
        object(group, plural, kind, value)
    }

    fn challenge() -> Object {
        let condition = json!({"type": "DeletionFailed", "status": "True", "reason": long_text(), "message": long_text(),
            "lastTransitionTime": "2026-01-01T11:59:00Z"});
        held(
            "acme.cert-manager.io",
            "challenges",
            "Challenge",
            "finalizer.acme.cert-manager.io",
            &json!({"status": {"conditions": [condition, 7, null, [], {"message": {}}]}}),
        )
    }

    /// Explains without the check with fewer facts: the rest of a shortened text depends on what precedes it.
    fn explained(cluster: &World, target: &Object) -> String {
        let knowledge = Knowledge::builtin();
        let diagnosis = cluster.answered(|facts| {
            let progress = diagnose(target, facts, &knowledge);
            (progress.diagnosis, progress.wanted)
        });
        format!("{diagnosis:?}")
    }

    fn deployment(ready: u32) -> Object {
        let labels = labels();
        let value = json!({"metadata": {"name": "cert-manager", "namespace": "cert-manager", "labels": labels},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}},
            "status": {"readyReplicas": ready}});
        object("apps", "deployments", "Deployment", value)
    }

    fn labels() -> Value {
        json!({"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller"})
    }

    #[track_caller]
    fn assert_short(cluster: &World, target: &Object) {
        let text = explained(cluster, target);
        assert!(text.contains("failed ✗"), "it is not quoted: {text:.2000}");
        assert!(text.len() < 100_000, "{} bytes", text.len());
    }

    #[test]
    fn shortens_megabytes_in_conditions_and_events() {
        let target = challenge();
        let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Challenge", "name": "a"}, "type": "Warning",
            "reason": long_text(), "message": long_text(), "lastTimestamp": "2026-01-01T11:59:30Z", "count": "many"});
        let cluster = World::of([object("", "events", "Event", event), deployment(1)]);
        assert_short(&cluster, &target);
    }

    #[test]
    fn shortens_megabytes_in_the_status_of_a_controller_pod() {
        let pod = json!({"metadata": {"name": "p", "namespace": "cert-manager", "labels": labels()}, "status": {
            "initContainerStatuses": {"state": 1},
            "containerStatuses": [3, {"state": {"waiting": {"reason": 7}}},
                {"state": {"waiting": {"reason": "ErrImagePull", "message": long_text()}}}]}});
        let cluster = World::of([deployment(0), object("", "pods", "Pod", pod)]);
        let mut target = challenge();
        target.value["status"] = json!(null);
        assert_short(&cluster, &target);
    }

    #[test]
    fn shortens_megabytes_in_the_error_of_a_driver() {
        let target = held(
            "storage.k8s.io",
            "volumeattachments",
            "VolumeAttachment",
            "external-attacher/csi-example-com",
            &json!({"spec": {"attacher": "csi.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
                "status": {"attached": true, "detachError": {"message": long_text(), "time": "2026-01-01T11:59:00Z"}}}),
        );
        let volume = json!({"metadata": {"name": "v"}, "spec": {"csi": {"driver": "csi.example.com"}}});
        assert_short(
            &World::of([object("", "persistentvolumes", "PersistentVolume", volume)]),
            &target,
        );
    }

    /// Twenty thousand entries, and malformed entries.
    #[test]
    fn reads_huge_and_malformed_managed_fields() {
        let many: Vec<_> = (0..20_000)
            .map(|at| {
                json!({"manager": format!("m-{at}"), "time": "2026-01-01T10:00:00Z", "operation": "Update",
                    "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"x\"": {}}}, "f:status": {"f:a": {}}}})
            })
            .collect();
        for fields in [
            json!(many),
            json!("none"),
            json!({"manager": 7}),
            json!([[[]], 1, {"fieldsV1": 3, "time": {}}]),
        ] {
            let mut target = challenge();
            target.value["status"] = json!(null);
            target.value["metadata"]["managedFields"] = fields;
            let text = explained(&World::of([]), &target);
            assert!(text.len() < 100_000, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_short_text_stays_unchanged() {
        for (length, ends_in) in [(limits::TEXT, 'é'), (limits::TEXT + 1, '…')] {
            let mut text = "é".repeat(length);
            shorten(&mut text);
            assert!(text.ends_with(ends_in));
            assert!(text.chars().count() <= limits::TEXT + 1);
        }
    }
}
