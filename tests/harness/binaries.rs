//! Where each program of the harness comes from.

use std::{
    env,
    path::{self, PathBuf},
};

use super::go;

/// The module below `tests/controlplane/` that each program is a `tool` or package of.
const MODULES: &[(&str, &str)] = &[
    ("kube-apiserver", "kubernetes"),
    ("kube-controller-manager", "kubernetes"),
    ("kubectl", "kubernetes"),
    ("etcd", "etcd"),
    ("etcdctl", "etcd"),
    ("csi-provisioner", "provisioner"),
    ("csi-attacher", "sidecars"),
    ("csi-snapshotter", "sidecars"),
    ("snapshot-controller", "sidecars"),
    ("kueue", "kueue"),
    ("cluster-api", "cluster-api"),
    ("csi-driver", "csi-driver"),
    ("reaper", "reaper"),
    ("helm", "charts"),
    ("kustomize", "charts"),
    ("actionlint", "actionlint"),
    ("promtool", "prometheus"),
    ("prometheus", "prometheus"),
    ("admission-webhook", "prometheus-operator"),
];

/// The path of a program: from `KUBEBUILDER_ASSETS` if it is there, else built on first use.
pub fn program(name: &str) -> PathBuf {
    if let Some(assets) = env::var_os("KUBEBUILDER_ASSETS") {
        let ready = path::absolute(assets)
            .expect("KUBEBUILDER_ASSETS is not empty")
            .join(name);
        if ready.is_file() {
            return ready;
        }
    }
    let (_, module) = MODULES
        .iter()
        .find(|(program, _)| *program == name)
        .unwrap_or_else(|| panic!("no module below tests/controlplane builds {name}"));
    go::build(&version_of(module)).join(name)
}

/// The older minor version that `FINALIZERS_KUBERNETES` asks for, such as 1.31; none for the newest.
fn older() -> Option<String> {
    env::var("FINALIZERS_KUBERNETES")
        .ok()
        .filter(|minor| !minor.is_empty())
}

/// The module of that minor version: `kubernetes-1.31` instead of `kubernetes`.
fn version_of(module: &str) -> String {
    match older() {
        Some(minor) if module == "kubernetes" => format!("{module}-{minor}"),
        _ => module.to_owned(),
    }
}

/// Whether the API server is of this minor version (1.N) or newer.
pub fn is_since(minor: u32) -> bool {
    let number = |older: &String| {
        older
            .strip_prefix("1.")
            .and_then(|number| number.parse::<u32>().ok())
    };
    older().is_none_or(|older| number(&older).expect("FINALIZERS_KUBERNETES is like 1.31") >= minor)
}

/// Whether what a test is about exists in the API server: it came with version 1.N. A test that is left out says so.
pub fn has(what: &str, minor: u32) -> bool {
    let has = is_since(minor);
    if !has {
        eprintln!("left out: {what} came with Kubernetes 1.{minor}");
    }
    has
}

/// The folder of the CRDs that belong to a module.
pub fn crds(module: &str) -> PathBuf {
    go::build(module).join("crds")
}

/// The folder of the kustomizations that install an operator, which belong to its module.
pub fn manifests(module: &str) -> PathBuf {
    go::build(module).join("config")
}

/// Whether this machine has a program that a test can do without. A test that is left out says so, and fails where none may be
/// left out (`.ci/run`).
pub fn installed(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        assert!(
            env::var_os("FINALIZERS_NOTHING_LEFT_OUT").is_none(),
            "{name} is not installed, and FINALIZERS_NOTHING_LEFT_OUT is set"
        );
        eprintln!("left out: {name} is not installed");
    }
    found
}
