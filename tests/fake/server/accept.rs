//! The format of a response for an `Accept` header: its clauses in order, and the first that can be served.
//!
//! The API server does the same (`apiserver:pkg/endpoints/handlers/negotiation/negotiate.go`), except for
//! weights, which no Kubernetes client sends.

use super::kind::Kind;

/// The format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON with everything.
    Whole,
    /// JSON with the metadata only.
    Partial,
    /// Protobuf with the metadata only.
    PartialProtobuf,
}

/// One media type of the header with its parameters.
struct Clause<'a> {
    media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl Clause<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    }

    fn is_json(&self) -> bool {
        matches!(self.media, "application/json" | "application/*" | "*/*")
    }

    /// Whether this clause asks for `target`, which `g`, `v` and `as` must name exactly.
    fn asks_for(&self, target: &str, group: &str, version: &str) -> bool {
        self.get("as") == Some(target) && self.get("g") == Some(group) && self.get("v") == Some(version)
    }
}

fn clauses(accept: &str) -> impl Iterator<Item = Clause<'_>> {
    let accept = if accept.trim().is_empty() { "*/*" } else { accept };
    accept.split(',').map(|clause| {
        let mut parts = clause.split(';').map(str::trim);
        Clause {
            media: parts.next().unwrap_or_default(),
            parameters: parts.filter_map(|part| part.split_once('=')).collect(),
        }
    })
}

/// The format of a list or an object; `target` is `PartialObjectMetadataList` or `PartialObjectMetadata`.
pub fn form(accept: &str, kind: &Kind, target: &str) -> Option<Form> {
    clauses(accept).find_map(|clause| {
        let partial = clause.asks_for(target, "meta.k8s.io", "v1") && !kind.whole_only;
        if partial && clause.media == "application/vnd.kubernetes.protobuf" && !kind.json_only {
            // No client needs a single object in protobuf, so the next clause is used.
            (target == "PartialObjectMetadataList").then_some(Form::PartialProtobuf)
        } else if partial && clause.is_json() {
            Some(Form::Partial)
        } else {
            (clause.is_json() && clause.get("as").is_none()).then_some(Form::Whole)
        }
    })
}

/// Whether aggregated discovery of this version comes first among the formats that can be served.
pub fn wants_aggregated(accept: &str, version: &str) -> bool {
    clauses(accept)
        .take_while(|clause| clause.get("as").is_some())
        .any(|clause| {
            clause.is_json() && clause.asks_for("APIGroupDiscoveryList", "apidiscovery.k8s.io", version)
        })
}

/// Whether plain JSON is accepted.
pub fn takes_json(accept: &str) -> bool {
    clauses(accept).any(|clause| clause.is_json() && clause.get("as").is_none())
}
