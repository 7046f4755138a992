//! Objects whose owners are in another namespace, gone, or of an unknown kind, with the real garbage collector.

use serde_json::{Value, json};

use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, delete, goes, is_going, release, told, told_to},
    },
    harness::{Cluster, Namespace, wait},
};

/// Creates a claim with a finalizer, so that its deletion can be explained.
pub fn owned(ns: &Namespace, name: &str, owner: &Value) {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "finalizers": ["example.test/hold"], "ownerReferences": [owner]},
        "spec": {"storageClassName": "none", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}});
    ns.apply(&claim.to_string());
}

#[test]
fn owners_elsewhere_gone_and_of_unknown_kind() {
    let cluster = Cluster::shared();
    let (ns, home) = (cluster.namespace("copied"), cluster.namespace("home"));
    home.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}");
    let uid = home.get(["configmap", "owner"]).unwrap()["metadata"]["uid"].clone();
    let owner = |kind: &str, api: &str, uid: &Value| json!({"apiVersion": api, "kind": kind, "name": "owner", "uid": uid});

    // A copy from another namespace with its owner references: the garbage collector deletes it.
    owned(&ns, "copied", &owner("ConfigMap", "v1", &uid));
    wait("the garbage collector deletes the copy", SOON, || {
        is_going(&ns, "pvc/copied")
    });
    let story = told(cluster, "pvc/copied", ns.name());
    withstands_less(cluster, "pvc/copied", ns.name(), 16);
    story
        .says(&format!("ConfigMap owner exists in namespace {}", home.name()))
        .says("perhaps the garbage collector")
        .says("leave metadata.ownerReferences out of it, or it is deleted again at once")
        .is_careful();
    // The event is written before or after the deletion.
    wait("the explanation quotes the event", SOON, || {
        let told = told(cluster, "pvc/copied", ns.name());
        told.0.to_string().contains("OwnerRefInvalidNamespace")
    });

    // The owner was created again with the same name, so its uid differs.
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}");
    owned(
        &ns,
        "outlived",
        &owner("ConfigMap", "v1", &json!("00000000-0000-4000-8000-000000000001")),
    );
    wait("the garbage collector deletes it", SOON, || {
        is_going(&ns, "pvc/outlived")
    });
    told(cluster, "pvc/outlived", ns.name())
        .never_says("exists in namespace")
        .says("owner ConfigMap owner has another uid: it was made anew")
        .says("perhaps the garbage collector");

    // No type has this kind. The garbage collector leaves the object alone, and the explanation says so. A user
    // deleted it.
    owned(
        &ns,
        "strange",
        &owner(
            "Widget",
            "example.test/v1",
            &json!("00000000-0000-4000-8000-000000000002"),
        ),
    );
    delete(cluster, "pvc/strange", ns.name());
    told(cluster, "pvc/strange", ns.name())
        .says("owner Widget owner: the server has no such kind in example.test/v1, so the garbage collector leaves the object alone")
        .never_says("perhaps the garbage collector");

    // A user who may not read the owners is not told that they are gone.
    let reader = cluster
        .user("no-owners")
        .may("get,list", "persistentvolumeclaims,pods,events")
        .create();
    told_to(cluster, &reader, "pvc/copied", ns.name())
        .never_says("perhaps the garbage collector")
        .never_says("does not exist in this namespace");

    // An owner in foreground deletion.
    let own = ns.get(["configmap", "owner"]).unwrap()["metadata"]["uid"].clone();
    let mut blocking = owner("ConfigMap", "v1", &own);
    blocking["blockOwnerDeletion"] = json!(true);
    owned(&ns, "awaited", &blocking);
    ns.kubectl([
        "delete",
        "configmap",
        "owner",
        "--cascade=foreground",
        "--wait=false",
    ])
    .success();
    wait("the garbage collector deletes it", SOON, || {
        is_going(&ns, "pvc/awaited")
    });
    told(cluster, "pvc/awaited", ns.name())
        .says("its owner ConfigMap owner can go too, which waits for it (blockOwnerDeletion)")
        .never_says("perhaps the garbage collector");

    for claim in ["copied", "outlived", "strange", "awaited"] {
        release(cluster, &format!("pvc/{claim}"), ns.name());
        goes(cluster, &format!("pvc/{claim}"), ns.name());
    }
    goes(cluster, "configmap/owner", ns.name());
}
