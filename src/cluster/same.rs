//! Tells one cluster from another, so that a confirmation given for one is not used on another.

use serde_json::Value;

use super::request::{METADATA_OBJECT, Server};

/// The namespace that every cluster has, and whose uid differs between clusters.
const NAMESPACE: &str = "/api/v1/namespaces/kube-system";

/// A text that only this cluster has: the uid of `kube-system`, which is the same behind every address and proxy. If the
/// user may not read it: the server's address and the authority that signs its certificate.
pub async fn identity(server: &Server) -> String {
    if let Some(uid) = uid(server).await {
        return format!("kube-system {uid}");
    }
    let connected = &server.connected;
    let authority = connected.authority.as_deref().unwrap_or_default();
    format!("{} {}", connected.server, String::from_utf8_lossy(authority))
}

async fn uid(server: &Server) -> Option<String> {
    let answer = server.get(NAMESPACE, METADATA_OBJECT).await.ok()?;
    let namespace: Value = serde_json::from_slice(&answer.body).ok()?;
    let uid = namespace.pointer("/metadata/uid")?.as_str()?;
    Some(uid.to_owned()).filter(|uid| !uid.is_empty())
}
