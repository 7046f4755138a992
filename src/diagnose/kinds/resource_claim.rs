//! A ResourceClaim: the devices that Pods have.

use serde_json::Value;

use crate::{
    diagnose::kinds::read::{list, text},
    snapshot::facts::Object,
};

/// A ResourceClaim.
#[derive(Clone, Copy)]
pub(crate) struct ResourceClaim<'a>(pub(crate) &'a Object);

impl<'a> ResourceClaim<'a> {
    /// The consumers that may use its devices, in their order.
    pub(crate) fn consumers(self) -> impl ExactSizeIterator<Item = Consumer<'a>> {
        list(&self.0.value, "/status/reservedFor").iter().map(Consumer)
    }

    /// The place of the consumer with this index, for a JSON patch.
    pub(crate) fn consumer_pointer(index: usize) -> String {
        format!("/status/reservedFor/{index}")
    }
}

/// A consumer of the devices of a ResourceClaim.
#[derive(Clone, Copy)]
pub(crate) struct Consumer<'a>(&'a Value);

impl<'a> Consumer<'a> {
    /// The group of its type.
    pub(crate) fn group(self) -> &'a str {
        text(self.0, "/apiGroup")
    }

    /// The plural of its type.
    pub(crate) fn plural(self) -> &'a str {
        text(self.0, "/resource")
    }

    /// Its name.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// Its uid.
    pub(crate) fn uid(self) -> &'a str {
        text(self.0, "/uid")
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::resource::v1beta2 as resource;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn consumers() {
        let claim = resource::ResourceClaim {
            status: Some(resource::ResourceClaimStatus {
                reserved_for: Some(vec![resource::ResourceClaimConsumerReference {
                    api_group: Some("batch.example".into()),
                    resource: "runs".into(),
                    name: "run-1".into(),
                    uid: "u-1".into(),
                }]),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(claim => |object| ResourceClaim(object).consumers().next();
            |first| first.map_or("", Consumer::group) => "batch.example", absent "";
            |first| first.map_or("", Consumer::plural) => "runs", absent "";
            |first| first.map_or("", Consumer::name) => "run-1", absent "";
            |first| first.map_or("", Consumer::uid) => "u-1", absent "";
        );
        let whole = serde_json::to_value(&claim).expect("an object as JSON");
        let first = whole
            .pointer(&ResourceClaim::consumer_pointer(0))
            .expect("a consumer");
        assert_eq!(Consumer(first).name(), "run-1");
    }
}
