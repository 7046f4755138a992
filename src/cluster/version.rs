//! The version of the API server.

use serde::Deserialize;

use super::{
    request::{Failure, Server, WHOLE},
    scan::refused,
};
use crate::error::Error;

/// The API server about itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    git_version: String,
}

/// Asks the API server for its version, such as `v1.36.3`.
pub async fn version(server: &Server) -> Result<String, Error> {
    let fault = |failure| refused(server, failure, "version", "/version");
    let answer = server.get("/version", WHOLE).await.map_err(fault)?;
    let info: Info = serde_json::from_slice(&answer.body)
        .map_err(|error| fault(Failure::Body(format!("the answer is no version: {error}"))))?;
    Ok(info.git_version)
}
