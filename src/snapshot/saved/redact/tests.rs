use serde_json::{Value, json};

use super::{
    super::tests::{example, packed, query},
    texts::{FINALIZERS, FREE, KEPT, OF_DRIVERS},
    *,
};
use crate::snapshot::facts::Resource;

fn public() -> Public {
    Public {
        names: ["cert-manager".to_owned()].into(),
        words: BTreeSet::new(),
        products: BTreeSet::new(),
    }
}

fn unpacked(saved: &Saved) -> String {
    super::super::tests::unpacked(&packed(saved))
}

#[test]
fn replaces_names_consistently_and_keeps_other_words() {
    let mut saved = example();
    saved.notes = vec![
        "pods \"db-0\" in db on node-7, at 10.1.2.3 and token.db.svc:443; cert-manager and data stay."
            .to_owned(),
    ];
    let redacted = saved.clone().redacted(&public());
    assert!(redacted.head.redacted);
    let note = &redacted.notes[0];
    assert!(note.contains("cert-manager and data stay."), "{note}");
    for name in ["db", "node", "token", "10.1"] {
        assert!(!note.contains(name), "{name} in {note}");
    }
    let namespace = redacted.kept[0].object.namespace.clone().expect("a namespace");
    assert!(
        note.contains(&format!("\"{namespace}-0\" in {namespace} on")),
        "{note}"
    );
    assert_eq!(redacted.kept[0].finalizers, saved.kept[0].finalizers);
    assert_eq!(redacted.kept[0].object.type_name, saved.kept[0].object.type_name);
    let counts = redacted
        .counts
        .iter()
        .flat_map(|counted| counted.in_namespaces.values());
    assert_eq!(counts.sum::<u64>(), 5);
    assert_eq!(redacted.answers.len(), saved.answers.len());
    assert_eq!(saved.redacted(&public()).notes, redacted.notes);
}

/// Objects with all kinds of fields that tell something about a cluster.
fn objects() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "nodes",
            "Node",
            json!({
                "metadata": {"name": "node-7", "uid": "u-1", "labels": {"kubernetes.io/hostname": "node-7", "team": "a"},
                    "annotations": {"csi.volume.kubernetes.io/nodeid": "{\"d\":\"i-0abc\"}"}},
                "spec": {"providerID": "aws:///eu-1a/i-0abc", "podCIDRs": ["10.1.0.0/16", "fd00:10::/64"]},
                "status": {"addresses": [{"type": "InternalIP", "address": "10.1.2.3"}, {"type": "InternalIP", "address": "fd00:10:96::7"},
                        {"type": "Hostname", "address": "ip-10-1-2-3.corp.internal"}],
                    "nodeInfo": {"machineID": "5f2b", "systemUUID": "EC2B", "kernelVersion": "6.1"},
                    "images": [{"names": ["registry.corp.example/team/app@sha256:abc"]}],
                    "conditions": [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}]},
            }),
        ),
        (
            "persistentvolumes",
            "PersistentVolume",
            json!({
                "metadata": {"name": "pv-1", "annotations": {"pv.kubernetes.io/provisioned-by": "driver.globex.com"}},
                "spec": {"storageClassName": "globex-gold", "nfs": {"server": "nas.corp.example", "path": "/exports/team"}, "capacity": {"storage": "10Gi"},
                    "csi": {"driver": "driver.globex.com", "volumeHandle": "vol-0abc", "volumeAttributes": {"pool": "gold"}},
                    "claimRef": {"namespace": "db", "name": "data-0"}, "persistentVolumeReclaimPolicy": "Delete",
                    "accessModes": ["ReadWriteOnce"]},
                "status": {"phase": "Released", "message": "user jane@corp.example may not delete vol_db_data at https://nas.corp.example:8443/x"},
            }),
        ),
        (
            "pods",
            "Pod",
            json!({
                "metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "u-2"}]},
                "spec": {"nodeName": "node-7", "schedulerName": "default-scheduler", "containers": [{"name": "web", "image": "registry.corp.example/team/app:v1.2"}],
                    "nodeSelector": {"pool": "gold"}},
                "status": {"podIP": "10.1.2.9", "podIPs": [{"ip": "fd00:10::9"}], "hostIP": "10.1.2.3"},
            }),
        ),
        (
            "storageclasses",
            "StorageClass",
            json!({"metadata": {"name": "globex-gold"}, "provisioner": "driver.globex.com"}),
        ),
        (
            "ingresses",
            "Ingress",
            json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"ingressClassName": "globex-edge"}}),
        ),
        (
            "services",
            "Service",
            json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"loadBalancerClass": "globex.example/lb"}}),
        ),
        (
            "roles",
            "Role",
            json!({"metadata": {"name": "r", "namespace": "shop"},
                "rules": [{"apiGroups": ["apps", "globex.private"], "resources": ["deployments", "gizmos"], "verbs": ["get"]}]}),
        ),
        (
            "volumeattachments",
            "VolumeAttachment",
            json!({"metadata": {"name": "va", "finalizers": ["external-attacher/driver-globex-com"],
                    "managedFields": [{"manager": "csi-attacher", "fieldsV1":
                        {"f:metadata": {"f:finalizers": {"v:\"external-attacher/driver-globex-com\"": {}}}}}]},
                "spec": {"attacher": "driver.globex.com", "nodeName": "node-7"}}),
        ),
    ]
}

/// A custom resource that gives every name of a kept field its own meaning.
fn tenant() -> (&'static str, &'static str, Value) {
    let named = ["group", "kind", "storageClassName", FINALIZERS, KEPT];
    let kept: serde_json::Map<_, _> = OF_DRIVERS
        .iter()
        .chain(&named)
        .map(|key| ((*key).to_owned(), json!("zorgblat")))
        .collect();
    let value = json!({"kind": "Tenant", "metadata": {"name": "t-1", "labels": {"group": "zorgblat"}}, "spec": kept,
        "status": {"storageClassName": ["zorgblat"]}});
    ("tenants", "Tenant", value)
}

fn with(all: impl IntoIterator<Item = (&'static str, &'static str, Value)>) -> Saved {
    let mut saved = example();
    for (plural, kind, value) in all {
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let group = if plural == "tenants" { "acme.example" } else { "" };
        let object = Object {
            resource: Resource::new(group, plural),
            kind: kind.into(),
            api_version: "v1".into(),
            value,
        };
        let object = match kind {
            "VolumeAttachment" => Object {
                resource: Resource::new("storage.k8s.io", plural),
                ..object
            },
            _ => object,
        };
        saved
            .answers
            .insert(query(plural, &name), Ok(Answer::Object(Some(Box::new(object)))));
    }
    saved
}

#[test]
fn redaction_hides_identities_and_keeps_what_a_diagnosis_reads() {
    let text = unpacked(&with(objects().into_iter().chain([tenant()])).redacted(&public()));
    for hidden in [
        "zorgblat",
        "corp",
        "nas.",
        "jane",
        "i-0abc",
        "eu-1a",
        "5f2b",
        "EC2B",
        "vol-0abc",
        "10.1.",
        "10-1-2",
        "fd00",
        "registry.corp",
        "gold",
        "exports",
        "node-7",
        "data-0",
        "shop",
        "203.0.113.7",
        "abc",
        "globex",
        "gizmos",
        "edge",
        "driver.globex",
        "driver-globex",
    ] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    for stays in [
        "10Gi",
        "external-attacher/",
        "deployments",
        "\"apps\"",
        "\"Delete\"",
        "ReadWriteOnce",
        "Released",
        "Kubelet stopped posting node status.",
        "\"Ready\"",
        "kubernetes.io/pvc-protection",
        "persistentVolumeReclaimPolicy",
        "kubernetes.io/hostname",
        "may not delete",
    ] {
        assert!(text.contains(stays), "{stays} in {text}");
    }
}

/// The first text at this pointer in an object of this kind.
fn text_of(saved: &Saved, kind: &str, pointer: &str) -> String {
    let all = saved.answers.values().flatten().flat_map(super::objects);
    let mut all = all.filter(|object| object.kind == kind);
    all.next()
        .map_or_else(String::new, |object| object.text(pointer).to_owned())
}

#[test]
fn classes_and_drivers_have_one_mask_wherever_they_are_named() {
    let saved = with(objects()).redacted(&public());
    let class = text_of(&saved, "StorageClass", "/metadata/name");
    assert_eq!(
        text_of(&saved, "PersistentVolume", "/spec/storageClassName"),
        class
    );
    let driver = text_of(&saved, "StorageClass", "/provisioner");
    assert_eq!(text_of(&saved, "PersistentVolume", "/spec/csi/driver"), driver);
    assert_eq!(text_of(&saved, "VolumeAttachment", "/spec/attacher"), driver);
    let finalizer = text_of(&saved, "VolumeAttachment", "/metadata/finalizers/0");
    assert_eq!(finalizer, format!("external-attacher/{}", driver::plain(&driver)));
    assert!(unpacked(&saved).contains(&format!("v:\\\"{finalizer}")));

    // What many clusters or the catalogue have stays.
    let known = Public {
        names: ["driver.globex.com".to_owned()].into(),
        ..public()
    };
    let mut all = objects();
    all[1].2["spec"]["storageClassName"] = "gp3".into();
    let saved = with(all).redacted(&known);
    assert_eq!(
        text_of(&saved, "PersistentVolume", "/spec/storageClassName"),
        "gp3"
    );
    assert_eq!(
        text_of(&saved, "PersistentVolume", "/spec/csi/driver"),
        "driver.globex.com"
    );
    let finalizer = text_of(&saved, "VolumeAttachment", "/metadata/finalizers/0");
    assert_eq!(finalizer, "external-attacher/driver-globex-com");
}

/// A word of letters that nobody knows, another for each number.
fn secret(number: usize) -> String {
    let letter = |digit: usize| char::from(b'a' + u8::try_from(digit % 26).expect("a letter"));
    format!(
        "zebraquux{}{}{}q",
        letter(number),
        letter(number / 26),
        letter(number / 676)
    )
}

/// Puts `form` with a new secret word into each field and each map, except for finalizers and times. Custom resources and maps
/// of free keys have no finalizers.
fn plant(key: &str, is_defined: bool, value: &mut Value, form: &str, planted: &mut usize) {
    let mut next = || {
        *planted += 1;
        secret(*planted)
    };
    match value {
        Value::String(text) if !(is_defined && key == FINALIZERS || key.ends_with("imestamp")) => {
            *text = form.replace("SECRET", &next());
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| plant(key, is_defined, value, form, planted)),
        Value::Object(fields) => {
            fields.insert(next(), "a".into());
            let are_defined = is_defined && !FREE.contains(&key);
            fields
                .iter_mut()
                .for_each(|(key, value)| plant(key, are_defined, value, form, planted));
        }
        _ => {}
    }
}

#[test]
fn an_unknown_word_is_hidden_in_every_field() {
    for form in [
        "SECRET",
        "https://jane:SECRET@SECRET.example:8443/SECRET/x?y=SECRET#SECRET",
        "registry.SECRET.io/SECRET/app:SECRET@sha256:SECRET",
        "User \"SECRET\" cannot delete SECRET_default, a 'SECRET' of (SECRET); try SECRET.",
        "default_SECRET-0_SECRETs",
        "{\"SECRET\":\"pod-SECRET\"}",
        "größe-SECRET/SECRETé",
    ] {
        let mut planted = 0;
        let all = objects()
            .into_iter()
            .chain([tenant()])
            .map(|(plural, kind, mut value)| {
                let is_custom = plural == "tenants";
                let fields = value.as_object_mut().expect("an object");
                // The type of an object stays, as types do.
                for (name, value) in fields.iter_mut().filter(|(name, _)| *name != "kind") {
                    plant(name, !is_custom || name == "metadata", value, form, &mut planted);
                }
                (plural, kind, value)
            });
        let mut saved = with(all.collect::<Vec<_>>());
        let note = form.replace("SECRET", &secret(0));
        saved.notes.push(note.clone());
        saved.gaps[0].why = crate::snapshot::Why::Forbidden(note.clone());
        saved.kept[0].conditions.push(crate::snapshot::Condition {
            kind: note.clone(),
            status: note.clone(),
            reason: note.clone(),
            message: note,
            since: None,
        });
        assert!(planted > 50, "{planted}");
        let text = unpacked(&saved.redacted(&public()));
        let lower = text.to_lowercase();
        if let Some(at) = lower.find("zebraquux") {
            panic!(
                "{form}: {}",
                &lower[at.saturating_sub(80)..(at + 40).min(lower.len())]
            );
        }
    }
}
