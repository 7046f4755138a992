//! What is not written to etcd.

use serde_json::json;

use super::{Case, Cluster, HOLD, custom_type, delete, run, says, words};
use crate::harness::{Options, Output};

/// Asserts that nothing is written, for this reason.
#[track_caller]
fn refuses(case: &Case<'_>, target: &str, why: &str, instead: &str) {
    let out = run(case, target, &[]).run();
    refused(&out, why);
    says(&out, instead);
    assert!(case.copies().is_empty(), "{:?}", case.copies());
}

#[track_caller]
fn refused(out: &Output, why: &str) {
    assert_eq!(out.code, 3, "{out}");
    says(out, why);
}

/// A run with other words after the target.
fn with(case: &Case<'_>, etcd: &[String]) -> Output {
    let mut all = vec!["rescue", "configmap/held"];
    all.extend(etcd.iter().map(String::as_str));
    case.run(&all).run()
}

#[test]
fn a_writer_between_the_plan_and_the_transaction_wins() {
    let case = Case::held(Cluster::shared(), "outrun", &[HOLD]);
    let session = run(&case, "configmap/held", &[]).at_terminal();
    session.asked();
    case.ns
        .kubectl(["annotate", "configmap", "held", "written=meanwhile"])
        .success();
    let before = case.get().unwrap();
    session.types("held\n");
    let out = session.finish();
    refused(&out, "so nothing was written");
    assert_eq!(case.get().unwrap(), before);
    assert_eq!(case.noted(), ["sending", "refused"]);
}

#[test]
fn another_version_needs_another_confirmation() {
    let case = Case::held(Cluster::shared(), "reconfirmed", &[HOLD]);
    let words = words(&case, "configmap/held", &[]);
    let confirmed = case.confirm(&words.iter().map(String::as_str).collect::<Vec<_>>());
    case.ns
        .kubectl(["annotate", "configmap", "held", "written=meanwhile"])
        .success();
    let before = case.get().unwrap();
    refused(&confirmed.run(), "its digest is");
    assert_eq!(case.get().unwrap(), before);
}

#[test]
fn what_is_more_than_one_object_is_refused_before_etcd_is_asked() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "unmarkable");
    let group = "unmarkable.example.test";
    custom_type(cluster, group, "gizmos", "Gizmo");
    let inner = cluster.unique("unmarkable-ns");
    for (version, kind, name) in [
        (format!("{group}/v1"), "Gizmo", "held"),
        ("v1".into(), "Secret", "held"),
        ("v1".into(), "Namespace", &inner),
    ] {
        case.ns.apply(&format!(
            "{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}, finalizers: [{HOLD}]}}}}"
        ));
    }
    let (crd, inner) = (format!("crd/gizmos.{group}"), format!("ns/{inner}"));
    delete(cluster, &crd, "");
    delete(cluster, "secret/held", case.ns.name());
    delete(cluster, &inner, "");

    refuses(&case, "secret/held", "it is a Secret", "Create the Secret again");
    refuses(
        &case,
        &crd,
        "deletes its custom resources",
        "kubectl finalizers explain",
    );
    refuses(
        &case,
        &inner,
        "its phase and spec.finalizers",
        "kubectl finalizers explain",
    );
    for target in [&*format!("gizmos.{group}/held"), &inner, "secret/held"] {
        let patch = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
        let patch = ["patch", target, "--type=json", "-p", patch];
        case.ns.kubectl(patch).success();
    }
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn an_etcd_that_is_not_that_of_the_cluster_is_not_believed() {
    let case = Case::held(Cluster::shared(), "unreached", &[HOLD]);
    let own = case.cluster.etcd_words();
    let other = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });

    // The port of another program.
    let mut api_server = own.clone();
    api_server[0] = format!("--etcd={}", case.cluster.url());
    let out = with(&case, &api_server);
    refused(&out, "etcd cannot be read");
    says(&out, "--print-etcd-commands");
    // Certificates of another cluster.
    let strange = [&own[..1], &other.etcd_words()[1..]].concat();
    refused(&with(&case, &strange), "etcd cannot be read");
    // Another cluster.
    refused(
        &with(&case, &other.etcd_words()),
        "this etcd has none of these keys",
    );
    // Another prefix.
    let elsewhere = [&own[..], &["--etcd-prefix=/elsewhere".into()]].concat();
    let key = format!("/elsewhere/configmaps/{}/held", case.ns.name());
    refused(&with(&case, &elsewhere), &key);
    // No TLS.
    let mut plain = own;
    plain[0] = plain[0].replace("https", "http");
    let out = with(&case, &plain);
    assert_eq!(out.code, 2, "{out}");
    says(&out, "is no address of an etcd with TLS");
    let held = case.get().unwrap();
    assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held:#}");
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn an_encrypted_object_is_refused_and_the_way_without_etcd_offered() {
    let config = json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": [{
    "resources": ["configmaps", "persistentvolumes"],
    "providers": [
        {"aescbc": {"keys": [{"name": "key1", "secret": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}]}},
        {"identity": {}},
    ]}]});
    let cluster = Cluster::with(&Options {
        apiserver_args: &["--encryption-provider-config={dir}/encryption.json"],
        files: &[("encryption.json", &config.to_string())],
        controller_manager: false,
        ..Options::default()
    });
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: sealed, finalizers: [{HOLD}]}}, spec: {{capacity: \
         {{storage: 1Gi}}, accessModes: [ReadWriteOnce], hostPath: {{path: /none}}}}}}"
    ));
    delete(&cluster, "pv/sealed", "");
    let case = Case::empty(&cluster, "sealed");
    case.make("held", &[HOLD]);
    delete(&cluster, "configmap/held", case.ns.name());
    refuses(
        &case,
        "pv/sealed",
        "the stored object is encrypted (k8s:enc:aescbc:v1)",
        "kubectl finalizers rescue pv/sealed --plan",
    );
    refuses(
        &case,
        "configmap/held",
        "the stored object is encrypted",
        "Save the object",
    );
}

#[test]
fn the_way_to_etcd_is_printed_only_where_one_is_found() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let case = Case::held(&cluster, "reached", &[HOLD]);
    let print = |target: &str| {
        let namespace = format!("--namespace={}", case.ns.name());
        cluster
            .plugin(["rescue", target, "--print-etcd-commands", &namespace])
            .run()
    };
    refused(&print("configmap/held"), "no etcd is found in this cluster");
    refused(&print("ns/default"), "it is not being deleted");

    cluster
        .apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: kube-system}}");
    cluster.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: etcd-cp-1, namespace: kube-system, labels: {component: etcd}}, spec: \
         {nodeName: cp-1, containers: [{name: etcd, image: example.com/etcd}]}}",
    );
    let out = print("configmap/held");
    assert_eq!(out.code, 0, "{out}");
    says(&out, "scp root@cp-1:/etc/kubernetes/pki/etcd/ca.crt etcd-ca.crt");
    says(
        &out,
        "kubectl port-forward pod/etcd-cp-1 -n kube-system 2379:2379",
    );
    let rescue = format!("kubectl finalizers rescue cm/held -n {}", case.ns.name());
    says(&out, &rescue);
    says(&out, "--etcd=https://127.0.0.1:2379");
    assert!(out.stdout.lines().all(|line| line.len() <= 100), "{out}");

    // Whoever may not look for the pods does not hear that there is no etcd.
    let reader = cluster.user("reader").may("get", "configmaps").create();
    let namespace = format!("--namespace={}", case.ns.name());
    let out = cluster
        .plugin(["rescue", "configmap/held", "--print-etcd-commands", &namespace])
        .kubeconfig(reader.kubeconfig())
        .run();
    assert_eq!(out.code, 1, "{out}");
    says(&out, "cannot look for etcd");
}
