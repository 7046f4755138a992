//! What opens the door to a removal, and what does not: complaints, whoever wrote them, and the time since the deletion.

use std::fs;

use serde_json::{Value, json};

use super::{Case, HOLD, guards::refused};
use crate::{
    explain::told::{delete, release},
    harness::Cluster,
    stuck::custom_type,
};

const GROUP: &str = "complaints.example.test";
const TARGET: &str = "meters.complaints.example.test/held";

/// A Meter in deletion. `manager` put its finalizer on.
fn meter<'a>(cluster: &'a Cluster, name: &str, manager: &str) -> Case<'a> {
    custom_type(cluster, GROUP, "meters", "Meter");
    let case = Case::empty(cluster, name);
    let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Meter",
        "metadata": {"name": "held", "namespace": case.ns.name(), "finalizers": [HOLD]}});
    let file = case.place.path().join("meter.json");
    fs::write(&file, object.to_string()).unwrap();
    let words = ["create", "-f", file.to_str().unwrap(), "--field-manager", manager];
    case.ns.kubectl(words).success();
    delete(cluster, TARGET, case.ns.name());
    case
}

impl Case<'_> {
    fn plan_of_meter(&self) -> crate::harness::Plugin {
        self.run(&[
            "remove",
            TARGET,
            "--finalizer",
            HOLD,
            "--accept=data-loss",
            "--plan",
        ])
    }

    /// A Warning about the Meter.
    fn warn(&self, by: &str, message: &str) {
        let meter = self.ns.get(["meters.complaints.example.test", "held"]).unwrap();
        let now = jiff::Timestamp::now();
        let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("held.{by}")},
            "involvedObject": {"apiVersion": format!("{GROUP}/v1"), "kind": "Meter", "name": "held",
                "namespace": self.ns.name(), "uid": meter["metadata"]["uid"]},
            "type": "Warning", "reason": "CleanUpFailed", "message": message, "source": {"component": by},
            "lastTimestamp": format!("{now:.0}")});
        self.ns.apply(&event.to_string());
    }

    fn verdict(&self) -> Value {
        let words = ["explain", TARGET, "-n", self.ns.name(), "-o=json"];
        let said = self.cluster.plugin(words).run().success();
        let said: Value = serde_json::from_str(&said).expect("JSON");
        said["waitsFor"][0]["verdict"].clone()
    }
}

#[test]
fn an_unknown_controller_has_the_first_minutes() {
    let case = meter(Cluster::shared(), "first-minutes", "meter-operator");
    let out = refused(&case, case.plan_of_meter(), "It was deleted only");
    super::says(&out, "it is still there in");
    case.deleted_earlier(&format!("{GROUP}/meters/{}/held", case.ns.name()));
    let out = case.plan_of_meter().run();
    assert_eq!(out.code, 0, "{out}");
    release(case.cluster, TARGET, case.ns.name());
}

#[test]
fn a_warning_of_a_stranger_does_not_open_the_door() {
    let case = meter(Cluster::shared(), "stranger", "meter-operator");
    case.warn(
        "stranger",
        "cannot delete it: the credentials: secrets \"meter\" not found",
    );
    assert_eq!(case.verdict(), "unknown");
    refused(&case, case.plan_of_meter(), "It was deleted only");
    release(case.cluster, TARGET, case.ns.name());
}

#[test]
fn a_running_controller_that_fails_is_repaired() {
    let case = meter(Cluster::shared(), "repairable", "meter-operator");
    case.warn("meter-operator", "cannot delete it: connection refused");
    assert_eq!(case.verdict(), "failing");
    let out = refused(&case, case.plan_of_meter(), "what it complains of is repaired");
    super::says(&out, "connection refused");
    // What it needs does not exist any more, and it says so itself.
    case.warn(
        "meter-operator",
        "cannot read the credentials: secrets \"meter\" not found",
    );
    assert_eq!(case.verdict(), "failing");
    let out = case.plan_of_meter().run();
    assert_eq!(out.code, 0, "{out}");
    release(case.cluster, TARGET, case.ns.name());
}
