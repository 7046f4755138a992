//! A ResourceClaim: the devices that Pods have. A ResourceSlice: the devices that a driver offers.

use serde_json::Value;

use crate::{
    diagnose::kinds::read::{list, some_text, text},
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

    /// The drivers of the devices that are allocated for it.
    pub(crate) fn drivers(self) -> impl Iterator<Item = &'a str> {
        let results = list(&self.0.value, "/status/allocation/devices/results").iter();
        results.filter_map(|result| some_text(result, "/driver"))
    }

    /// The place of the consumer with this index, for a JSON patch.
    pub(crate) fn consumer_pointer(index: usize) -> String {
        format!("/status/reservedFor/{index}")
    }
}

/// A ResourceSlice.
#[derive(Clone, Copy)]
pub(crate) struct ResourceSlice<'a>(pub(crate) &'a Object);

impl<'a> ResourceSlice<'a> {
    /// The driver that offers its devices.
    pub(crate) fn driver(self) -> &'a str {
        self.0.text("/spec/driver")
    }

    /// The node whose devices they are, empty if they are for several.
    pub(crate) fn node(self) -> &'a str {
        self.0.text("/spec/nodeName")
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

#[cfg(all(test, feature = "client"))]
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

    #[test]
    fn drivers_of_devices() {
        let result = resource::DeviceRequestAllocationResult {
            driver: "gpu.example.test".into(),
            ..Default::default()
        };
        let claim = resource::ResourceClaim {
            status: Some(resource::ResourceClaimStatus {
                allocation: Some(resource::AllocationResult {
                    devices: Some(resource::DeviceAllocationResult {
                        results: Some(vec![result]),
                        ..Default::default()
                    }),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(claim => ResourceClaim;
            |claim| claim.drivers().collect::<Vec<_>>() => ["gpu.example.test"], absent [""; 0];
        );
        let slice = resource::ResourceSlice {
            spec: resource::ResourceSliceSpec {
                driver: "gpu.example.test".into(),
                node_name: Some("node-1".into()),
                ..Default::default()
            },
            ..Default::default()
        };
        reads!(slice => ResourceSlice;
            |slice| slice.driver() => "gpu.example.test", absent "";
            |slice| slice.node() => "node-1", absent "";
        );
    }
}
