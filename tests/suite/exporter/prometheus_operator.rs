//! The folder `monitoring` in a cluster with the Prometheus Operator: its own CRDs, and its own webhook, which reads the alerts.
//! `scripts/long prometheus` runs these tests, because the webhook takes minutes to build.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::{get, manifests};
use crate::harness::{Cluster, crds, ports, program, wait};

const NAMESPACE: &str = "finalizers-exporter";

#[test]
#[ignore = "needs the Prometheus Operator; scripts/long prometheus runs it"]
fn kubectl_applies_the_monitoring_of_the_exporter_and_the_server_drops_no_field() {
    let cluster = Cluster::start();
    let crds = format!("--filename={}", crds("prometheus-operator").display());
    cluster.kubectl(["apply", "--server-side", &crds]).success();
    for resource in ["servicemonitors", "prometheusrules"] {
        let definition = format!("crd/{resource}.monitoring.coreos.com");
        cluster
            .kubectl([
                "wait",
                "--for=condition=Established",
                "--timeout=60s",
                &definition,
            ])
            .success();
    }
    cluster.kubectl(["create", "namespace", NAMESPACE]).success();
    let folder = manifests::root()
        .join("deploy/exporter/monitoring")
        .display()
        .to_string();
    // An unknown field is an error, and no warning.
    cluster
        .kubectl(["apply", "--validate=strict", "-k", &folder])
        .success();
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        let ours = manifests::object(kind);
        let name = ours["metadata"]["name"].as_str().unwrap();
        let stored = cluster
            .get([
                &format!("{kind}.monitoring.coreos.com"),
                name,
                "--namespace",
                NAMESPACE,
            ])
            .unwrap();
        assert_eq!(stored["spec"], ours["spec"], "{kind}");
    }
    let dashboard = cluster
        .get(["configmap", "finalizers-dashboard", "--namespace", NAMESPACE])
        .unwrap();
    let text = dashboard["data"]["dashboard.json"].as_str().unwrap();
    let panels: Value = serde_json::from_str(text).unwrap();
    assert!(panels["panels"].as_array().unwrap().len() > 5);
}

/// The operator's webhook, without TLS. It ends when it is dropped.
struct Webhook {
    process: Child,
    port: u16,
}

impl Webhook {
    fn start() -> Self {
        let port = ports::free();
        let process = Command::new(program("admission-webhook"))
            .args([
                "--web.enable-tls=false",
                &format!("--web.listen-address=127.0.0.1:{port}"),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait("the webhook answers", Duration::from_secs(30), || {
            get(port, "/healthz", "*/*").is_some_and(|answer| answer.contains("\"up\""))
        });
        Webhook { process, port }
    }

    /// Its answer to the creation of this object.
    fn response(&self, object: &Value) -> Value {
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "1", "operation": "CREATE", "object": object,
            "resource": {"group": "monitoring.coreos.com", "version": "v1", "resource": "prometheusrules"}}});
        let body = review.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "POST /admission-prometheusrules/validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let json = answer
            .lines()
            .find(|line| line.starts_with('{'))
            .unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str::<Value>(json).unwrap()["response"].clone()
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs the Prometheus Operator; scripts/long prometheus runs it"]
fn the_webhook_of_the_operator_accepts_the_alerts_and_rejects_a_broken_one() {
    let webhook = Webhook::start();
    let mut rule = manifests::object("PrometheusRule");
    let response = webhook.response(&rule);
    assert_eq!(response["allowed"], true, "{response:#}");
    rule["spec"]["groups"][0]["rules"][0]["expr"] = "sum by (".into();
    let response = webhook.response(&rule);
    assert_eq!(response["allowed"], false, "{response:#}");
}
