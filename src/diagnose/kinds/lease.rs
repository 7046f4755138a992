//! A Lease.

use jiff::Timestamp;

use crate::snapshot::facts::Object;

/// A Lease.
#[derive(Clone, Copy)]
pub(crate) struct Lease<'a>(pub(crate) &'a Object);

impl<'a> Lease<'a> {
    /// The name of its holder; empty if nobody holds it.
    pub(crate) fn leader(self) -> &'a str {
        self.0.text("/spec/holderIdentity")
    }

    /// When it was renewed last.
    pub(crate) fn renewed(self) -> Option<Timestamp> {
        self.0.time("/spec/renewTime")
    }

    /// For how many seconds after its renewal nobody else may take it.
    pub(crate) fn seconds(self) -> Option<i64> {
        self.0.number("/spec/leaseDurationSeconds")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{api::coordination::v1 as coordination, apimachinery::pkg::apis::meta::v1::MicroTime};

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn leases() {
        let renewed: Timestamp = "2026-01-01T10:00:00Z".parse().expect("a time");
        let lease = coordination::Lease {
            spec: Some(coordination::LeaseSpec {
                holder_identity: Some("web-1_u".into()),
                renew_time: Some(MicroTime(renewed)),
                lease_duration_seconds: Some(15),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(lease => Lease;
            |lease| lease.leader() => "web-1_u", absent "";
            |lease| lease.renewed() => Some(renewed), absent None::<()>;
            |lease| lease.seconds() => Some(15), absent None::<()>;
        );
    }
}
