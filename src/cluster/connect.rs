//! stub
use super::Server;
use crate::{error::Error, settings::Connection};
pub fn sentence(error: &kube::Error) -> String {
    error.to_string()
}
pub fn unreachable(error: &kube::Error, server: &str) -> Error {
    Error::Server {
        message: format!("cannot reach {server}: {error}"),
        hint: None,
    }
}
pub async fn connect(connection: &Connection) -> Result<Server, Error> {
    let mut config = kube::Config::infer().await.map_err(|e| Error::Config {
        message: e.to_string(),
        hint: None,
    })?;
    config.default_retry = false;
    let address = config.cluster_url.to_string();
    let namespace = config.default_namespace.clone();
    Ok(Server {
        client: kube::Client::try_from(config).map_err(|e| unreachable(&e, &address))?,
        address,
        namespace,
        limit: connection.request_timeout,
    })
}
