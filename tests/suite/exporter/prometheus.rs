//! The metrics in a real Prometheus, which takes minutes to build: `scripts/long prometheus` runs these tests.

use std::{
    fmt::Write as _,
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use super::{Exporter, alerts::rules_in, cluster, get, manifests};
use crate::harness::{Signal, ports, program, wait};

/// A Prometheus that scrapes these targets each second, in both formats. It ends when it is dropped.
struct Prometheus {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Prometheus {
    fn start(exporter: u16) -> Self {
        let folder = TempDir::new().unwrap();
        rules_in(folder.path());
        let job = |name: &str, format: &str| {
            serde_json::json!({"job_name": name, "honor_labels": true, "scrape_protocols": [format],
                "static_configs": [{"targets": [format!("127.0.0.1:{exporter}")]}]})
        };
        let config = serde_json::json!({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [job("text", "PrometheusText0.0.4"), job("open", "OpenMetricsText1.0.0")],
        });
        fs::write(folder.path().join("prometheus.yml"), config.to_string()).unwrap();
        let port = ports::free();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(program("prometheus"))
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self {
            process,
            port,
            _folder: folder,
        }
    }

    /// The data of an answer, or nothing as long as it is not there.
    fn data(&self, path: &str) -> Option<Value> {
        let answer = get(self.port, path, "application/json")?;
        let body = answer.split_once("\r\n\r\n")?.1;
        // The answer can come in chunks, whose lengths stand on lines of their own.
        let json = body.lines().find(|line| line.starts_with('{'))?;
        let answer: Value = serde_json::from_str(json).ok()?;
        (answer["status"] == "success").then(|| answer["data"].clone())
    }

    /// The value of an expression that has one series.
    fn value(&self, expression: &str) -> Option<f64> {
        let found = self.query(expression)?;
        found["result"][0]["value"][1].as_str()?.parse().ok()
    }

    /// What an expression finds. It is written byte by byte as a URL wants it.
    fn query(&self, expression: &str) -> Option<Value> {
        let mut path = "/api/v1/query?query=".to_owned();
        for byte in expression.bytes() {
            write!(path, "%{byte:02X}").unwrap();
        }
        self.data(&path)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs Prometheus; scripts/long prometheus runs it"]
fn a_real_prometheus_scrapes_the_exporter_in_both_formats() {
    let server = cluster();
    let exporter = Exporter::start(&server, &["--names"]);
    exporter.wait_until_ready();
    let prometheus = Prometheus::start(exporter.port);
    for job in ["text", "open"] {
        let value =
            |metric: &str, labels: &str| prometheus.value(&format!("{metric}{{job=\"{job}\"{labels}}}"));
        wait("Prometheus has the metrics", Duration::from_secs(30), || {
            value("finalizers_build_info", "") == Some(1.0)
        });
        assert_eq!(value("up", ""), Some(1.0));
        // The label is that of the objects.
        let stuck = value("finalizers_deletion_objects", ",namespace=\"db\"");
        assert_eq!(stuck, Some(2.0));
        assert!(value("finalizers_looks_total", "") >= Some(1.0));
        assert!(value("process_resident_memory_bytes", "") > Some(0.0));
        assert!(value("process_cpu_seconds_total", "") >= Some(0.0));
        assert_eq!(value("finalizers_deletion_info", ",name=\"data-0\""), Some(1.0));
        assert!(value("scrape_samples_scraped", "") > Some(20.0));
    }
    let targets = prometheus.data("/api/v1/targets").unwrap();
    for target in targets["activeTargets"].as_array().unwrap() {
        assert_eq!(
            (&target["health"], &target["lastError"]),
            (&"up".into(), &"".into())
        );
    }
    let evaluated = || {
        let rules = prometheus.data("/api/v1/rules")?;
        let rules = rules["groups"][0]["rules"].as_array()?.clone();
        rules.iter().all(|rule| rule["health"] == "ok").then_some(rules)
    };
    wait("the alerts are evaluated", Duration::from_secs(30), || {
        evaluated().is_some()
    });
    let state = |alert: &str| {
        let rules = evaluated().unwrap();
        let rule = rules.into_iter().find(|rule| rule["name"] == alert).unwrap();
        rule["state"].as_str().unwrap().to_owned()
    };
    // It was absent until the first scrape.
    wait(
        "no alert about an absent exporter",
        Duration::from_secs(30),
        || state("FinalizersExporterAbsent") == "inactive",
    );
    assert_eq!(state("FinalizersNotRead"), "pending");
    exporter.end(Signal::TERM);
}

/// Each panel of the dashboard, as Grafana would ask for it. The cluster has stuck objects, and a type that cannot be read.
#[test]
#[ignore = "needs Prometheus; scripts/long prometheus runs it"]
fn each_expression_of_the_dashboard_finds_something() {
    let server = cluster();
    let exporter = Exporter::start(&server, &["--names"]);
    exporter.wait_until_ready();
    let prometheus = Prometheus::start(exporter.port);
    let asked = manifests::expressions_of_the_dashboard();
    assert!(asked.len() >= 10, "{asked:?}");
    for expression in asked {
        wait(
            &format!("{expression} finds something"),
            Duration::from_secs(30),
            || {
                let found = prometheus.query(&expression);
                found.is_some_and(|data| data["result"].as_array().is_some_and(|series| !series.is_empty()))
            },
        );
    }
    assert_eq!(prometheus.query("sum(finalizers_deletion_objects"), None);
    exporter.end(Signal::TERM);
}
