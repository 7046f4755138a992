//! Reads certificates, keys and tokens, from the kubeconfig itself or from a file that it names.
//!
//! kube can read them too, but late, and its errors name neither file nor user. It also rejects line breaks in base64,
//! which Go skips. And it keeps the line break at the end of a token file, which client-go trims.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::config_error;
use crate::error::Error;

/// The bytes of a `…-data` field, otherwise of the named file. Data wins, as in client-go.
pub(super) fn load(what: &str, data: Option<&str>, file: Option<&str>) -> Result<Option<Vec<u8>>, Error> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let compact: String = data.split_ascii_whitespace().collect();
        return STANDARD.decode(compact).map(Some).map_err(|error| {
            config_error(
                format!("the {what} in the kubeconfig is not base64: {error}"),
                Some(
                    "fields whose names end in -data hold base64; a path belongs in the field without -data",
                ),
            )
        });
    }
    let Some(file) = file.filter(|file| !file.is_empty()) else {
        return Ok(None);
    };
    read(what, Path::new(file)).map(Some)
}

/// The bytes of a file.
pub(super) fn read(what: &str, file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|error| {
        config_error(
            format!("cannot read the {what} {}: {error}", file.display()),
            Some("relative paths in a kubeconfig start at the kubeconfig's directory"),
        )
    })
}

/// Encodes bytes as kube expects them.
pub(super) fn encode(pem: &[u8]) -> String {
    STANDARD.encode(pem)
}

/// The certificates of a CA bundle. Unusable certificates are skipped, as in Go, but at least one must be usable.
pub(super) fn authorities(pem: &[u8], origin: &str) -> Result<Vec<Vec<u8>>, Error> {
    let mut store = RootCertStore::empty();
    let usable: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(pem)
        .filter_map(Result::ok)
        .filter(|certificate| store.add(certificate.clone()).is_ok())
        .map(|certificate| certificate.to_vec())
        .collect();
    if usable.is_empty() {
        return Err(config_error(
            format!("the certificate authority {origin} holds no usable certificate"),
            Some("it must be PEM: -----BEGIN CERTIFICATE-----"),
        ));
    }
    Ok(usable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_wins_over_the_file_and_may_have_line_breaks() {
        let loaded = load("client key", Some("aGVs\n  bG8=\n"), Some("/nowhere"));
        assert_eq!(loaded.expect("base64").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(load("client key", Some(""), None).expect("nothing"), None);
    }

    #[test]
    fn names_what_cannot_be_read() {
        let error = load("client key", None, Some("/nowhere/user.key")).expect_err("missing");
        assert!(
            error
                .to_string()
                .starts_with("cannot read the client key /nowhere/user.key: "),
            "{error}"
        );
        let error = load("client key", Some("/etc/key.pem?"), None).expect_err("a path");
        assert!(error.hint().is_some_and(|hint| hint.contains("-data")), "{error}");
        let error = authorities(b"not PEM", "ca.crt").expect_err("no certificate");
        assert!(error.to_string().contains("ca.crt"), "{error}");
    }
}
