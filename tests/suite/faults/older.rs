//! Servers without types that are usual today: a conclusion that needs such a type is weaker, and never wrong.

use serde_json::{Value, json};

use super::fake::{Fake, Kind, Running, cluster_object, object};
use crate::{explain::document, harness::Plugin};

/// The explanation of one object of this server.
fn explained(server: &Running, words: &[&str]) -> Value {
    let all = ["explain", "-o=json"].iter().chain(words).copied();
    let out = Plugin::new(all).kubeconfig(server.kubeconfig()).run();
    assert!(out.code == 0 && !out.stderr.contains("panicked"), "{out}");
    document(&out.stdout)
}

/// A ConfigMap in deletion, and a webhook that every update of it must pass. Its Service has a port and no endpoint.
fn guarded() -> Fake {
    let webhook = json!([{
        "name": "guard.example.com", "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "guard", "namespace": "policy", "port": 443}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    }]);
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
        .with_type(Kind::new("", "v1", "configmaps").kind("ConfigMap").namespaced())
        .with_type(Kind::new("", "v1", "services").kind("Service").namespaced())
        .with_type(
            Kind::new(
                "admissionregistration.k8s.io",
                "v1",
                "validatingwebhookconfigurations",
            )
            .kind("ValidatingWebhookConfiguration"),
        )
        .with_type(
            Kind::new(
                "admissionregistration.k8s.io",
                "v1",
                "mutatingwebhookconfigurations",
            )
            .kind("MutatingWebhookConfiguration"),
        )
        .with_type(
            Kind::new(
                "admissionregistration.k8s.io",
                "v1",
                "validatingadmissionpolicies",
            )
            .kind("ValidatingAdmissionPolicy"),
        )
        .object("namespaces", cluster_object("db"))
        .object("namespaces", cluster_object("policy"))
        .object(
            "configmaps",
            object("db", "held")
                .finalizer("example.com/hold")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .object(
            "services",
            object("policy", "guard")
                .spec(json!({"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"port": 443}]})),
        )
        .object(
            "validatingwebhookconfigurations.admissionregistration.k8s.io",
            cluster_object("guard").field("webhooks", webhook),
        )
        .clock_at("2026-01-01T01:00:00Z")
}

#[test]
fn without_endpoint_slices_no_webhook_is_called_unreachable() {
    let words = ["configmaps/held", "-n", "db"];
    let slices = Kind::new("discovery.k8s.io", "v1", "endpointslices")
        .kind("EndpointSlice")
        .namespaced();
    let told = explained(&guarded().with_type(slices).start(), &words);
    assert_eq!(told["waitsFor"][0]["verdict"], "rejected", "{told:#}");

    let told = explained(&guarded().start(), &words);
    assert_ne!(told["waitsFor"][0]["verdict"], "rejected", "{told:#}");
}

#[test]
fn without_leases_nothing_is_said_of_who_runs() {
    let claim = |name: &str| {
        object("db", name)
            .finalizer("kubernetes.io/pvc-protection")
            .deleting("2026-01-01T00:00:00Z")
    };
    let server = || {
        Fake::new()
            .with_type(Kind::new("", "v1", "namespaces").kind("Namespace"))
            .with_type(Kind::new("", "v1", "pods").kind("Pod").namespaced())
            .with_type(
                Kind::new("", "v1", "persistentvolumeclaims")
                    .kind("PersistentVolumeClaim")
                    .namespaced(),
            )
            .object("namespaces", cluster_object("db"))
            .object("persistentvolumeclaims", claim("data"))
            .clock_at("2026-01-01T01:00:00Z")
    };
    let words = ["persistentvolumeclaims/data", "-n", "db"];
    let state = |told: &Value| told["waitsFor"][0]["holder"]["state"].clone();
    let leases = Kind::new("coordination.k8s.io", "v1", "leases")
        .kind("Lease")
        .namespaced();
    let lease = object("kube-system", "kube-controller-manager").spec(
        json!({"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:59:58.000000Z"}),
    );
    let with = server()
        .with_type(leases)
        .object("leases.coordination.k8s.io", lease)
        .start();
    assert_eq!(state(&explained(&with, &words)), "running");

    let told = explained(&server().start(), &words);
    assert_eq!(state(&told), "unknown", "{told:#}");
    assert_ne!(told["waitsFor"][0]["verdict"], "orphaned", "{told:#}");
}
