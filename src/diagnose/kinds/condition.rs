//! A condition of an object of any kind.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::kinds::read::{some_text, text, time},
    snapshot::facts::Object,
};

/// A condition of an object.
#[derive(Clone, Copy)]
pub(crate) struct Condition<'a>(&'a Value);

impl<'a> Condition<'a> {
    /// All conditions of an object, in their order.
    pub(crate) fn all(object: &'a Object) -> impl Iterator<Item = Self> {
        object.conditions().iter().map(Condition)
    }

    /// The condition of a part of an object: `status.parents[0].conditions[0]`.
    pub(crate) fn of_part(value: &'a Value) -> Self {
        Condition(value)
    }

    /// The condition of this type.
    pub(crate) fn of_type(object: &'a Object, kind: &str) -> Option<Self> {
        Self::all(object).find(|condition| some_text(condition.0, "/type") == Some(kind))
    }

    /// Since when the condition of this type has this status; none if it has another one.
    pub(crate) fn since(object: &Object, kind: &str, status: &str) -> Option<Timestamp> {
        let mut all = Condition::all(object);
        let found = all.find(|condition| condition.kind() == kind && condition.status() == status);
        found.and_then(Condition::changed)
    }

    /// Its type.
    pub(crate) fn kind(self) -> &'a str {
        text(self.0, "/type")
    }

    /// Its status: `True`, `False` or `Unknown`.
    pub(crate) fn status(self) -> &'a str {
        text(self.0, "/status")
    }

    /// Why it has this status, in one word.
    pub(crate) fn reason(self) -> &'a str {
        text(self.0, "/reason")
    }

    /// Why it has this status.
    pub(crate) fn message(self) -> &'a str {
        text(self.0, "/message")
    }

    /// When its status changed last.
    pub(crate) fn changed(self) -> Option<Timestamp> {
        time(self.0, "/lastTransitionTime")
    }

    /// When it was written last, of a condition of a Node.
    pub(crate) fn heartbeat(self) -> Option<Timestamp> {
        time(self.0, "/lastHeartbeatTime")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::core::v1 as core, apimachinery::pkg::apis::meta::v1::Time};

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    #[test]
    fn conditions() {
        let [changed, heartbeat]: [Timestamp; 2] =
            ["2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"].map(|text| text.parse().expect("a time"));
        let node = core::Node {
            status: Some(core::NodeStatus {
                conditions: Some(vec![core::NodeCondition {
                    type_: "Ready".into(),
                    status: "False".into(),
                    reason: Some("KubeletNotReady".into()),
                    message: Some("no network".into()),
                    last_transition_time: Some(Time(changed)),
                    last_heartbeat_time: Some(Time(heartbeat)),
                }]),
                ..Default::default()
            }),
            ..Default::default()
        };
        let whole = serde_json::to_value(&node).expect("an object as JSON");
        reads!(node => |object| Condition::all(object).next();
            |first| first.map_or("", Condition::kind) => "Ready", absent "";
            |first| first.map_or("", Condition::status) => "False", absent "";
            |first| first.map_or("", Condition::reason) => "KubeletNotReady", absent "";
            |first| first.map_or("", Condition::message) => "no network", absent "";
            |first| first.and_then(Condition::changed) => Some(changed), absent None::<()>;
            |first| first.and_then(Condition::heartbeat) => Some(heartbeat), absent None::<()>;
        );
        reads!(node => |object: &Object| Condition::since(object, "Ready", "False");
            |since| since => Some(changed), absent None::<()>;
        );
        assert_eq!(
            Condition::since(&bare("", "nodes", "Node", whole), "Ready", "True"),
            None
        );
        reads!(node => |object| Condition::of_type(object, "Ready");
            |ready| ready.map(Condition::message) => Some("no network"), absent None::<()>;
        );
    }
}
