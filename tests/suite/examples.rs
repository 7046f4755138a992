//! `examples/stuck-cluster`: recorded from a real control plane, and still what README.md says it is.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{harness::Cluster, stuck};

/// What somebody would save who cannot say yet what matters: one file a type. No Secrets and no ConfigMaps, and
/// no Events, which are noise here.
const RECORDED: &[&str] = &[
    "apiservices.apiregistration.k8s.io",
    "challenges.acme.cert-manager.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "jobs.batch",
    "leases.coordination.k8s.io",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "services",
    "storageclasses.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "volumes.longhorn.io",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/stuck-cluster")
}

#[test]
#[ignore = "replaces examples/stuck-cluster; run it with scripts/record-examples"]
fn record() {
    let cluster = Cluster::start();
    stuck::example_cluster(&cluster);
    // Ages in minutes look like life.
    thread::sleep(Duration::from_secs(150));

    let files: Vec<_> = RECORDED
        .iter()
        .map(|ty| {
            let text = cluster
                .kubectl(["get", ty, "--all-namespaces", "--output=yaml"])
                .success();
            (format!("{ty}.yaml"), without_host(&cluster, &text))
        })
        .collect();
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// The recorded text without the name of the machine that it was recorded on, which some Leases carry.
fn without_host(cluster: &Cluster, text: &str) -> String {
    let servers = cluster
        .get([
            "leases",
            "--namespace=kube-system",
            "--selector=apiserver.kubernetes.io/identity=kube-apiserver",
        ])
        .unwrap();
    let host = servers["items"][0]["metadata"]["labels"]["kubernetes.io/hostname"]
        .as_str()
        .expect("the API server's own Lease names its host");
    text.replace(
        &format!("kubernetes.io/hostname: {host}\n"),
        "kubernetes.io/hostname: control-plane\n",
    )
    .replace(
        &format!("holderIdentity: {host}_"),
        "holderIdentity: control-plane_",
    )
}

#[test]
fn exactly_what_is_meant_to_be_recorded_is() {
    let found: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let meant: BTreeSet<String> = RECORDED.iter().map(|ty| format!("{ty}.yaml")).collect();
    assert_eq!(found, meant, "run scripts/record-examples");
}
