//! Kubeconfig files for users and components.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::pki::{Authority, Identity};

/// Writes a kubeconfig with one context, named `test`.
pub fn write(path: PathBuf, server: &str, authority: &Authority, identity: &Identity) -> PathBuf {
    let user = format!(
        "client-certificate: {}, client-key: {}",
        quoted(&identity.certificate),
        quoted(&identity.key)
    );
    write_with(path, server, authority, &user)
}

/// The same for the token of a `ServiceAccount`.
pub fn write_with_token(path: PathBuf, server: &str, authority: &Authority, token: &str) -> PathBuf {
    write_with(path, server, authority, &format!("token: {token}"))
}

/// Joins kubeconfigs of this kind in one, with a context of this name for each.
pub fn joined(path: PathBuf, all: &[(&str, &Path)]) -> PathBuf {
    let mut lists = [String::new(), String::new(), String::new()];
    for (name, one) in all {
        let text = fs::read_to_string(one).unwrap_or_else(|error| panic!("{}: {error}", one.display()));
        let line = |begin: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(begin));
            line.unwrap_or_else(|| panic!("no {begin} in {text}")).to_owned()
        };
        let item = |kind: &str, value: &str| format!("- {{name: {name}, {kind}: {value}}}\n");
        lists[0].push_str(&item("cluster", &line("cluster: ")));
        lists[1].push_str(&item("user", &line("user: ")));
        lists[2].push_str(&item("context", &format!("{{cluster: {name}, user: {name}}}")));
    }
    let [clusters, users, contexts] = lists;
    let text =
        format!("apiVersion: v1\nkind: Config\nclusters:\n{clusters}users:\n{users}contexts:\n{contexts}");
    fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    path
}

fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}

fn write_with(path: PathBuf, server: &str, authority: &Authority, user: &str) -> PathBuf {
    let text = format!(
        "apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: {server:?}, certificate-authority: {}}}
users:
- name: test
  user: {{{user}}}
contexts:
- name: test
  context: {{cluster: test, user: test}}
current-context: test
",
        quoted(&authority.file("ca.crt")),
    );
    fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    path
}
