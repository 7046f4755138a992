//! Real controllers that lose a right, are scaled to zero, stop, or are disabled by a flag.

use std::fs;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        replayed::replayed,
        told::{SOON, delete, goes, release, told},
    },
    harness::{Cluster, Namespace, Options, wait},
};

const NAME: &str = "snapshot-controller";
const BOUND: &str = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
const SYSTEM: &str = "--namespace=kube-system";

/// The rules of the snapshot-controller's own manifests, without those on snapshots.
fn role(cluster: &Cluster, with_snapshots: &[&str]) {
    let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let snapshots = "snapshot.storage.k8s.io";
    cluster.apply(
        &json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": [
            rule("", &["persistentvolumes", "persistentvolumeclaims", "events"], &all),
            rule("coordination.k8s.io", &["leases"], &all),
            rule(snapshots, &["volumesnapshotclasses", "volumesnapshotcontents", "volumesnapshotcontents/status", "volumesnapshots/status"], &all),
            rule(snapshots, &["volumesnapshots"], with_snapshots),
        ]})
        .to_string(),
    );
}

/// Waits until the API server knows a change of the role. It learns of it through a watch, and until then the controller
/// acts with its former rights.
fn may_patch_snapshots(cluster: &Cluster, may: bool) {
    let account = format!("--as=system:serviceaccount:kube-system:{NAME}");
    let asked = [
        "auth",
        "can-i",
        "patch",
        "volumesnapshots.snapshot.storage.k8s.io",
        "-A",
        &account,
    ];
    wait("the API server knows the role", SOON, || {
        (cluster.kubectl(asked).code == 0) == may
    });
}

/// The snapshot-controller in the cluster: its account with its rights, and its Deployment.
fn installed(cluster: &Cluster) {
    let (metadata, labels) = (
        json!({"name": NAME, "namespace": "kube-system"}),
        json!({"app.kubernetes.io/name": NAME}),
    );
    role(cluster, &["get", "list", "watch", "update", "patch"]);
    for object in [
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}]}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": NAME, "containers": [{"name": NAME, "image": "i"}]}}}}),
    ] {
        cluster.apply(&object.to_string());
    }
    runs(cluster);
}

/// Sets the status of its one Pod, as a kubelet does.
fn runs(cluster: &Cluster) {
    let mut pod = String::new();
    wait("the Deployment has its Pod", SOON, || {
        let selector = format!("--selector=app.kubernetes.io/name={NAME}");
        pod = cluster
            .kubectl([
                "get",
                "pods",
                SYSTEM,
                &selector,
                "--output=jsonpath={.items[0].metadata.name}",
            ])
            .stdout;
        !pod.is_empty()
    });
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    cluster.patch_status(["pod", &pod, SYSTEM], &ready);
    wait("the Deployment counts it", SOON, || ready_replicas(cluster) == 1);
}

fn ready_replicas(cluster: &Cluster) -> i64 {
    let deployment = cluster.get(["deployment", NAME, SYSTEM]).unwrap();
    deployment["status"]["readyReplicas"].as_i64().unwrap_or_default()
}

/// Deletes a snapshot. Its deletion timestamp is set to ten minutes ago in etcd.
fn going(cluster: &Cluster, ns: &Namespace, name: &str) -> String {
    let target = format!("volumesnapshots.snapshot.storage.k8s.io/{name}");
    delete(cluster, &target, ns.name());
    let key = format!(
        "/registry/snapshot.storage.k8s.io/volumesnapshots/{}/{name}",
        ns.name()
    );
    let stored = cluster.etcdctl(["get", "--print-value-only", &key]).success();
    let mut stored: Value = serde_json::from_str(&stored).expect("custom objects are stored as JSON");
    let then = Timestamp::now() - SignedDuration::from_mins(10);
    stored["metadata"]["deletionTimestamp"] = then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    cluster.etcdctl(["put", &key, &stored.to_string()]).success();
    target
}

/// Sets its Lease as if nobody had renewed it meanwhile.
fn some_minutes_later(cluster: &Cluster) {
    let renewed = Timestamp::now() - SignedDuration::from_secs(690);
    let patch = format!("{{\"spec\":{{\"renewTime\":\"{renewed:.6}\"}}}}");
    let lease = [
        "patch",
        "lease",
        "snapshot-controller-leader",
        SYSTEM,
        "--type=merge",
        "-p",
        &patch,
    ];
    cluster.kubectl(lease).success();
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_snapshot_controller_without_a_right_scaled_to_zero_and_stopped() {
    let cluster = &Cluster::start();
    let ns = cluster.namespace("snapshots");
    let place = ns.name();
    installed(cluster);
    let driver = cluster
        .csi_driver("real.example.test")
        .with_snapshots()
        .acting_as(NAME, "kube-system", NAME)
        .start();
    ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: real.example.test, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    for name in ["one", "two", "three"] {
        ns.apply(&format!(
            "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: {name}}}, spec: \
             {{volumeSnapshotClassName: real.example.test, source: {{persistentVolumeClaimName: data}}}}}}"
        ));
    }
    for name in ["one", "two", "three"] {
        // The controller puts this finalizer on after the snapshot is ready.
        wait("the snapshot is taken and protected", SOON, || {
            let snapshot = ns.get(["volumesnapshot", name]).unwrap();
            let finalizers = snapshot["metadata"]["finalizers"].as_array();
            snapshot["status"]["readyToUse"] == true
                && finalizers.is_some_and(|all| all.iter().any(|one| one == BOUND))
        });
    }

    // Its role loses a right: it deletes the snapshot at the provider and cannot remove the finalizer.
    role(cluster, &["get", "list", "watch"]);
    may_patch_snapshots(cluster, false);
    let target = going(cluster, &ns, "one");
    wait("the controller has deleted the content", SOON, || {
        told(cluster, &target, place).verdict(BOUND) == "stalled"
    });
    let story = told(cluster, &target, place);
    story
        .has_root("may neither update nor patch volumesnapshots.snapshot.storage.k8s.io")
        .never_says("switched off")
        .never_advises("finalizers remove")
        .is_careful();
    replayed(cluster, &target, place);
    withstands_less(cluster, &target, place, 40);
    role(cluster, &["get", "list", "watch", "update", "patch"]);
    goes(cluster, &target, place);

    // Scaled to zero.
    cluster
        .kubectl(["scale", "deployment", NAME, "--replicas=0", SYSTEM])
        .success();
    wait("the Deployment has no Pod", SOON, || ready_replicas(cluster) == 0);
    driver.snapshot_controller().stop();
    some_minutes_later(cluster);
    let target = going(cluster, &ns, "two");
    let story = told(cluster, &target, place);
    story
        .has_root("Deployment snapshot-controller: is scaled to 0 replicas")
        .never_says("It runs")
        .never_advises("finalizers nudge")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 40);
    story.follow(cluster, "scale deployments.apps/snapshot-controller");
    driver.snapshot_controller().start();
    goes(cluster, &target, place);
    runs(cluster);

    // Stopped, while its Pod still counts as ready: only its Lease shows it.
    driver.snapshot_controller().kill();
    some_minutes_later(cluster);
    let target = going(cluster, &ns, "three");
    let story = told(cluster, &target, place);
    story
        .has_root("Lease snapshot-controller-leader: last renewed 11m ago")
        .never_advises("finalizers nudge")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 40);
    story.follow(cluster, "lease/snapshot-controller-leader");
    driver.snapshot_controller().start();
    goes(cluster, &target, place);
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_disabled_controller_and_one_without_its_right_are_named() {
    let cluster = &Cluster::with(&Options {
        controller_manager_args: &["--controllers=*,-persistentvolume-protection-controller"],
        ..Options::default()
    });
    let ns = cluster.namespace("protected");
    let role = [
        "clusterrolebinding",
        "system:controller:pvc-protection-controller",
    ];
    let saved = cluster.get(role).unwrap();
    let file = cluster.directory().join("binding.json");
    fs::write(
        &file,
        json!({"apiVersion": saved["apiVersion"], "kind": saved["kind"], "roleRef": saved["roleRef"],
        "subjects": saved["subjects"], "metadata": {"name": saved["metadata"]["name"]}})
        .to_string(),
    )
    .unwrap();
    cluster.kubectl(["delete", role[0], role[1]]).success();
    // The API server reads roles from a cache. Until that has noticed, the controller removes the finalizer.
    let account = "--as=system:serviceaccount:kube-system:pvc-protection-controller";
    let asks = [
        "auth",
        "can-i",
        "update",
        "persistentvolumeclaims",
        "-n",
        ns.name(),
        account,
    ];
    wait("the controller has lost its right", SOON, || {
        cluster.kubectl(asks).stdout.trim() == "no"
    });
    ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Mi}}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: spare}, spec: {capacity: {storage: 1Mi}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Retain, hostPath: {path: /nowhere}}}",
    );
    delete(cluster, "pvc/data", ns.name());
    delete(cluster, "pv/spare", "");
    cluster.deleted_earlier(&format!("persistentvolumeclaims/{}/data", ns.name()), 62);
    cluster.deleted_earlier("persistentvolumes/spare", 62);

    for (target, place, finalizer, account, answer) in [
        (
            "pvc/data",
            ns.name(),
            "kubernetes.io/pvc-protection",
            "pvc-protection-controller",
            "no",
        ),
        (
            "pv/spare",
            "",
            "kubernetes.io/pv-protection",
            "pv-protection-controller",
            "yes",
        ),
    ] {
        let story = told(cluster, target, place);
        assert_eq!(story.verdict(finalizer), "stalled", "{story}");
        story
            .says("This one controller may be switched off (--controllers of kube-controller-manager)")
            .never_says("kube-controller-manager does not run")
            .never_advises("finalizers remove")
            .is_careful();
        withstands_less(cluster, target, place, 20);
        let asks = format!("--as=system:serviceaccount:kube-system:{account}");
        let command = story
            .commands()
            .into_iter()
            .find(|command| command.contains(&asks));
        let words = command.unwrap_or_else(|| panic!("{story}")).split(' ').skip(1);
        assert_eq!(cluster.kubectl(words).stdout.trim(), answer, "{story}");
    }
    // With its right back, that controller does its work, at its next try or when the claim is touched. It is paused
    // until the explanation is there.
    cluster.controller_manager().pause();
    cluster
        .kubectl([
            "apply",
            "--server-side",
            &format!("--filename={}", file.display()),
        ])
        .success();
    let story = told(cluster, "pvc/data", ns.name());
    cluster.controller_manager().replace();
    story.nudge(cluster);
    goes(cluster, "pvc/data", ns.name());
    // The other controller needs a restart without the flag.
    release(cluster, "pv/spare", "");
    goes(cluster, "pv/spare", "");
}
