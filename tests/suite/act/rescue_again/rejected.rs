//! A webhook that rejects what is made again: known before anything is sent, or met only when the old object is gone.

use serde_json::{Value, json};

use super::{
    Before, Case, Cluster, Disk, SOON, claims,
    interrupted::{begin, resume},
    says, wait,
};
use crate::{act::guards::refused, explain::told::delete, harness::Webhook};

/// The name that the server says when the webhook rejects.
const WEBHOOK: &str = "again.example.test";

/// What the webhook rejects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rejects {
    /// Each creation, also as a dry run.
    All,
    /// What is stored. As if somebody had installed it after the dry run.
    WhatIsStored,
}

/// A webhook that rejects new volumes with a label of the case, and new claims in its namespace. It ends with the value.
struct Rejecting<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl<'a> Rejecting<'a> {
    fn start(disk: &Disk<'a>, rejects: Rejects) -> Self {
        let (cluster, namespace) = (disk.case.cluster, disk.case.ns.name());
        let webhook = Webhook::start(cluster, move |request| {
            let is_fine = rejects == Rejects::WhatIsStored && request["dryRun"] == true;
            json!({"allowed": is_fine, "status": {"message": "not on a Friday"}})
        });
        let name = cluster.unique("again");
        let one = |resource: &str, name: String, selector: &str, labels: Value| {
            json!({"name": name, "clientConfig": webhook.client_config, "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                selector: {"matchLabels": labels},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}]})
        };
        let label = json!({"again.example.test/case": namespace});
        let home = json!({"kubernetes.io/metadata.name": namespace});
        cluster.apply(
            &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": name}, "webhooks": [
                    one("persistentvolumes", WEBHOOK.into(), "objectSelector", label.clone()),
                    one("persistentvolumeclaims", format!("claims.{WEBHOOK}"), "namespaceSelector", home)]})
            .to_string(),
        );
        cluster
            .kubectl([
                "label",
                &disk.pv(),
                &format!("again.example.test/case={namespace}"),
            ])
            .success();
        let probe = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": cluster.unique("probe"),
            "labels": label}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/x"}}});
        let file = cluster.directory().join(format!("{name}.json"));
        std::fs::write(&file, probe.to_string()).expect("the folder exists");
        let create = ["create".to_owned(), format!("--filename={}", file.display())];
        let remove = ["delete".to_owned(), format!("--filename={}", file.display())];
        wait("the webhook is in force", SOON, || {
            let is_rejected = cluster.kubectl(create.clone()).code != 0;
            if !is_rejected {
                cluster.kubectl(remove.clone()).success();
            }
            is_rejected
        });
        Rejecting { cluster, name }
    }
}

impl Drop for Rejecting<'_> {
    fn drop(&mut self) {
        let words = ["delete", "validatingwebhookconfiguration", &self.name];
        let _ = self.cluster.kubectl(words);
    }
}

#[test]
fn a_webhook_that_rejects_the_new_object_is_known_before() {
    let cluster = Cluster::shared();
    let disk = Disk::made(cluster, "known-webhook");
    let case: &Case<'_> = &disk.case;
    let webhook = Rejecting::start(&disk, Rejects::All);
    super::pod(case, &cluster.node());
    delete(cluster, "pvc/data", case.ns.name());
    let out = refused(
        case,
        case.run(&["rescue", "pvc/data"]),
        &format!("webhook claims.{WEBHOOK} agrees"),
    );
    says(&out, "not on a Friday");
    delete(cluster, &disk.pv(), "");
    let out = refused(
        case,
        case.run(&["rescue", &disk.pv()]),
        &format!("webhook {WEBHOOK} agrees"),
    );
    says(&out, "validatingwebhookconfigurations");
    assert_eq!(disk.policy(), "Delete");
    drop(webhook);
}

/// The most dangerous moment: the volume is gone when the server rejects the new one.
#[test]
fn a_webhook_that_comes_after_the_dry_run_leaves_a_volume_that_can_be_made_later() {
    let cluster = Cluster::shared();
    let disk = Disk::made(cluster, "late-webhook");
    let case = &disk.case;
    let before = Before::of(&disk);
    let webhook = Rejecting::start(&disk, Rejects::WhatIsStored);
    delete(cluster, &disk.pv(), "");
    let out = case.confirm(&begin(&disk).each_ref().map(String::as_str)).run();
    assert_eq!(out.code, 1, "{out}");
    for text in [
        "UNFINISHED",
        "The server refused to make the volume again",
        "not on a Friday",
        &format!("webhook {WEBHOOK} agrees"),
        &format!(
            "The volume object is gone. Its policy was Retain, so its disk {} stays.",
            disk.volume
        ),
        "--resume",
    ] {
        says(&out, text);
    }
    // The copies are named, and have what the new volume needs.
    let copies = case.copies();
    assert!(copies.len() >= 2, "{copies:?}");
    for copy in copies {
        says(&out, copy.file_name().unwrap().to_str().unwrap());
    }
    assert!(disk.object().is_none());
    assert_eq!(case.receipts().last().unwrap()["what"], "unfinished");
    disk.survives();

    drop(webhook);
    let outcome = super::outcome(case, &resume(&disk).each_ref().map(String::as_str));
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    before.is_there_again(&disk);
    assert_eq!(disk.policy(), "Delete");
}

#[test]
fn a_webhook_that_comes_after_the_dry_run_leaves_a_claim_that_can_be_made_later() {
    let cluster = Cluster::shared();
    let disk = claims::deleted(cluster, "late-claim-webhook");
    let case = &disk.case;
    let old = claims::uid(&disk);
    let webhook = Rejecting::start(&disk, Rejects::WhatIsStored);
    let run = case.confirm(&["rescue", "pvc/data"]).spawn();
    claims::is_kept(&disk);
    claims::stop_pod(case);
    let out = run.finish();
    assert_eq!(out.code, 1, "{out}");
    for text in [
        "UNFINISHED",
        "The server refused to make the claim again",
        &format!("webhook claims.{WEBHOOK} agrees"),
        &format!(
            "The claim is gone. Its volume {} stays, and keeps the disk.",
            disk.volume
        ),
        "--resume",
    ] {
        says(&out, text);
    }
    assert!(claims::uid(&disk).is_none());
    disk.is_released();
    disk.survives();

    drop(webhook);
    let outcome = super::outcome(case, &resume(&disk).each_ref().map(String::as_str));
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    claims::is_there_again(&disk, old.as_ref());
}
