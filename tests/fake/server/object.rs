//! An object as a test describes it. The fake adds the rest: uid, resource version, creation time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

/// An object of any type.
#[derive(Clone, Debug)]
pub struct Object {
    pub namespace: String,
    pub name: String,
    /// `None`: derived from type, namespace and name. Empty: no uid, as in virtual groups such as metrics.
    pub uid: Option<String>,
    pub resource_version: u64,
    pub created: Timestamp,
    pub deletion: Option<Timestamp>,
    pub grace_seconds: i64,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub owners: Vec<Owner>,
    pub finalizers: Vec<String>,
    pub managed_fields: Vec<ManagedFields>,
    /// Everything besides `metadata`, for clients that read whole objects: `spec`, `status`, `data`.
    pub rest: BTreeMap<&'static str, Value>,
}

/// One owner reference.
#[derive(Clone, Debug)]
pub struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub block_owner_deletion: bool,
}

/// One entry of the managed fields.
#[derive(Clone, Debug)]
pub struct ManagedFields {
    pub manager: Cow<'static, str>,
    pub operation: &'static str,
    pub api_version: Cow<'static, str>,
    pub time: Timestamp,
    /// The field set as JSON text.
    pub fields: Cow<'static, str>,
    pub subresource: &'static str,
}

/// The default creation time: 2025-01-01T00:00:00Z.
const CREATED: Timestamp = Timestamp::constant(1_735_689_600, 0);

/// An object in a namespace.
pub fn object(namespace: &str, name: &str) -> Object {
    Object {
        namespace: namespace.into(),
        name: name.into(),
        uid: None,
        resource_version: 100,
        created: CREATED,
        deletion: None,
        grace_seconds: 0,
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        owners: Vec::new(),
        finalizers: Vec::new(),
        managed_fields: Vec::new(),
        rest: BTreeMap::new(),
    }
}

/// A cluster-scoped object.
pub fn cluster_object(name: &str) -> Object {
    object("", name)
}

impl Object {
    pub fn finalizer(mut self, name: impl Into<String>) -> Self {
        self.finalizers.push(name.into());
        self
    }

    /// In deletion since this RFC 3339 time, without a grace period.
    pub fn deleting(mut self, at: &str) -> Self {
        self.deletion = Some(time(at));
        self
    }

    /// `deletionGracePeriodSeconds`; it ends at `deletionTimestamp`.
    pub fn grace(mut self, seconds: i64) -> Self {
        self.grace_seconds = seconds;
        self
    }

    pub fn created(mut self, at: &str) -> Self {
        self.created = time(at);
        self
    }

    /// Sets this uid. Two types with the same uid share their storage.
    pub fn uid(mut self, uid: &str) -> Self {
        self.uid = Some(uid.into());
        self
    }

    pub fn without_uid(self) -> Self {
        self.uid("")
    }

    pub fn label(mut self, key: &str, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    pub fn annotation(mut self, key: &str, value: impl Into<String>) -> Self {
        self.annotations.insert(key.into(), value.into());
        self
    }

    pub fn owner(mut self, api_version: &str, kind: &str, name: &str, uid: &str) -> Self {
        self.owners.push(Owner {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            uid: uid.into(),
            block_owner_deletion: true,
        });
        self
    }

    pub fn managed(mut self, fields: ManagedFields) -> Self {
        self.managed_fields.push(fields);
        self
    }

    /// About 2 KB of managed fields, which are most of the bytes of a real list.
    pub fn usual_managed_fields(self) -> Self {
        self.managed(ManagedFields::of("kubectl-client-side-apply", "", SPEC_FIELDS))
            .managed(ManagedFields::of(
                "kube-controller-manager",
                "status",
                STATUS_FIELDS,
            ))
    }

    pub fn spec(self, spec: Value) -> Self {
        self.field("spec", spec)
    }

    pub fn status(self, status: Value) -> Self {
        self.field("status", status)
    }

    /// Any other field besides `metadata`.
    pub fn field(mut self, name: &'static str, value: Value) -> Self {
        self.rest.insert(name, value);
        self
    }

    /// Writes its uid, derived from its type and name by default.
    pub(super) fn write_uid(&self, type_name: &str, out: &mut Vec<u8>) {
        if let Some(uid) = &self.uid {
            out.extend_from_slice(uid.as_bytes());
            return;
        }
        let high = fnv(&[
            type_name.as_bytes(),
            self.namespace.as_bytes(),
            self.name.as_bytes(),
        ]);
        let low = high.rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = u128::from(high) << 64 | u128::from(low);
        for nibble in 0..32 {
            if matches!(nibble, 8 | 12 | 16 | 20) {
                out.push(b'-');
            }
            let digit = (bits >> (124 - 4 * nibble)) & 0xf;
            out.push(b"0123456789abcdef"[usize::try_from(digit).unwrap()]);
        }
    }
}

impl ManagedFields {
    pub fn of(manager: &'static str, subresource: &'static str, fields: &'static str) -> Self {
        ManagedFields {
            manager: manager.into(),
            operation: "Update",
            api_version: "v1".into(),
            time: CREATED,
            fields: fields.into(),
            subresource,
        }
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("an RFC 3339 time")
}

/// FNV-1a over the parts. It is the same in every run, so that output can be compared with a file.
fn fnv(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for &byte in part.iter().chain(b"/") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// The field sets of an ordinary Pod.
const SPEC_FIELDS: &str = r#"{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/instance":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"5a6a1b1e-7c88-4e4f-8a55-1d2b3c4d5e6f\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"POD_NAME\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:fieldRef":{}}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}"#;
const STATUS_FIELDS: &str = r#"{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.244.1.17\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}"#;
