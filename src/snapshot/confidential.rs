//! Removes what may hold a password or a key from an object. A snapshot is passed on to others, and a copy of the
//! metadata of a Secret must not hold its data.
//!
//! Deployment tools keep the whole object as applied in an annotation, with the data of a Secret. So of Secrets and
//! ConfigMaps only known annotations stay. Of other objects, annotations that hold an object are removed.

use serde_json::{Map, Value};

use super::facts::Object;

/// Annotations of Secrets and ConfigMaps that hold no data: who made the object, and for whom.
const PUBLIC_ANNOTATIONS: &[&str] = &[
    "argocd.argoproj.io/hook",
    "argocd.argoproj.io/sync-options",
    "argocd.argoproj.io/tracking-id",
    "cert-manager.io/certificate-name",
    "cert-manager.io/issuer-group",
    "cert-manager.io/issuer-kind",
    "cert-manager.io/issuer-name",
    "crossplane.io/paused",
    "helm.sh/hook",
    "helm.sh/hook-delete-policy",
    "helm.sh/resource-policy",
    "kubectl-finalizers/nudged",
    "kubernetes.io/service-account.name",
    "kubernetes.io/service-account.uid",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
];
/// Parts of the names of annotations that hold a whole object, packed or not: `kubectl apply`, kapp, Rancher,
/// Banzai Cloud's operators, kopf.
const WHOLE_OBJECTS: &[&str] = &[
    "banzaicloud.com/last-applied",
    "kapp.k14s.io/original",
    "last-applied-configuration",
    "last-handled-configuration",
    "objectset.rio.cattle.io/applied",
];
/// Longer annotations hold more than a name or a mark.
const MAX_ANNOTATION: usize = 512;
/// Fields that hold values for a program: in containers, and in custom resources that make containers or machines.
const VALUES: &[&str] = &[
    "args",
    "binaryData",
    "bootstrapData",
    "cloudInit",
    "cloudInitConfigDrive",
    "cloudInitNoCloud",
    "command",
    "env",
    "envFrom",
    "httpHeaders",
    "ignition",
    "networkData",
    "networkDataBase64",
    "postKubeadmCommands",
    "preKubeadmCommands",
    "script",
    "stringData",
    "sysprep",
    "userData",
    "userDataBase64",
    "valuesContent",
    "valuesObject",
];
/// Fields whose text or map holds values for a program. A list of that name holds something else: the `values` of a
/// label selector, or the `content` of a resource.
const VALUES_UNLESS_LIST: &[&str] = &["content", "values"];
/// Ends of the names of fields whose text is a secret.
const SECRET_ENDINGS: &[&str] = &[
    "accesskey",
    "apikey",
    "connectionstring",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secretkey",
    "token",
    "user-data",
    "user_data",
];

/// Removes what a snapshot must not hold.
pub(super) fn strip(object: &mut Object) {
    let is_core = object.resource.group.is_empty();
    let confidential = is_core && matches!(&*object.resource.plural, "secrets" | "configmaps");
    // The fields of a schema have the names of values, and are none.
    let is_schema = object.resource.plural == "customresourcedefinitions";
    let Some(whole) = object.value.as_object_mut() else {
        return;
    };
    if confidential {
        // The program reads only metadata of these. A file that is passed on must not rely on that.
        whole.retain(|key, _| matches!(&**key, "apiVersion" | "kind" | "metadata"));
        strip_annotations(whole);
    } else if let Some(annotations) = annotations(whole) {
        annotations.retain(|name, value| !holds_object(name, value));
    }
    if !is_schema {
        for (_, value) in whole.iter_mut().filter(|(key, _)| *key != "metadata") {
            strip_values("", value);
        }
    }
}

/// Removes the annotations of a Secret or ConfigMap that may hold its data, and returns their names.
pub fn strip_annotations(object: &mut Map<String, Value>) -> Vec<String> {
    let mut removed = Vec::new();
    if let Some(annotations) = annotations(object) {
        annotations.retain(|name, value| {
            let keep = PUBLIC_ANNOTATIONS.contains(&name.as_str()) && !holds_object(name, value);
            if !keep {
                removed.push(name.clone());
            }
            keep
        });
    }
    removed
}

fn annotations(object: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    object
        .get_mut("metadata")?
        .get_mut("annotations")?
        .as_object_mut()
}

fn holds_object(name: &str, value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().trim_start();
    WHOLE_OBJECTS.iter().any(|part| name.contains(part))
        || text.starts_with(['{', '['])
        || text.len() > MAX_ANNOTATION
        || is_secret_field(name)
}

/// Removes values for programs from the value of a field, at any depth.
fn strip_values(name: &str, value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| strip_values(name, value)),
        Value::Object(fields) => {
            // A template of a Secret or ConfigMap. Some operators leave its kind out.
            let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
            let is_template = matches!(kind, "Secret" | "ConfigMap") || name == "template";
            fields.retain(|key, value| {
                let key = key.as_str();
                let is_data = is_template && key == "data";
                let is_secret = value.is_string() && is_secret_field(key);
                let is_value =
                    VALUES.contains(&key) || !value.is_array() && VALUES_UNLESS_LIST.contains(&key);
                !(is_data || is_secret || is_value)
            });
            if let Some(annotations) = annotations(fields) {
                annotations.retain(|name, value| !holds_object(name, value));
            }
            fields
                .iter_mut()
                .for_each(|(name, value)| strip_values(name, value));
        }
        _ => {}
    }
}

fn is_secret_field(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|ending| key.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{strip, strip_annotations};
    use crate::snapshot::facts::{Object, Resource};

    fn stripped(group: &str, plural: &str, value: serde_json::Value) -> serde_json::Value {
        let mut object = Object {
            resource: Resource::new(group, plural),
            kind: String::new(),
            api_version: String::new(),
            value,
        };
        strip(&mut object);
        object.value
    }

    #[test]
    fn a_secret_keeps_only_annotations_that_hold_no_data() {
        let metadata = json!({"name": "s", "annotations": {
            "banzaicloud.com/last-applied": "UEsDBBQ=",
            "example.com/anything": "hunter2",
            "kapp.k14s.io/original": "{\"data\":{\"p\":\"hunter2\"}}",
            "kopf.zalando.org/last-handled-configuration": "hunter2",
            "kubectl.kubernetes.io/last-applied-configuration": "hunter2",
            "kubernetes.io/service-account.name": "builder",
            "meta.helm.sh/release-name": "{\"data\":\"hunter2\"}",
            "objectset.rio.cattle.io/applied": "H4sIAAAA",
        }});
        let whole = json!({"metadata": metadata, "data": {"p": "hunter2"}, "type": "hunter2"});
        let kept = json!({"metadata": {"name": "s", "annotations": {"kubernetes.io/service-account.name": "builder"}}});
        for plural in ["secrets", "configmaps"] {
            assert_eq!(stripped("", plural, whole.clone()), kept);
        }
        let mut copy = whole.as_object().expect("an object").clone();
        let removed = strip_annotations(&mut copy);
        assert_eq!(removed.len(), 7, "{removed:?}");
        assert_eq!(copy["metadata"], kept["metadata"]);
    }

    #[test]
    fn values_for_programs_are_removed_at_any_depth() {
        let value = json!({"metadata": {"name": "w", "annotations": {
            "kapp.k14s.io/original": "hunter2", "example.com/config": "{\"p\":\"hunter2\"}", "example.com/owner": "team"}},
        "spec": {
            "deep": [{"pods": {"main": {"env": [{"value": "hunter2"}], "args": ["hunter2"], "command": ["hunter2"], "image": "i"}}}],
            "volumes": [{"cloudInitNoCloud": {"userData": "hunter2"}}, {"userDataBase64": "aHVudGVyMg=="}],
            "db": {"adminPassword": "hunter2", "passwordSecretRef": {"name": "ref"}, "user_data": "hunter2"},
            "template": {"kind": "Secret", "data": {"p": "hunter2"}, "stringData": {"p": "hunter2"}, "metadata": {"annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "hunter2"}}},
            "data": {"storage": "10Gi"},
            "files": [{"path": "/etc/key", "content": "hunter2"}],
            "chart": {"values": {"p": "hunter2"}, "valuesContent": "p: hunter2", "valuesObject": {"p": "hunter2"}},
            "selector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}]},
            "probe": {"httpGet": {"path": "/", "httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}},
            "steps": [{"script": "login hunter2"}],
            "target": {"template": {"data": {"p": "hunter2"}, "type": "Opaque"}},
        }});
        let kept = json!({"metadata": {"name": "w", "annotations": {"example.com/owner": "team"}},
        "spec": {
            "deep": [{"pods": {"main": {"image": "i"}}}],
            "volumes": [{}, {}],
            "db": {"passwordSecretRef": {"name": "ref"}},
            "template": {"kind": "Secret", "metadata": {"annotations": {}}},
            "data": {"storage": "10Gi"},
            "files": [{"path": "/etc/key"}],
            "chart": {},
            "selector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}]},
            "probe": {"httpGet": {"path": "/"}},
            "steps": [{}],
            "target": {"template": {"type": "Opaque"}},
        }});
        assert_eq!(stripped("x.test", "widgets", value), kept);
    }

    #[test]
    fn the_schema_of_a_type_keeps_its_fields() {
        let schema =
            json!({"spec": {"versions": [{"schema": {"properties": {"command": {"type": "string"}}}}]}});
        let kept = stripped(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            schema.clone(),
        );
        assert_eq!(kept, schema);
    }
}
