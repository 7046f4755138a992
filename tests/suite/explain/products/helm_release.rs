//! Helm: a release that stays in uninstalling, and HelmChart objects of K3s whose Job failed.

use serde_json::json;

use crate::{
    explain::{
        custom_resources::{apply, define, going},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, release, told},
    },
    harness::wait,
};

#[test]
fn a_release_that_stays_in_uninstalling_is_named() {
    let cluster = &*WORLD;
    let (group, finalizer) = (
        "core.matrixorigin.example",
        "matrixoneclusters.core.matrixorigin.example/finalizer",
    );
    define(group, "v1alpha1", "matrixoneclusters", "MatrixOneCluster");
    let ns = cluster.namespace("mo");
    let place = ns.name();
    let object = |name: &str, annotations: serde_json::Value| {
        json!({"apiVersion": format!("{group}/v1alpha1"), "kind": "MatrixOneCluster",
            "metadata": {"name": name, "namespace": place, "finalizers": [finalizer], "annotations": annotations,
                "labels": {"app.kubernetes.io/managed-by": "Helm"}}})
    };
    for (version, status) in [("9", "superseded"), ("10", "uninstalling")] {
        apply(
            &json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": {"name": format!("sh.helm.release.v1.mo.v{version}"), "namespace": place,
                "labels": {"owner": "helm", "name": "mo", "status": status, "version": version}}}),
        );
    }
    let of_release = json!({"meta.helm.sh/release-name": "mo", "meta.helm.sh/release-namespace": place});
    let target = going("matrixoneclusters", &object("mo", of_release), 20);
    let by_hand = going("matrixoneclusters", &object("own", json!({})), 20);

    let story = told(cluster, &target, place);
    story
        .says(&format!(
            "Helm release mo in {place}, which it belongs to, is uninstalling"
        ))
        .says("again before that")
        .never_advises("helm install")
        .never_advises("delete secret")
        .is_careful();
    let last = story
        .commands()
        .into_iter()
        .position(|command| command.starts_with("helm uninstall mo"));
    assert!(last.is_some(), "{story}");
    withstands_less(cluster, &target, place, 26);
    told(cluster, &by_hand, place).never_says("Helm release");
    for target in [&target, &by_hand] {
        release(cluster, target, place);
        goes(cluster, target, place);
    }
}

#[test]
fn a_helm_chart_with_a_failed_job_names_the_job() {
    let cluster = &*WORLD;
    let (group, finalizer) = ("helm.cattle.io", "wrangler.cattle.io/on-helm-chart-remove");
    define(group, "v1", "helmcharts", "HelmChart");
    let ns = cluster.namespace("charts");
    let place = ns.name();
    let target = going(
        "helmcharts",
        &json!({"apiVersion": "helm.cattle.io/v1", "kind": "HelmChart",
            "metadata": {"name": "traefik", "namespace": place, "finalizers": [finalizer]}, "spec": {"chart": "traefik"}}),
        10,
    );
    for name in ["traefik", "other"] {
        apply(
            &json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": format!("helm-delete-{name}"), "namespace": place,
            "labels": {"helmcharts.helm.cattle.io/chart": name}},
            "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "helm", "image": "klipper-helm"}]}}}}),
        );
    }
    let mut pod = String::new();
    wait("the Job has its Pod", SOON, || {
        let selector = "--selector=job-name=helm-delete-traefik";
        pod = ns
            .kubectl([
                "get",
                "pods",
                selector,
                "--output=jsonpath={.items[0].metadata.name}",
            ])
            .stdout;
        !pod.is_empty()
    });
    ns.patch_status(["pod", &pod], &json!({"phase": "Failed"}));
    wait("the Job fails", SOON, || {
        let job = ns.get(["job", "helm-delete-traefik"]).unwrap();
        job["status"]["conditions"]
            .to_string()
            .contains("BackoffLimitExceeded")
    });
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    story
        .has_root("Job helm-delete-traefik: was made for it, and has failed: BackoffLimitExceeded")
        .never_says("helm-delete-other")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    // The controller creates the Job again, and this one succeeds.
    story.follow(cluster, "delete job/helm-delete-traefik");
    goes(cluster, "job/helm-delete-traefik", place);
    let story = told(cluster, &target, place);
    assert_ne!(story.verdict(finalizer), "failing", "{story}");
    release(cluster, &target, place);
    goes(cluster, &target, place);
    delete(cluster, "job/helm-delete-other", place);
}
