//! An Event. The API server serves every one in the shape of `v1`, also those that were written through `events.k8s.io`.

use jiff::Timestamp;

use crate::snapshot::facts::Object;

/// An Event.
#[derive(Clone, Copy)]
pub(crate) struct Event<'a>(pub(crate) &'a Object);

impl<'a> Event<'a> {
    /// Its reason, in one word.
    pub(crate) fn reason(self) -> &'a str {
        self.0.text("/reason")
    }

    /// What it tells.
    pub(crate) fn message(self) -> &'a str {
        self.0.text("/message")
    }

    /// Whether it tells of trouble. Kopf calls such events `Error` (`nolar/kopf:kopf/_core/engines/posting.py`).
    pub(crate) fn is_warning(self) -> bool {
        !matches!(self.0.text("/type"), "" | "Normal")
    }

    /// The uid of the object that it is about; empty if it names none.
    pub(crate) fn about_uid(self) -> &'a str {
        self.0.text("/involvedObject/uid")
    }

    /// Whether it is not about another object of this name.
    pub(crate) fn may_be_about(self, object: &Object) -> bool {
        self.about_uid().is_empty() || self.about_uid() == object.uid()
    }

    /// The programs that reported it. An event has two fields for them. Either may be empty, and nobody checks them.
    pub(crate) fn reporters(self) -> [&'a str; 2] {
        [
            self.0.text("/source/component"),
            self.0.text("/reportingComponent"),
        ]
    }

    /// When it occurred last.
    pub(crate) fn last_time(self) -> Option<Timestamp> {
        ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"]
            .iter()
            .find_map(|pointer| self.0.time(pointer))
    }

    /// How often it occurred.
    pub(crate) fn count(self) -> Option<i64> {
        self.0.number("/series/count").or_else(|| self.0.number("/count"))
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::core::v1 as core,
        apimachinery::pkg::apis::meta::v1::{MicroTime, Time},
    };
    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    #[test]
    fn events() {
        let event = core::Event {
            reason: Some("Failed".into()),
            message: Some("no room".into()),
            type_: Some("Warning".into()),
            involved_object: core::ObjectReference {
                uid: Some("u-1".into()),
                ..Default::default()
            },
            source: Some(core::EventSource {
                component: Some("kubelet".into()),
                ..Default::default()
            }),
            reporting_component: Some("k8s.example/kubelet".into()),
            ..Default::default()
        };
        let other = bare("", "pods", "Pod", json!({"metadata": {"uid": "u-2"}}));
        reads!(event => Event;
            |event| event.reason() => "Failed", absent "";
            |event| event.message() => "no room", absent "";
            |event| event.is_warning() => true, absent false;
            |event| event.about_uid() => "u-1", absent "";
            |event| event.may_be_about(&other) => false, absent true;
            |event| event.reporters() => ["kubelet", "k8s.example/kubelet"], absent ["", ""];
        );
    }

    /// The API server of the core group takes any type. Kopf writes `Error`.
    #[test]
    fn an_event_that_is_not_normal_tells_of_trouble() {
        for (kind, is_warning) in [("Warning", true), ("Error", true), ("Normal", false), ("", false)] {
            let event = bare("", "events", "Event", json!({"type": kind}));
            assert_eq!(Event(&event).is_warning(), is_warning, "{kind}");
        }
    }

    /// The recorder of client-go counts, the one of `events.k8s.io` writes a series.
    #[test]
    fn the_last_time_of_an_event_that_repeats() {
        let event = core::Event {
            event_time: Some(MicroTime(at("2026-01-01T10:00:00Z"))),
            ..Default::default()
        };
        reads!(event => Event; |event| event.last_time() => Some(at("2026-01-01T10:00:00Z")), absent None::<()>;);
        let event = core::Event {
            last_timestamp: Some(Time(at("2026-01-01T11:00:00Z"))),
            count: Some(3),
            ..event
        };
        reads!(event => Event;
            |event| event.last_time() => Some(at("2026-01-01T11:00:00Z")), absent None::<()>;
            |event| event.count() => Some(3), absent None::<()>;
        );
        let event = core::Event {
            series: Some(core::EventSeries {
                count: Some(5),
                last_observed_time: Some(MicroTime(at("2026-01-01T12:00:00Z"))),
            }),
            ..event
        };
        reads!(event => Event;
            |event| event.last_time() => Some(at("2026-01-01T12:00:00Z")), absent None::<()>;
            |event| event.count() => Some(5), absent None::<()>;
        );
    }
}
