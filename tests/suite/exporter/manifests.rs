//! The manifests of the exporter can be read, and its alerts, its dashboard and its page name what exists.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{Exporter, cluster};
use crate::harness::{Signal, program};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below `deploy/exporter` with this ending.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["deploy/exporter", "deploy/exporter/monitoring"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// All objects of the manifests, without the kustomizations.
fn objects() -> Vec<Value> {
    let files = files("yaml");
    let all = files.iter().flat_map(|path| {
        let text = read(path);
        let objects: Vec<Value> =
            serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!objects.is_empty(), "{}", path.display());
        objects
    });
    all.filter(|object| object["kind"] != "Kustomization").collect()
}

pub fn object(kind: &str) -> Value {
    let found = objects().into_iter().find(|object| object["kind"] == kind);
    found.unwrap_or_else(|| panic!("there is no {kind}"))
}

/// What the panels of the dashboard ask for.
pub fn expressions_of_the_dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("deploy/exporter/monitoring/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    targets
        .map(|target| target["expr"].as_str().unwrap().to_owned())
        .collect()
}

/// The words that are names of metrics.
fn metrics_in(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("finalizers_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// Every metric that an exporter serves.
fn served() -> BTreeSet<String> {
    let server = cluster();
    let exporter = Exporter::start(&server, &["--names"]);
    exporter.wait_until_ready();
    let metrics = exporter.metrics();
    exporter.end(Signal::TERM);
    let described = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = described.map(|line| line.split(' ').next().unwrap().to_owned());
    names.collect()
}

#[test]
fn each_manifest_is_an_object_and_each_kustomization_can_be_built() {
    for object in objects() {
        for field in ["apiVersion", "kind"] {
            assert!(object[field].is_string(), "{object:#}");
        }
        assert!(object["metadata"]["name"].is_string(), "{object:#}");
    }
    for (folder, objects) in [("deploy/exporter", 6), ("deploy/exporter/monitoring", 3)] {
        let built = Command::new(program("kubectl"))
            .args(["kustomize", folder])
            .current_dir(root())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{folder}: {errors}");
        let text = String::from_utf8(built.stdout).unwrap();
        let found: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        assert_eq!(found.len(), objects, "{text}");
    }
}

#[test]
fn the_pod_is_restricted_and_the_role_only_reads() {
    let deployment = object("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
    assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
    for probe in ["readinessProbe", "livenessProbe"] {
        assert!(container[probe]["httpGet"]["path"].is_string(), "{probe}");
    }
    for rule in object("ClusterRole")["rules"].as_array().unwrap() {
        assert_eq!(rule["verbs"], serde_json::json!(["get", "list", "watch"]));
    }
    let words = container["args"].as_array().unwrap().iter();
    let words = std::iter::once("x").chain(words.map(|word| word.as_str().unwrap()));
    kubectl_finalizers::cli::parse(words.map(Into::into)).unwrap();
}

#[test]
fn the_service_and_its_monitor_find_the_exporter() {
    let (deployment, service, monitor) = (object("Deployment"), object("Service"), object("ServiceMonitor"));
    let pod = &deployment["spec"]["template"];
    assert_eq!(service["spec"]["selector"], pod["metadata"]["labels"]);
    assert_eq!(
        deployment["spec"]["selector"]["matchLabels"],
        pod["metadata"]["labels"]
    );
    let port = &service["spec"]["ports"][0];
    let container = &pod["spec"]["containers"][0]["ports"][0];
    assert_eq!(port["targetPort"], container["name"]);
    assert_eq!(container["containerPort"], 9836);
    let scraped = &service["metadata"]["annotations"]["prometheus.io/port"];
    assert_eq!(scraped, &port["port"].to_string());
    assert_eq!(
        monitor["spec"]["selector"]["matchLabels"],
        service["metadata"]["labels"]
    );
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], port["name"]);
    assert_eq!(monitor["spec"]["endpoints"][0]["honorLabels"], true);
}

#[test]
fn alerts_and_dashboard_use_metrics_that_are_served_and_the_page_has_all() {
    let served = served();
    assert!(served.len() > 15, "{served:?}");
    let rules = object("PrometheusRule").to_string();
    let dashboards = files("json");
    assert!(!dashboards.is_empty());
    let mut used = metrics_in(&rules);
    for path in dashboards {
        let text = read(&path);
        let _: Value = serde_json::from_str(&text).unwrap();
        used.extend(metrics_in(&text));
    }
    let unserved: Vec<_> = used.difference(&served).collect();
    assert!(unserved.is_empty(), "{unserved:?}");
    let page = metrics_in(&read("docs/exporter.md"));
    let (undocumented, unknown): (Vec<_>, Vec<_>) = (
        served.difference(&page).collect(),
        page.difference(&served).collect(),
    );
    assert!(
        undocumented.is_empty() && unknown.is_empty(),
        "{undocumented:?} {unknown:?}"
    );
}

#[test]
fn each_alert_has_a_command_and_a_page_that_exists() {
    let rule = object("PrometheusRule");
    let alerts = rule["spec"]["groups"][0]["rules"].as_array().unwrap();
    for alert in alerts {
        let annotations = &alert["annotations"];
        let text = |name: &str| annotations[name].as_str().unwrap_or_else(|| panic!("{alert:#}"));
        assert!(!text("summary").is_empty() && !text("description").is_empty());
        assert!(text("next_command").starts_with("kubectl "), "{alert:#}");
        let (_, page) = text("runbook_url").split_once("/blob/main/").unwrap();
        // A page that depends on a label is one of a folder that exists.
        let fixed = page.split("{{").next().unwrap();
        assert!(root().join(fixed).exists(), "{page}");
    }
    assert!(alerts.len() >= 6);
}
