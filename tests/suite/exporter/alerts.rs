//! The alerts and the metrics as Prometheus' own tools see them.
//!
//! The tools are built from Go modules, which takes minutes: `scripts/long prometheus` runs the tests that need them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{Exporter, cluster, manifests};
use crate::harness::{Signal, program};

const CASES: &str = include_str!("alerts.yaml");

/// The file that Prometheus reads: the groups without what Kubernetes has around them.
pub(super) fn rules_in(folder: &Path) {
    let rule = manifests::object("PrometheusRule");
    fs::write(folder.join("rules.yaml"), rule["spec"].to_string()).unwrap();
}

fn promtool(folder: &Path, words: &[&str], stdin: &str) -> Output {
    let mut promtool = Command::new(program("promtool"));
    let promtool = promtool.args(words).current_dir(folder);
    let pipes = promtool.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

#[track_caller]
fn accepted(out: &Output) {
    let said = [&*out.stdout, b"\n", &*out.stderr].concat();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&said));
}

fn cases() -> Vec<Value> {
    let file: Value = serde_saphyr::from_str(CASES).unwrap();
    file["tests"].as_array().unwrap().clone()
}

/// What is expected of each alert, at each time.
fn expected() -> Vec<Value> {
    let checks = cases().into_iter().flat_map(|case| {
        let checks = case["alert_rule_test"].as_array().unwrap();
        checks.clone()
    });
    checks.collect()
}

/// The names of the labels of each metric, from lines such as `up{job="a"} 1`. No value of the tests has a comma.
fn labels<'a>(lines: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for line in lines.into_iter().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').unwrap_or((line, ""));
        let name = name.split(' ').next().unwrap_or_default();
        let words = rest.split(',').filter_map(|word| word.split_once("=\""));
        let labels = words.map(|(label, _)| label.trim().to_owned());
        found.insert(name.to_owned(), labels.collect());
    }
    found
}

#[test]
fn the_series_of_the_cases_have_the_labels_of_those_that_are_served() {
    let server = cluster();
    let exporter = Exporter::start(&server, &[]);
    exporter.wait_until_ready();
    let metrics = exporter.metrics();
    exporter.end(Signal::TERM);
    let body = metrics.split_once("\r\n\r\n").unwrap().1;
    let labels_served = labels(body.lines());
    let cases = cases();
    let inputs = cases
        .iter()
        .flat_map(|case| case["input_series"].as_array().unwrap())
        .map(|series| series["series"].as_str().unwrap());
    for series in inputs {
        for (name, mut labels) in labels([series]) {
            // Prometheus adds this one.
            labels.remove("instance");
            assert_eq!(Some(&labels), labels_served.get(&name), "{name} in\n{metrics}");
        }
    }
}

/// The questions of docs/fleet.md ask for series and labels that are served. Each cluster adds its name.
#[test]
fn the_questions_of_the_fleet_are_about_series_that_are_served() {
    let observed = cluster();
    let exporter = Exporter::start(&observed, &[]);
    exporter.wait_until_ready();
    let metrics = exporter.metrics();
    exporter.end(Signal::TERM);
    let served = labels(metrics.split_once("\r\n\r\n").unwrap().1.lines());
    let page = include_str!("../../../docs/fleet.md");
    let block = page
        .split("```text\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mut asked = 0;
    for question in block.lines().filter(|line| !line.starts_with('#')) {
        let (_, series) = question.split_once("finalizers_").unwrap();
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let name: String = series.chars().take_while(|c| is_name(*c)).collect();
        let known = &served[&format!("finalizers_{name}")];
        let by = question.split_once("by (").unwrap().1.split(')').next().unwrap();
        let chosen = series
            .split(['{', ','])
            .skip(1)
            .filter_map(|word| word.split_once("=\""));
        let words = by.split(", ").chain(chosen.map(|(label, _)| label));
        for label in words.filter(|label| *label != "cluster") {
            assert!(known.contains(label), "{label} in {question}");
        }
        asked += 1;
    }
    assert_eq!(asked, 3);
}

#[test]
fn each_alert_has_a_case_that_fires_with_a_command_and_a_page_and_one_that_does_not() {
    let rule = manifests::object("PrometheusRule");
    let expected = expected();
    for alert in rule["spec"]["groups"][0]["rules"].as_array().unwrap() {
        let (silent, firing): (Vec<_>, Vec<_>) = expected
            .iter()
            .filter(|one| one["alertname"] == alert["alert"])
            .flat_map(|one| [one["exp_alerts"].as_array().unwrap()])
            .partition(|alerts| alerts.is_empty());
        assert!(!silent.is_empty() && !firing.is_empty(), "{alert:#}");
        for told in firing.into_iter().flatten().map(|one| &one["exp_annotations"]) {
            let command = told["next_command"].as_str().unwrap();
            if let Some(words) = command.strip_prefix("kubectl finalizers ") {
                let words = std::iter::once("x").chain(words.split(' '));
                kubectl_finalizers::cli::parse(words.map(Into::into)).unwrap();
            }
            let page = told["runbook_url"].as_str().unwrap();
            let (_, page) = page.split_once("/blob/main/").unwrap();
            assert!(manifests::root().join(page).is_file(), "{page}");
        }
    }
}

#[test]
#[ignore = "needs promtool; scripts/long prometheus runs it"]
fn promtool_accepts_the_alerts_and_they_fire_as_in_the_cases() {
    let folder = TempDir::new().unwrap();
    rules_in(folder.path());
    fs::write(folder.path().join("alerts.yaml"), CASES).unwrap();
    let check = ["check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"];
    accepted(&promtool(folder.path(), &check, ""));
    accepted(&promtool(folder.path(), &["test", "rules", "alerts.yaml"], ""));
    // The rules for those who have kube-state-metrics only.
    let others = manifests::root().join("integrations/alert-rules.yaml");
    let check = ["check", "rules", "--lint=all", "--lint-fatal"];
    accepted(&promtool(
        folder.path(),
        &[&check[..], &[others.to_str().unwrap()]].concat(),
        "",
    ));

    // The cases can fail.
    let other = CASES.replace("Nobody would notice", "Somebody would notice");
    assert_ne!(other, CASES);
    fs::write(folder.path().join("other.yaml"), other).unwrap();
    let out = promtool(folder.path(), &["test", "rules", "other.yaml"], "");
    assert!(!out.status.success());
}

#[test]
#[ignore = "needs promtool; scripts/long prometheus runs it"]
fn promtool_finds_no_fault_in_the_metrics() {
    let server = cluster();
    let exporter = Exporter::start(&server, &["--names"]);
    exporter.wait_until_ready();
    let metrics = exporter.metrics();
    exporter.end(Signal::TERM);
    let body = metrics.split_once("\r\n\r\n").unwrap().1;
    let here = Path::new(".");
    let out = promtool(here, &["check", "metrics"], body);
    accepted(&out);
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    let faulty = promtool(here, &["check", "metrics"], "a_total{b=\"c\" 1\n");
    assert!(!faulty.status.success());
}
