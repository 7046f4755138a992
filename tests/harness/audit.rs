//! The API server's audit log: who requested what, and what it returned of Secrets and ConfigMaps.

use std::fs;

use serde_json::Value;

use super::Cluster;

/// Kubernetes' own controllers send requests all the time, which say nothing about the plugin.
const POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: ['system:apiserver', 'system:kube-controller-manager']}
- {level: None, userGroups: ['system:serviceaccounts']}
- {level: Metadata, verbs: [watch], resources: [{group: '', resources: [pods]}]}
- {level: None, verbs: [watch]}
- {level: RequestResponse, verbs: [get, list], resources: [{group: '', resources: [secrets, configmaps]}]}
- {level: Metadata}
";

/// The audit policy, as a file in the cluster's directory.
pub(super) const FILE: (&str, &str) = ("audit-policy.yaml", POLICY);
/// The flags of kube-apiserver for the audit log.
pub(super) const FLAGS: [&str; 2] = [
    "--audit-policy-file={dir}/audit-policy.yaml",
    "--audit-log-path={dir}/audit.log",
];

/// A request and how the server answered it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `get`, `list` and so on.
    pub verb: String,
    /// `plural.group`; empty for paths without a resource, such as discovery.
    pub type_name: String,
    /// The whole audit event.
    pub event: Value,
}

impl Cluster {
    /// The requests of all events whose line contains this text, such as a user name. The server logs an event
    /// before its response ends.
    pub fn asked(&self, text: &str) -> Vec<Asked> {
        let log = fs::read_to_string(self.directory().join("audit.log")).expect("the audit log is there");
        log.lines()
            .filter(|line| line.contains(text))
            // The last line may be incomplete.
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .map(Asked::from)
            .collect()
    }
}

impl From<Value> for Asked {
    fn from(event: Value) -> Self {
        let of = |field: &str| event["objectRef"][field].as_str().unwrap_or_default();
        let type_name = match of("apiGroup") {
            "" => of("resource").to_owned(),
            group => format!("{}.{group}", of("resource")),
        };
        Asked {
            verb: event["verb"].as_str().unwrap_or_default().to_owned(),
            type_name,
            event,
        }
    }
}
