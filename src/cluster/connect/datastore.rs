//! Makes a client for the etcd of a cluster, with TLS and a client certificate. The kubeconfig says nothing about etcd, and
//! no proxy is used.

use std::path::Path;

use http::Uri;
use kube::{Client, Config, config::AuthInfo};
use secrecy::SecretString;

use super::{CONNECT_TIMEOUT, client, config_error, material, not_built};
use crate::error::Error;

/// The client for this address, with the authority of its certificate, and a client certificate with its key.
pub fn datastore(url: &Uri, authority: &Path, certificate: &Path, key: &Path) -> Result<Client, Error> {
    let mut config = Config::new(url.clone());
    let authority_pem = read("--etcd-cacert", authority)?;
    config.root_cert = Some(material::authorities(
        &authority_pem,
        &authority.display().to_string(),
    )?);
    config.auth_info = AuthInfo {
        client_certificate_data: Some(material::encode(&read("--etcd-cert", certificate)?)),
        client_key_data: Some(SecretString::from(material::encode(&read("--etcd-key", key)?))),
        ..AuthInfo::default()
    };
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    client::client(config).map_err(|error| not_built(&error))
}

fn read(flag: &str, file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|error| {
        config_error(
            format!("cannot read {flag} {}: {error}", file.display()),
            Some("kubectl finalizers rescue TYPE/NAME --print-etcd-commands says where the files are"),
        )
    })
}
