//! Kubeconfig files for users and components.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::pki::{Authority, Identity};

/// Writes a kubeconfig with one context, named `test`.
pub fn write(path: PathBuf, server: &str, authority: &Authority, identity: &Identity) -> PathBuf {
    let quoted = |path: &Path| format!("{:?}", path.display().to_string());
    let text = format!(
        "apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: {server:?}, certificate-authority: {}}}
users:
- name: test
  user: {{client-certificate: {}, client-key: {}}}
contexts:
- name: test
  context: {{cluster: test, user: test}}
current-context: test
",
        quoted(&authority.file("ca.crt")),
        quoted(&identity.certificate),
        quoted(&identity.key),
    );
    fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    path
}
