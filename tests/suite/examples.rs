//! `examples/`: a cluster recorded from a real control plane in both formats of `--from`. The README must still
//! describe it.

use std::{
    collections::BTreeSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    harness::{Cluster, Plugin},
    stuck,
};

/// The types that a user would save, one file for each. Without Secrets, ConfigMaps and Events.
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

/// The unpacked recording of `snapshot`, so that a difference can be read.
fn snapshot() -> PathBuf {
    folder().with_extension("snapshot")
}

#[test]
#[ignore = "replaces what is in examples/; run it with scripts/record-examples"]
fn record() {
    let cluster = Cluster::start();
    stuck::example_cluster(&cluster);
    // Ages of some minutes look realistic.
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
    let saved = saved(&cluster);
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(snapshot(), saved).unwrap();
}

fn saved(cluster: &Cluster) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("packed");
    let written = cluster.plugin(["snapshot", file.to_str().unwrap()]).run();
    written.success();
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(file).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    without_host(cluster, &text).replace(cluster.url(), "https://stuck-cluster.example:6443")
}

/// The recorded text, YAML or JSON, without the name of the recording machine, which some Leases contain.
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
    .replace(
        &format!("\"kubernetes.io/hostname\":\"{host}\""),
        "\"kubernetes.io/hostname\":\"control-plane\"",
    )
    .replace(
        &format!("\"holderIdentity\":\"{host}_"),
        "\"holderIdentity\":\"control-plane_",
    )
}

/// The README relies on these facts about the snapshot; other tests check the rest.
#[test]
fn the_snapshot_answers_without_a_gap() {
    let from = format!("--from={}", snapshot().display());
    let scan = |words: &[&str]| -> Value {
        let all = ["scan", "-o=json", &from]
            .into_iter()
            .chain(words.iter().copied());
        serde_json::from_str(&Plugin::new(all).run().success()).unwrap()
    };
    let report = scan(&[]);
    assert!(report["rootCauses"].as_array().unwrap().len() > 4, "{report:#}");
    for words in [&[][..], &["--by=holder"]] {
        let report = scan(words);
        let gaps = report["weakerFor"].as_array().unwrap();
        assert!(
            gaps.iter().all(|gap| gap["reason"] != "NotInDump"),
            "run scripts/record-examples: {gaps:#?}"
        );
    }
    for object in report["terminating"].as_array().unwrap() {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (resource, namespace) = (text("resource"), text("namespace"));
        let out = Plugin::new([
            "explain",
            &resource,
            &text("name"),
            "-n",
            &namespace,
            "-o=json",
            &from,
        ])
        .run();
        let told: Value = serde_json::from_str(&out.success()).unwrap();
        let gaps = told["notRead"].as_array().unwrap();
        assert!(
            gaps.iter().all(|gap| gap["reason"] != "NotInDump"),
            "run scripts/record-examples: {object:#} {gaps:#?}"
        );
    }
}

#[test]
fn exactly_the_intended_objects_are_recorded() {
    let found: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let meant: BTreeSet<String> = RECORDED.iter().map(|ty| format!("{ty}.yaml")).collect();
    assert_eq!(found, meant, "run scripts/record-examples");
}
