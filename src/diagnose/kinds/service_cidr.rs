//! A ServiceCIDR, and the addresses that are given out.

use crate::{diagnose::kinds::read::texts, snapshot::facts::Object};

/// A ServiceCIDR.
#[derive(Clone, Copy)]
pub(crate) struct ServiceCidr<'a>(pub(crate) &'a Object);

impl<'a> ServiceCidr<'a> {
    /// Its ranges.
    pub(crate) fn ranges(self) -> impl Iterator<Item = &'a str> {
        texts(&self.0.value, "/spec/cidrs")
    }
}

/// An address that is given out.
#[derive(Clone, Copy)]
pub(crate) struct IpAddress<'a>(pub(crate) &'a Object);

impl<'a> IpAddress<'a> {
    /// Whether the API server gave it out.
    pub(crate) fn is_from_allocator(self) -> bool {
        self.0
            .text("/metadata/labels/ipaddress.kubernetes.io~1managed-by")
            == "ipallocator.k8s.io"
    }

    /// The type of the object that has it, such as `services`.
    pub(crate) fn parent_type(self) -> &'a str {
        self.0.text("/spec/parentRef/resource")
    }

    /// The namespace and name of the object that has it.
    pub(crate) fn parent(self) -> (&'a str, &'a str) {
        (
            self.0.text("/spec/parentRef/namespace"),
            self.0.text("/spec/parentRef/name"),
        )
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::networking::v1 as networking, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn ranges() {
        let range = networking::ServiceCIDR {
            spec: Some(networking::ServiceCIDRSpec {
                cidrs: Some(vec!["10.0.0.0/24".into()]),
            }),
            ..Default::default()
        };
        reads!(range => ServiceCidr;
            |range| range.ranges().collect::<Vec<_>>() => ["10.0.0.0/24"], absent [""; 0];
        );
    }

    #[test]
    fn addresses() {
        let address = networking::IPAddress {
            metadata: ObjectMeta {
                labels: Some(
                    [(
                        "ipaddress.kubernetes.io/managed-by".to_owned(),
                        "ipallocator.k8s.io".to_owned(),
                    )]
                    .into(),
                ),
                ..Default::default()
            },
            spec: Some(networking::IPAddressSpec {
                parent_ref: networking::ParentReference {
                    resource: "services".into(),
                    namespace: Some("shop".into()),
                    name: "web".into(),
                    ..Default::default()
                },
            }),
        };
        reads!(address => IpAddress;
            |address| address.is_from_allocator() => true, absent false;
            |address| address.parent_type() => "services", absent "";
            |address| address.parent() => ("shop", "web"), absent ("", "");
        );
    }
}
