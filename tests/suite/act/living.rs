//! Webhooks that run and reject, or change other fields; and checks that do not reject, although one might
//! expect it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Case, HOLD, guards::refused};
use crate::{
    explain::told::{SOON, delete},
    harness::{Cluster, Webhook, patches, wait},
};

/// Configures the webhook for updates of these objects in this namespace, and waits until the server calls it.
fn configure(case: &Case<'_>, kind: &str, webhook: &Webhook, asked: &Arc<Mutex<usize>>) -> String {
    let name = case.cluster.unique("living");
    let hook = json!({
        "name": "living.example.test", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": webhook.client_config,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": case.ns.name()}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["UPDATE"]}],
    });
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {"name": name}, "webhooks": [hook]});
    case.cluster.apply(&configuration.to_string());
    wait("the webhook is called", SOON, || {
        let touch = [
            "annotate",
            "configmap",
            "held",
            "a=b",
            "--overwrite",
            "--dry-run=server",
        ];
        case.ns.kubectl(touch);
        *asked.lock().unwrap() > 0
    });
    name
}

/// A webhook that counts its calls.
fn webhook(
    cluster: &Cluster,
    answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> (Webhook, Arc<Mutex<usize>>) {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let webhook = Webhook::start(cluster, move |request| {
        *count.lock().unwrap() += 1;
        answer(request)
    });
    (webhook, asked)
}

fn rejection(why: &str) -> Value {
    json!({"allowed": false, "status": {"message": why}})
}

#[test]
fn a_webhook_that_rejects_is_named_with_its_message() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "denied", &[HOLD]);
    let (webhook, asked) = webhook(cluster, |_| rejection("not on a Friday"));
    let name = configure(&case, "ValidatingWebhookConfiguration", &webhook, &asked);
    let out = refused(
        &case,
        case.remove(&["--plan"]),
        "webhook living.example.test agrees: whoever runs it excepts this object",
    );
    super::says(&out, "not on a Friday");
    cluster
        .kubectl(["delete", "validatingwebhookconfiguration", &name])
        .success();
}

#[test]
fn a_webhook_that_allows_only_the_dry_run_is_reported_as_it_happened() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "two-faced", &[HOLD]);
    let (webhook, asked) = webhook(cluster, |request| {
        if request["dryRun"] == true {
            json!({"allowed": true})
        } else {
            rejection("only in a dry run")
        }
    });
    let name = configure(&case, "ValidatingWebhookConfiguration", &webhook, &asked);
    let out = case.confirmed();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "only in a dry run");
    super::says(&out, "webhook living.example.test agrees");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert_eq!(case.noted(), ["sending", "failed"]);
    assert_eq!(case.writes().len(), 1, "it is not sent again");
    cluster
        .kubectl(["delete", "validatingwebhookconfiguration", &name])
        .success();
}

#[test]
fn a_webhook_that_changes_an_immutable_field_is_named() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "immutable");
    case.ns.apply(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": [HOLD]},
            "immutable": true, "data": {"k": "v"}})
        .to_string(),
    );
    delete(cluster, "configmap/held", case.ns.name());
    case.deleted_earlier(&format!("configmaps/{}/held", case.ns.name()));
    let (webhook, asked) = webhook(cluster, |_| {
        patches(&json!([{"op": "replace", "path": "/data/k", "value": "mine"}]))
    });
    let name = configure(&case, "MutatingWebhookConfiguration", &webhook, &asked);
    let out = refused(
        &case,
        case.remove(&["--plan"]),
        "field is immutable when `immutable` is set",
    );
    super::says(&out, "a mutating webhook or policy");
    cluster
        .kubectl(["delete", "mutatingwebhookconfiguration", &name])
        .success();
}

#[test]
fn an_exceeded_quota_or_limit_does_not_keep_an_object() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "quota");
    case.ns.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "held", "finalizers": [HOLD]},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none", "resources": {"requests": {"storage": "5Gi"}}}})
        .to_string(),
    );
    case.ns.apply(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none-left}, spec: {hard: {requests.storage: 1Gi, count/persistentvolumeclaims: '0'}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: small}, spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Gi}}]}}",
    );
    wait("the quota is exceeded", SOON, || {
        let quota = case.ns.get(["resourcequota", "none-left"]).unwrap();
        quota["status"]["used"]["requests.storage"] == "5Gi"
    });
    delete(cluster, "pvc/held", case.ns.name());
    wait("only the lasting finalizer is left", SOON, || {
        case.ns.get(["pvc", "held"]).unwrap()["metadata"]["finalizers"] == json!([HOLD])
    });
    case.deleted_earlier(&format!("persistentvolumeclaims/{}/held", case.ns.name()));
    let words = ["remove", "pvc/held", "--finalizer", HOLD, "--accept=data-loss"];
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.ns.get(["pvc", "held"]), None);
}
