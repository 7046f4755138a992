//! A policy whose parameter was deleted. The policy rejects the updates of the Job controller, because the
//! Pods' ServiceAccount was deleted before them, together with their namespace.

use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less},
        told::{SOON, delete, goes, refusal, told},
    },
    harness::{Cluster, wait},
};

const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Creates a policy that requires this ServiceAccount for updates of Pods with these labels.
fn policy(cluster: &Cluster, name: &str, namespace: &str, labels: &Value) {
    let group = "admissionregistration.k8s.io/v1";
    cluster.apply(
        &json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": {
            "paramKind": {"apiVersion": "v1", "kind": "ServiceAccount"},
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
                "operations": ["CREATE", "UPDATE"]}]},
            "validations": [{"expression": "has(params.metadata.name)"}]}})
        .to_string(),
    );
    cluster.apply(
        &json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": {
            "policyName": name, "validationActions": ["Deny"],
            "paramRef": {"name": "workload", "parameterNotFoundAction": "Deny"},
            "matchResources": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "objectSelector": {"matchLabels": labels}}}})
        .to_string(),
    );
}

#[test]
fn a_policy_whose_service_account_is_missing_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("vetoed-job");
    let place = ns.name();
    let (name, near) = (cluster.unique("needs-account"), cluster.unique("near-miss"));
    ns.apply(
        "{apiVersion: v1, kind: ServiceAccount, metadata: {name: workload}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: work}, spec: {template: {metadata: {labels: {identity: workload}}, spec: {serviceAccountName: workload, restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
    );
    policy(cluster, &name, place, &json!({"identity": "workload"}));
    policy(cluster, &near, place, &json!({"identity": "other"}));
    let pods = || {
        let pods = ns.get(["pods"]).unwrap_or_default();
        pods["items"].as_array().cloned().unwrap_or_default()
    };
    wait("the Job creates its Pod", SOON, || !pods().is_empty());
    let pod = format!(
        "pod/{}",
        pods()[0]["metadata"]["name"].as_str().unwrap_or_default()
    );
    // A namespace is emptied in no fixed order; here the ServiceAccount is first.
    delete(cluster, "serviceaccount/workload", place);
    let place_itself = format!("ns/{place}");
    delete(cluster, &place_itself, "");
    let words = format!(
        "ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: failed to configure binding: no params found \
         for policy binding with `Deny` parameterNotFoundAction"
    );
    wait("the policy rejects the update", SOON, || {
        refusal(cluster, &pod, place).is_some_and(|said| said.contains(&words))
    });
    // A controller has one minute before it counts as late.
    wait("the Pod is being deleted", SOON, || {
        pods()
            .first()
            .is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    });
    let pod_name = pod.trim_start_matches("pod/");
    cluster.deleted_earlier(&format!("pods/{place}/{pod_name}"), 62);

    let story = told(cluster, &pod, place);
    assert_eq!(story.verdict(TRACKING), "rejected", "{story}");
    story
        .has_root(&format!("ValidatingAdmissionPolicy {name}: applies to it"))
        .says("needs ServiceAccount workload, which does not exist")
        .says(&words)
        .never_says(&near)
        .never_advises("delete validatingadmissionpolicy")
        .is_careful();
    withstands_less(cluster, &pod, place, 25);
    let whole = told(cluster, &place_itself, "");
    whole
        .has_root(&format!("ValidatingAdmissionPolicy {name}"))
        .never_says(&near)
        .never_advises("--raw");
    withstands_less(cluster, &place_itself, "", for_all_types(cluster) + 12);

    story.follow(cluster, "kubectl patch validatingadmissionpolicybindings");
    let binding = cluster
        .get(["validatingadmissionpolicybinding", &name])
        .expect("the binding still exists");
    assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
    wait("the policy allows the update", SOON, || {
        refusal(cluster, &pod, place).is_none()
    });
    // The controller retries in its own time, which may be now, or at once after a nudge. Then nothing is left to nudge.
    let in_place = format!("--namespace={place}");
    let plan = cluster
        .plugin(["nudge", &pod, "--plan", "-o=json", &in_place])
        .run();
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap_or_default();
    if let Some(digest) = plan["digest"].as_str() {
        cluster
            .plugin(["nudge", &pod, "--confirm", digest, &in_place])
            .run();
    }
    goes(cluster, &pod, place);
    goes(cluster, &place_itself, "");
    for name in [&name, &near] {
        for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
            cluster.kubectl(["delete", kind, name]).success();
        }
    }
}
