//! Tekton: a policy that forbids every update of a finished run, and a finalizer under its older name.

use serde_json::json;

use super::{apply, define, going, running};
use crate::{
    explain::{
        holder::WORLD,
        taken_away::withstands_less,
        told::{SOON, goes, release, run, told},
    },
    harness::wait,
};

#[test]
fn a_finished_run_that_nobody_may_update() {
    let cluster = &*WORLD;
    define("tekton.dev", "v1", "pipelineruns", "PipelineRun");
    let ns = cluster.namespace("ci");
    let place = ns.name();
    let finalizer = "chains.tekton.dev/pipelinerun";
    let target = going(
        "pipelineruns",
        &json!({"apiVersion": "tekton.dev/v1", "kind": "PipelineRun",
            "metadata": {"name": "nightly", "namespace": place, "finalizers": [finalizer]},
            "status": {"completionTime": "2026-01-01T00:00:00Z"}}),
        10,
    );
    let message = "Once the PipelineRun is complete, no updates are allowed";
    apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "finished-runs"}, "spec": {"failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{"apiGroups": ["tekton.dev"], "apiVersions": ["v1"], "resources": ["pipelineruns"],
                "operations": ["UPDATE"]}]},
            "validations": [{"expression": "!has(oldObject.status.completionTime)", "message": message}]}}),
    );
    apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "finished-runs"}, "spec": {"policyName": "finished-runs", "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": place}}}}}),
    );
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    wait("the policy refuses", SOON, || {
        let tried = ns.kubectl([
            "patch",
            &target,
            "--type=merge",
            "--dry-run=server",
            "--patch",
            patch,
        ]);
        tried.stderr.contains(message)
    });

    let story = told(cluster, &target, place);
    story
        .says("finished-runs")
        .never_advises("delete validatingadmissionpolicy ")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    // Whether it refuses is for the server to say, and trying changes nothing.
    let command = story
        .commands()
        .into_iter()
        .find(|command| command.contains("--dry-run=server"))
        .unwrap_or_else(|| panic!("no way to try it: {story}"))
        .to_owned();
    let tried = run(cluster, &command);
    let said = String::from_utf8_lossy(&tried.stderr);
    assert!(
        !tried.status.success() && said.contains("finished-runs"),
        "{command}: {tried:?}"
    );
    // This namespace is taken out of the binding, and nobody else loses the policy.
    apply(
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "finished-runs"}, "spec": {"policyName": "finished-runs", "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [place]}], "matchLabels": null}}}}),
    );
    wait("the policy lets it through", SOON, || {
        ns.kubectl([
            "patch",
            &target,
            "--type=merge",
            "--dry-run=server",
            "--patch",
            patch,
        ])
        .code
            == 0
    });
    told(cluster, &target, place).never_says("finished-runs");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

#[test]
fn an_older_name_that_the_new_release_leaves() {
    let cluster = &*WORLD;
    let (older, newer) = ("chains.tekton.dev", "chains.tekton.dev/taskrun");
    define("tekton.dev", "v1", "taskruns", "TaskRun");
    running(
        "tekton-chains",
        "tekton-chains-controller",
        json!({"app": "tekton-chains-controller"}),
        "tekton.dev",
    );
    let ns = cluster.namespace("chains");
    let place = ns.name();
    let write = |manager: &str, object: &serde_json::Value| {
        let file = cluster.directory().join("run.json");
        std::fs::write(&file, object.to_string()).unwrap();
        let (manager, file) = (
            format!("--field-manager={manager}"),
            format!("--filename={}", file.display()),
        );
        cluster
            .kubectl(["apply", "--server-side", &manager, &file])
            .success();
    };
    // The older release wrote the finalizers, the newer one has worked on it since.
    let run = |name: &str, finalizers: serde_json::Value, minutes: i64| {
        let metadata = |extra: serde_json::Value| {
            let mut metadata = json!({"name": name, "namespace": place});
            for (field, value) in extra.as_object().into_iter().flatten() {
                metadata[field] = value.clone();
            }
            json!({"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": metadata})
        };
        write("controller", &metadata(json!({"finalizers": finalizers})));
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let signed = metadata(json!({"annotations": {"chains.tekton.dev/signed": "true"}}));
        write("tekton-chains-controller", &signed);
        going("taskruns", &metadata(json!({})), minutes)
    };
    let both = run("both", json!([older, newer]), 10);
    let recent = run("recent", json!([older]), 0);
    let target = run("build", json!([older]), 10);

    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(older), "stalled", "{story}");
    story
        .says("chains.tekton.dev is an older name of chains.tekton.dev/taskrun")
        .says("controller put the older one on and has not been heard of since")
        .says("It runs.")
        .says("take off this one older name, and no other")
        .never_says("It is gone")
        .is_careful();
    withstands_less(cluster, &target, place, 30);
    // While the new name is on, the controller has not done its part; and it has a moment to do it.
    let story = told(cluster, &both, place);
    assert_ne!(story.verdict(older), "stalled", "{story}");
    story
        .says("That is on this object too, and goes first")
        .never_advises("finalizers remove");
    let story = told(cluster, &recent, place);
    assert_eq!(story.verdict(older), "waiting", "{story}");
    story.never_advises("finalizers remove");

    told(cluster, &target, place).follow(cluster, "finalizers remove");
    goes(cluster, &target, place);
    for target in [&both, &recent] {
        release(cluster, target, place);
        goes(cluster, target, place);
    }
}
