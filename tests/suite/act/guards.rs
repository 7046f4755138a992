//! Refusals, after which nothing is sent.

use super::{Case, HOLD, OTHER};
use crate::harness::{Cluster, Output, Plugin};

/// Asserts that the plugin refuses for this reason and writes nothing to the cluster.
#[track_caller]
pub fn refused(case: &Case<'_>, plugin: Plugin, why: &str) -> Output {
    let out = plugin.run();
    assert_eq!(out.code, 3, "{out}");
    super::says(&out, why);
    assert!(case.writes().is_empty(), "{:#?}", case.writes());
    out
}

#[test]
fn an_object_that_is_not_in_deletion_keeps_its_finalizers() {
    let case = Case::empty(Cluster::shared(), "living");
    case.make("held", &[HOLD]);
    refused(&case, case.remove(&["--plan"]), "it is not being deleted");
}

#[test]
fn a_finalizer_that_the_object_does_not_have_is_refused() {
    let case = Case::held(Cluster::shared(), "absent", &[OTHER]);
    refused(&case, case.remove(&["--plan"]), "it has example.com/other");
}

#[test]
fn an_object_in_use_keeps_its_finalizer_whatever_is_accepted() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "used");
    case.ns.apply(&format!(
        "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}, storageClassName: none}}
---
apiVersion: v1
kind: Pod
metadata: {{name: user}}
spec:
  nodeName: {}
  containers: [{{name: c, image: example.com/c}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]
",
        cluster.node()
    ));
    crate::explain::told::delete(cluster, "pvc/data", case.ns.name());
    let words = [
        "remove",
        "pvc/data",
        "--finalizer",
        "kubernetes.io/pvc-protection",
    ];
    for accept in [&[][..], &["--accept=data-loss"]] {
        refused(&case, case.run(&[&words[..], accept].concat()), "in-use");
    }
    let receipts = case.receipts();
    assert_eq!(case.noted(), ["refused", "refused"]);
    assert_eq!(receipts[0]["finalizer"]["name"], "kubernetes.io/pvc-protection");
}

#[test]
fn a_cost_must_be_accepted_by_its_own_name() {
    let case = Case::held(Cluster::shared(), "costs", &[HOLD]);
    let words = ["remove", "configmap/held", "--finalizer", HOLD];
    refused(
        &case,
        case.run(&words),
        "data-loss is assumed, and nobody has accepted that",
    );
    let other = [&words[..], &["--accept=leaked-infrastructure"]].concat();
    let out = refused(&case, case.run(&other), "data-loss is assumed");
    assert!(!out.stdout.contains("--accept"), "the way around it: {out}");
    assert!(
        !out.stdout.contains("--type=json"),
        "a request that nobody may send: {out}"
    );
    // Accepting a cost that does not apply would be a blanket.
    let both = [
        &words[..],
        &["--accept=leaked-infrastructure", "--accept=data-loss"],
    ]
    .concat();
    refused(
        &case,
        case.run(&both),
        "leaked-infrastructure was accepted, and nothing here costs that",
    );
    for nonsense in ["--accept=all", "--accept=none", "--force", "--yes"] {
        let out = case.run(&[&words[..], &[nonsense]].concat()).run();
        assert_eq!(out.code, 2, "{nonsense}: {out}");
    }
}

#[test]
fn without_a_terminal_only_the_digest_of_this_very_plan_confirms() {
    let case = Case::held(Cluster::shared(), "digests", &[HOLD]);
    refused(&case, case.remove(&[]), "there is no terminal to type at");
    refused(
        &case,
        case.remove(&[]).stdin("held\n"),
        "there is no terminal to type at",
    );
    refused(
        &case,
        case.remove(&["--confirm=0123456789abcdef"]),
        "so it has changed",
    );
    let digest = case.digest();
    case.ns
        .kubectl(["annotate", "configmap", "held", "changed=yes"])
        .success();
    refused(&case, case.remove(&["--confirm", &digest]), "so it has changed");
    assert!(case.noted().iter().all(|what| what == "not-confirmed"));
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
}

#[test]
fn one_refusal_stops_the_whole_plan() {
    let case = Case::held(Cluster::shared(), "several", &[HOLD]);
    case.make("living", &[HOLD]);
    let words = [
        "remove",
        "configmap/held",
        "configmap/living",
        "--finalizer",
        HOLD,
        "--accept=data-loss",
    ];
    refused(&case, case.run(&words), "it is not being deleted");
    case.hold("second", &[HOLD]);
    let words = [
        "remove",
        "configmap/held",
        "configmap/second",
        "--finalizer",
        HOLD,
        "--accept=data-loss",
    ];
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.writes().len(), 2, "{:#?}", case.writes());
    assert_eq!(case.get(), None);
    assert_eq!(case.ns.get(["configmap", "second"]), None);
}

#[test]
fn the_right_to_patch_is_checked_before() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "rights", &[HOLD]);
    let reader = cluster.user("reader").may("get,list", "*").create();
    let place = |name: &str| case.place.path().join(name).display().to_string();
    let out = cluster
        .plugin([
            "remove",
            "configmap/held",
            "--finalizer",
            HOLD,
            "--accept=data-loss",
            &format!("--namespace={}", case.ns.name()),
            &format!("--backup-dir={}", place("backups")),
            &format!("--audit-file={}", place("receipts.jsonl")),
        ])
        .as_user(&reader)
        .run();
    assert_eq!(out.code, 3, "{out}");
    super::says(&out, "you may not patch configmaps held");
    assert!(super::writes(cluster, reader.name()).is_empty());
}

#[test]
fn all_namespaces_and_patterns_are_no_targets() {
    let case = Case::held(Cluster::shared(), "blanket", &[HOLD]);
    for finalizer in ["*", "example.com/*", "a,b", ""] {
        let out = case
            .run(&["remove", "configmap/held", "--finalizer", finalizer])
            .run();
        assert_eq!(out.code, 2, "{finalizer:?}: {out}");
    }
    let out = case
        .cluster
        .plugin(["remove", "configmap/held", "-A", "--finalizer", HOLD])
        .run();
    assert_eq!(out.code, 2, "{out}");
}

#[test]
fn an_unknown_cause_for_lack_of_rights_is_refused() {
    let cluster = Cluster::shared();
    let mut case = Case::empty(cluster, "unseen");
    crate::stuck::custom_type(cluster, "acme.cert-manager.io", "challenges", "Challenge");
    let name = "finalizer.acme.cert-manager.io";
    case.ns.apply(
        &serde_json::json!({"apiVersion": "acme.cert-manager.io/v1", "kind": "Challenge",
            "metadata": {"name": "c", "finalizers": [name]}})
        .to_string(),
    );
    crate::explain::told::delete(cluster, "challenge/c", case.ns.name());
    case.deleted_earlier(&format!("acme.cert-manager.io/challenges/{}/c", case.ns.name()));
    // This user may change the object, and may not see whether its controller runs.
    let user = cluster
        .user("blind")
        .may("get,list,patch", "challenges.acme.cert-manager.io")
        .create();
    user.name().clone_into(&mut case.user);
    case.is_master = false;
    let words = [
        "remove",
        "challenge/c",
        "--finalizer",
        name,
        "--accept=leaked-infrastructure",
    ];
    let out = refused(&case, case.run(&words), "not read in full:");
    super::says(&out, "leases.coordination.k8s.io");
    // A user who may read everything may remove it.
    case.is_master = true;
    let plan = case
        .run(&[&words[..], &["--plan", "-o=json"]].concat())
        .run()
        .success();
    super::digest(&plan);
    crate::explain::told::release(cluster, "challenge/c", case.ns.name());
}

#[test]
fn a_missing_object_is_an_error_and_no_refusal() {
    let case = Case::empty(Cluster::shared(), "nothing");
    let out = case.remove(&["--plan"]).run();
    assert_eq!(out.code, 1, "{out}");
    assert!(out.stdout.is_empty(), "{out}");
    super::says(&out, "does not exist");
}
