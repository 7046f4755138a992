//! Tekton: a policy and a webhook that reject every update of a finished run, and a finalizer under its older
//! name.

use serde_json::json;

use crate::{
    explain::{
        custom_resources::{apply, define, going, running},
        holder::WORLD,
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, refusal, release, told},
    },
    harness::{Cluster, wait},
};

/// The controller that removes the finalizers of these runs.
fn chains() {
    define("tekton.dev", "v1", "pipelineruns", "PipelineRun");
    running(
        "tekton-chains",
        "tekton-chains-controller",
        json!({"app": "tekton-chains-controller"}),
        "tekton.dev",
    );
}

const FINISHED: &str = "Once the PipelineRun is complete, no updates are allowed";

/// A policy that rejects every update of a finished run in this namespace.
pub fn locked(cluster: &Cluster, name: &str, namespace: &str) {
    let (api, kind) = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy");
    let policy = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": {"failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{"apiGroups": ["tekton.dev"], "apiVersions": ["v1"], "resources": ["pipelineruns"],
            "operations": ["UPDATE"]}]},
        "validations": [{"expression": "!has(oldObject.status.completionTime)", "message": FINISHED}]}});
    let place = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
    let binding = json!({"apiVersion": api, "kind": format!("{kind}Binding"), "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": {"namespaceSelector": place}}});
    cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]}).to_string());
}

#[test]
fn a_policy_that_rejects_updates_of_a_finished_run_is_named() {
    let cluster = &*WORLD;
    chains();
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
    locked(cluster, "finished-runs", place);
    wait("the policy rejects the update", SOON, || {
        refusal(cluster, &target, place).is_some_and(|said| said.contains(FINISHED))
    });

    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "rejected", "{story}");
    story
        .has_root("ValidatingAdmissionPolicy finished-runs: applies to it through binding finished-runs")
        .says("!has(oldObject.status.completionTime)")
        .never_advises("delete validatingadmissionpolicy")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 33);
    // The step excludes this namespace from the binding. The policy stays in force elsewhere.
    story.follow(cluster, "kubectl patch validatingadmissionpolicybindings");
    wait("the policy allows the update", SOON, || {
        refusal(cluster, &target, place).is_none()
    });
    let binding = cluster
        .get(["validatingadmissionpolicybinding", "finished-runs"])
        .unwrap();
    assert_eq!(binding["spec"]["validationActions"][0], "Deny");
    told(cluster, &target, place).never_says("finished-runs");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

/// The same from a webhook that runs. Its rules are unknown; the controller reports the message that it got.
#[test]
fn a_webhook_that_rejects_updates_of_a_finished_run_is_named() {
    let cluster = &*WORLD;
    chains();
    let ns = cluster.namespace("ci-webhook");
    let place = ns.name();
    let finalizer = "chains.tekton.dev/pipelinerun";
    let run = |name: &str| {
        json!({"apiVersion": "tekton.dev/v1", "kind": "PipelineRun",
            "metadata": {"name": name, "namespace": place, "finalizers": [finalizer], "labels": {"app": "asked"}},
            "status": {"completionTime": "2026-01-01T00:00:00Z"}})
    };
    let target = going("pipelineruns", &run("nightly"), 10);
    let quiet = going("pipelineruns", &run("quiet"), 10);
    let other = going("pipelineruns", &run("other"), 10);
    let webhook = "validation.webhook.pipeline.tekton.dev";
    let selector =
        json!({"matchExpressions": [{"key": "webhooks.knative.dev/exclude", "operator": "DoesNotExist"}]});
    let hooks = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": webhook}, "webhooks": [{"name": webhook, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "timeoutSeconds": 1, "namespaceSelector": selector,
            "objectSelector": {"matchLabels": {"app": "asked"}},
            "clientConfig": {"service": {"namespace": place, "name": "tekton-pipelines-webhook", "path": "/resource-validation"}},
            "rules": [{"apiGroups": ["tekton.dev"], "apiVersions": ["v1"], "resources": ["pipelineruns"],
                "operations": ["CREATE", "UPDATE", "DELETE"]}]}]});
    // The webhook has endpoints.
    apply(
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "tekton-pipelines-webhook", "namespace": place},
            "spec": {"ports": [{"name": "https-webhook", "port": 443}]}}),
    );
    apply(
        &json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": "tekton-pipelines-webhook-1", "namespace": place,
                "labels": {"kubernetes.io/service-name": "tekton-pipelines-webhook"}},
            "ports": [{"name": "https-webhook", "port": 8443}],
            "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}]}),
    );
    apply(&hooks);
    let denied =
        format!("admission webhook \"{webhook}\" denied the request: validation failed: invalid value: ");
    let warn = |name: &str, message: &str| {
        let uid = ns.get(["pipelineruns.tekton.dev", name]).unwrap()["metadata"]["uid"].clone();
        apply(
            &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("{name}.1"), "namespace": place},
            "involvedObject": {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "name": name, "namespace": place, "uid": uid},
            "type": "Warning", "reason": "InternalError", "message": message, "source": {"component": "tekton-chains-controller"},
            "lastTimestamp": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), "count": 7}),
        );
    };
    warn(
        "nightly",
        &format!("1 error occurred: failed to clear finalizers: {denied}{FINISHED}"),
    );
    // Another request was denied: that says nothing about the finalizer.
    warn(
        "other",
        &format!("failed to create TaskRun: {denied}no such task"),
    );

    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "rejected", "{story}");
    story
        .has_root(&format!(
            "ValidatingWebhookConfiguration {webhook}: webhook {webhook}"
        ))
        .says(FINISHED)
        .never_advises("kubectl delete")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 35);
    for (target, verdict) in [(&quiet, "waiting"), (&other, "failing")] {
        let story = told(cluster, target, place);
        assert_eq!(story.verdict(finalizer), verdict, "{story}");
        story.says("(whether they do is not known): webhook");
    }
    story.follow(cluster, "kubectl patch validatingwebhookconfigurations");
    let left = cluster.get(["validatingwebhookconfiguration", webhook]).unwrap();
    let excepted = &left["webhooks"][0]["namespaceSelector"]["matchExpressions"];
    assert_eq!(excepted.as_array().map(Vec::len), Some(2), "{left}");
    // The old report remains, but the server no longer calls the webhook.
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(finalizer), "failing", "{story}");
    for target in [&target, &quiet, &other] {
        wait("the server uses the exception", SOON, || {
            ns.kubectl([
                "patch",
                target,
                "--type=merge",
                "--patch",
                r#"{"metadata":{"finalizers":null}}"#,
            ])
            .code
                == 0
        });
        goes(cluster, target, place);
    }
}

/// A TaskRun whose finalizers the older release has written. The newer release has updated it since.
pub fn written_by_two_releases(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
    finalizers: &[&str],
) -> String {
    let write = |manager: &str, metadata: serde_json::Value| {
        let mut run = json!({"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": metadata});
        run["metadata"]["name"] = name.into();
        run["metadata"]["namespace"] = namespace.into();
        let file = cluster.directory().join(format!("run-{namespace}.json"));
        std::fs::write(&file, run.to_string()).unwrap();
        let (manager, file) = (
            format!("--field-manager={manager}"),
            format!("--filename={}", file.display()),
        );
        cluster
            .kubectl(["apply", "--server-side", &manager, &file])
            .success();
    };
    write("controller", json!({"finalizers": finalizers}));
    // The times of changes are in seconds.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let signed = json!({"annotations": {"chains.tekton.dev/signed": "true"}});
    write("tekton-chains-controller", signed);
    format!("taskruns.tekton.dev/{name}")
}

#[test]
fn an_older_finalizer_name_that_the_new_release_ignores_is_named() {
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
    let run = |name: &str, finalizers: &[&str], minutes: i64| {
        let target = written_by_two_releases(cluster, place, name, finalizers);
        delete(cluster, &target, place);
        cluster.deleted_earlier(&format!("tekton.dev/taskruns/{place}/{name}"), 60 * minutes);
        target
    };
    let both = run("both", &[older, newer], 10);
    let recent = run("recent", &[older], 0);
    let target = run("build", &[older], 10);

    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(older), "stalled", "{story}");
    story
        .says("chains.tekton.dev is an older name of chains.tekton.dev/taskrun")
        .says("controller put the older one on and has not been heard of since")
        .says("It runs.")
        .says("remove this one older name, and no other")
        .never_says("It is gone")
        .is_careful();
    withstands_less(cluster, &target, place, 32);
    // While the new name remains, the controller is not done. It has a moment for that.
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
