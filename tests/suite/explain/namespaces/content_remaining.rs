//! Namespaces with content that stays, or whose deletion is rejected.

use crate::{
    explain::{
        less_is_weaker::{for_all_types, withstands_less, withstands_real_rights},
        told::{SOON, condition, delete, goes, release, shell, told, told_to},
    },
    harness::{Cluster, is_since, wait},
    stuck::custom_type,
};

const GROUP: &str = "namespaces.example.test";

/// Defines the type of [`widget`], and returns its name.
pub(super) fn widgets(cluster: &Cluster) -> String {
    custom_type(cluster, GROUP, "widgets", "Widget");
    format!("widgets.{GROUP}")
}

/// An object with a finalizer that nobody removes.
pub(super) fn widget(namespace: &str, name: &str) -> String {
    format!(
        "{{apiVersion: {GROUP}/v1, kind: Widget, metadata: {{name: {name}, namespace: {namespace}, finalizers: [widgets.example.test/clean]}}}}"
    )
}

#[test]
fn a_namespace_names_the_objects_that_remain() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("left");
    let name = ns.name();
    let widgets = widgets(cluster);
    cluster.apply(&widget(name, "w"));
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceFinalizersRemaining", "True");

    let story = told(cluster, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("Widget w: being deleted, held by widgets.example.test/clean")
        .says("Left now: 1 widgets.namespaces.example.test")
        .says("widgets.example.test/clean in 1 resource instances")
        .never_advises("finalizers finalize")
        .never_advises("patch")
        .is_careful();
    withstands_real_rights(cluster, &format!("ns/{name}"), "", for_all_types(cluster));
    story.follow(cluster, &format!("explain {widgets}/w"));

    // Without the right to list its content, the namespace is unknown, not empty.
    let blind = cluster
        .user("blind")
        .may("get,list", "namespaces,leases.coordination.k8s.io")
        .create();
    let story = told_to(cluster, &blind, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "unknown");
    story
        .says("not everything could be read")
        .never_says("; nothing is left in it");
    assert!(story.unread().contains(&widgets), "{story}");

    release(cluster, &format!("{widgets}/w"), name);
    goes(cluster, &format!("ns/{name}"), "");
}

#[test]
fn three_hundred_objects_fit_on_a_screen() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("many");
    let name = ns.name();
    let objects: Vec<_> = (0..300)
        .map(|n| {
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{n:03}, finalizers: [example.test/{}]}}}}", n % 2)
        })
        .collect();
    ns.apply(&objects.join("\n---\n"));
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceFinalizersRemaining", "True");

    let text = cluster.plugin(["explain", &format!("ns/{name}")]).run().success();
    assert!(text.contains("(and 149 more like it)"), "{text}");
    assert!(text.contains("300 configmaps"), "{text}");
    assert!(
        text.lines().count() <= 50,
        "{} lines\n{text}",
        text.lines().count()
    );

    let patch = r#"{"metadata":{"finalizers":null}}"#;
    shell(
        cluster,
        &format!(
            "kubectl get configmaps -n {name} -o name | xargs -P 4 -n 40 kubectl patch -n {name} --type=merge -p '{patch}'"
        ),
    );
    goes(cluster, &format!("ns/{name}"), "");
}

#[test]
fn a_stuck_pod_is_named_although_the_conditions_report_no_content() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("trap");
    let name = ns.name();
    ns.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [example.test/keep]}, spec: {containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: waits}}",
    );
    delete(cluster, &format!("ns/{name}"), "");
    // From 1.33 on, pods go first, and the conditions do not count what is left while they are there.
    let pods_first = is_since(33);
    let reported = if pods_first { "False" } else { "True" };
    condition(cluster, name, "NamespaceContentRemaining", reported);
    if !pods_first {
        wait("the rest does not wait for the pod", SOON, || {
            cluster.get(["configmap", "waits", "-n", name]).is_none()
        });
    }

    let story = told(cluster, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "waiting");
    story
        .has_root("Pod p: being deleted, held by example.test/keep")
        .never_says("; nothing is left in it");
    if pods_first {
        story
            .says("\"All content successfully removed\", incorrectly")
            .says("everything else waits until the pods are gone");
    } else {
        story.never_says("everything else waits");
    }
    withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster));

    // Without the right to list Pods, other content is still listed, and the gap is named.
    let reader = cluster
        .user("no-pods")
        .may(
            "get,list",
            "namespaces,configmaps,serviceaccounts,leases.coordination.k8s.io",
        )
        .create();
    let story = told_to(cluster, &reader, &format!("ns/{name}"), "");
    assert!(
        ["waiting", "unknown"].contains(&story.verdict("kubernetes")),
        "{story}"
    );
    story
        .never_says("; nothing is left in it")
        .says("some types could not be listed");
    assert!(story.unread().contains("\"pods\""), "{story}");

    release(cluster, "pod/p", name);
    goes(cluster, &format!("ns/{name}"), "");
}

/// A webhook whose Service does not exist, for deletions of this group in this namespace.
pub fn veto(cluster: &Cluster, namespace: &str, name: &str, group: &str) {
    cluster.apply(&format!(
        "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks:
- name: veto.example.test
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {{service: {{namespace: {namespace}, name: no-such-service}}}}
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}
  rules: [{{apiGroups: [{group}], apiVersions: ['*'], resources: ['*'], operations: [DELETE]}}]
"
    ));
}

#[test]
fn an_unreachable_webhook_that_rejects_the_deletion_of_content_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("vetoed");
    let name = ns.name();
    widgets(cluster);
    ns.apply(&format!(
        "{{apiVersion: {GROUP}/v1, kind: Widget, metadata: {{name: w}}}}"
    ));
    let hook = cluster.unique("veto");
    veto(cluster, name, &hook, GROUP);
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");

    let story = told(cluster, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .has_root(&format!(
            "ValidatingWebhookConfiguration {hook}: webhook veto.example.test cannot be called"
        ))
        .says("failed calling webhook \"veto.example.test\"")
        .says(&format!("svc/no-such-service -n {name} does not exist"))
        .says("delete all webhook configurations")
        .never_advises("--all")
        .is_careful();
    withstands_less(cluster, &format!("ns/{name}"), "", for_all_types(cluster));

    let reader = cluster
        .user("no-webhooks")
        .may(
            "get,list",
            "namespaces,services,serviceaccounts,widgets.namespaces.example.test",
        )
        .create();
    let story = told_to(cluster, &reader, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "failing");
    story.never_says("no configuration has webhook");
    assert!(
        story.unread().contains("validatingwebhookconfigurations"),
        "{story}"
    );

    told(cluster, &format!("ns/{name}"), "")
        .follow(cluster, "kubectl delete validatingwebhookconfigurations");
    goes(cluster, &format!("ns/{name}"), "");
}

/// A policy that denies to delete `ConfigMaps` in this namespace.
pub fn keep(cluster: &Cluster, namespace: &str, name: &str) {
    cluster.apply(&format!(
        "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}
    resourceRules: [{{apiGroups: [''], apiVersions: ['*'], resources: [configmaps], operations: [DELETE]}}]
  validations: [{{expression: 'false', message: keep this for the auditors}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}, validationActions: [Deny]}}
"
    ));
    wait("the policy is in force", SOON, || {
        let words = [
            "delete",
            "configmaps",
            "--all",
            "--dry-run=server",
            "--namespace",
            namespace,
        ];
        cluster.kubectl(words).code != 0
    });
}

#[test]
fn a_policy_that_rejects_the_deletion_of_content_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("policed");
    let name = ns.name();
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}");
    let policy = cluster.unique("keep");
    keep(cluster, name, &policy);
    delete(cluster, &format!("ns/{name}"), "");
    condition(cluster, name, "NamespaceDeletionContentFailure", "True");
    let story = told(cluster, &format!("ns/{name}"), "");
    assert_eq!(story.verdict("kubernetes"), "failing");
    story
        .has_root(&format!(
            "ValidatingAdmissionPolicy {policy}: policy {policy} denies"
        ))
        .says("keep this for the auditors")
        .never_advises("kubectl delete")
        .is_careful();
    story.follow(cluster, "kubectl get validatingadmissionpolicies");

    // The policy is deleted between two reads; the condition is still the old one.
    delete(cluster, &format!("validatingadmissionpolicy/{policy}"), "");
    delete(cluster, &format!("validatingadmissionpolicybinding/{policy}"), "");
    told(cluster, &format!("ns/{name}"), "").never_says("denies the deletion");
    goes(cluster, &format!("ns/{name}"), "");
}
