//! Whether one object references another, and where: by a field, a label, or as its owner.
//!
//! **Recognises** the shapes that references have by convention (`kubernetes/community:contributors/devel/
//! sig-architecture/api-conventions.md`, "Object references"): `…Ref` with a `name`, and with `kind` and `namespace`
//! if they may vary. Also a text field that is called after the kind (`gatewayClassName`, `project` for an
//! `AppProject`). Also a label `…/KIND-name`, or with the whole name of its type, on an object that was created for another
//! object. Where the catalogue says that such objects use it, also a list that is called after the kind
//! (`flavors: [{name: …}]` for a `ResourceFlavor`).
//! Elsewhere such a list may define what it names, as `templates` of a `Workflow` do. **Wants** nothing.
//! **Concludes** nothing by itself: a name alone, in a field that does not fit the kind, is no reference.

use serde_json::{Map, Value};

use crate::{diagnose::limits, snapshot::facts::Object};

/// The path of the field of `user` that names `target`.
pub(crate) fn referencing_field(user: &Object, target: &Object) -> Option<String> {
    let mut fields = own_fields(user);
    fields.find_map(|(key, value)| find_reference(key, key, value, user, target))
}

/// The same for an object that is known to use others of this kind. Its controller may have chosen one for it, and keeps that
/// in the status: `status.admission.clusterQueue` of a `Workload`.
pub(crate) fn using_field(user: &Object, target: &Object) -> Option<String> {
    let listed =
        || own_fields(user).find_map(|(key, value)| find_in_list(key, key, value, target, name_of_item));
    let chosen = || {
        let fields = user.value.get("status").and_then(Value::as_object)?;
        let mut now = fields.iter().filter(|(key, _)| !is_of_the_past(key));
        now.find_map(|(key, value)| {
            let path = format!("status.{key}");
            let listed = || find_in_list(&path, key, value, target, placed_name);
            find_reference(&path, key, value, user, target).or_else(listed)
        })
    };
    referencing_field(user, target).or_else(listed).or_else(chosen)
}

/// Whether a field of a status tells of what was, or of what somebody says.
fn is_of_the_past(key: &str) -> bool {
    matches!(key, "conditions" | "history") || key.starts_with("last") || key.starts_with("previous")
}

fn own_fields(user: &Object) -> impl Iterator<Item = (&String, &Value)> {
    let other_fields = ["apiVersion", "kind", "metadata", "status"];
    let fields = user.value.as_object().into_iter().flatten();
    fields.filter(move |(key, _)| !other_fields.contains(&key.as_str()))
}

/// The name that an item of a list is, or has.
pub(crate) fn name_of_item(item: &Value) -> Option<&str> {
    item.get("name").unwrap_or(item).as_str()
}

/// The name in an item of a status. Lists there have names of many things, so it counts only beside a namespace.
fn placed_name(item: &Value) -> Option<&str> {
    item.get("namespace")?;
    item.get("name")?.as_str()
}

/// The path of the item that names `target`, in a list that is called after its kind.
fn find_in_list(
    path: &str,
    key: &str,
    value: &Value,
    target: &Object,
    name_of: fn(&Value) -> Option<&str>,
) -> Option<String> {
    if path.split('.').count() > limits::FIELD_DEPTH {
        return None;
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(place, item)| {
            let path = format!("{path}[{place}]");
            let place = item.get("namespace").and_then(Value::as_str);
            let is_it = name_of(item) == Some(target.name())
                && place.is_none_or(|place| place == target.namespace())
                && key
                    .strip_suffix('s')
                    .is_some_and(|one| is_called_after(one, &target.kind));
            if is_it {
                Some(path)
            } else {
                find_in_list(&path, key, item, target, name_of)
            }
        }),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(key, value)| find_in_list(&format!("{path}.{key}"), key, value, target, name_of)),
        _ => None,
    }
}

/// The path of the name of `target` in a list of plain names that is called after its kind: `roles: [admin]` for a `Role`. Plain
/// names define nothing.
pub(crate) fn naming_item(user: &Object, target: &Object) -> Option<String> {
    let is_near = user.resource != target.resource && is_in_namespace_of("", user, target);
    let mut fields = own_fields(user);
    let path = fields.find_map(|(key, value)| find_in_list(key, key, value, target, Value::as_str))?;
    is_near.then_some(path)
}

/// Whether `child` was created for `parent`. An owner reference, a label or a field shows it. So does the namespace
/// of `child`, if it has the name of a `parent` without a namespace.
pub(crate) fn is_child(child: &Object, parent: &Object) -> bool {
    let owned = !parent.uid().is_empty() && child.is_owned_by(parent.uid());
    let is_in_own_namespace = parent.namespace().is_empty() && child.namespace() == parent.name();
    owned
        || is_in_own_namespace
        || is_namespace_made_by(child, parent)
        || has_label_for(child, parent)
        || has_labels_of_owner(child, parent)
        || has_label_of_owning_resource(child, parent)
        || referencing_field(child, parent).is_some()
}

/// Whether a namespace was made by the object of its name, and belongs below the namespace of that: an annotation or a label in
/// the domain of the object names the upper one, as `hnc.x-k8s.io/subnamespace-of` and `accurate.cybozu.com/parent` do.
fn is_namespace_made_by(child: &Object, parent: &Object) -> bool {
    if !child.is("", "namespaces") || child.name() != parent.name() || parent.namespace().is_empty() {
        return false;
    }
    let is_mark = |key: &str, value: &str| {
        let domain = key.split('/').next();
        domain == Some(parent.resource.group.as_str()) && value == parent.namespace()
    };
    child.labels().iter().any(|(key, value)| is_mark(key, value))
        || child.annotations().any(|(key, value)| is_mark(key, value))
}

/// Whether a pair of labels tells the kind and the name of the parent: `…/owner-kind` and `…/owner-name`. A third label
/// may tell its namespace, and only that connects objects of different namespaces.
fn has_labels_of_owner(child: &Object, parent: &Object) -> bool {
    let labels = child.labels();
    let mut kinds = labels.iter().filter_map(|(key, value)| {
        let is_kind = value.eq_ignore_ascii_case(&parent.kind);
        key.strip_suffix("kind").filter(|_| is_kind)
    });
    kinds.any(|key| {
        let is_named =
            |what: &str, name: &str| labels.get(&format!("{key}{what}")).is_some_and(|one| one == name);
        let is_in_place =
            child.namespace() == parent.namespace() || is_named("namespace", parent.namespace());
        is_named("name", parent.name()) && is_in_place
    })
}

/// Whether a label tells the owner by its name alone: `install.operator.istio.io/owning-resource`. A second one tells its
/// namespace (`istio/istio:operator/pkg/helmreconciler/reconciler.go`).
fn has_label_of_owning_resource(child: &Object, parent: &Object) -> bool {
    let labels = child.labels();
    labels.iter().any(|(key, value)| {
        let place = labels.get(&format!("{key}-namespace"));
        key.ends_with("/owning-resource")
            && value == parent.name()
            && place.map_or(child.namespace(), String::as_str) == parent.namespace()
    })
}

fn has_label_for(child: &Object, parent: &Object) -> bool {
    let kind = parent.kind.to_lowercase();
    let same_namespace = parent.namespace().is_empty() || child.namespace() == parent.namespace();
    let of_type = parent.resource.name();
    same_namespace
        && child.labels().iter().any(|(key, value)| {
            let last = key.rsplit('/').next().unwrap_or_default();
            let plain = last.replace(['-', '_', '.'], "").to_lowercase();
            value == parent.name() && (*key == of_type || is_called_after(&plain, &kind))
        })
}

fn find_reference(path: &str, key: &str, value: &Value, user: &Object, target: &Object) -> Option<String> {
    if path.split('.').count() > limits::FIELD_DEPTH {
        return None;
    }
    match value {
        Value::String(text) => {
            let fits = is_called_after(key, &target.kind) && is_named_by(text, "", user, target);
            fits.then(|| path.to_owned())
        }
        Value::Object(fields) if is_reference(key, fields, user, target) => Some(path.to_owned()),
        // It references another object.
        Value::Object(_) if key.to_lowercase().trim_end_matches('s').ends_with("ref") => None,
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match (value.as_str(), namespace_beside(key, fields)) {
                (Some(name), Some(namespace)) => {
                    let fits =
                        is_called_after(key, &target.kind) && is_named_by(name, namespace, user, target);
                    fits.then_some(path)
                }
                _ => find_reference(&path, key, value, user, target),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(place, item)| find_reference(&format!("{path}[{place}]"), key, item, user, target)),
        _ => None,
    }
}

/// Whether a text names the target: by its name, or as `NAMESPACE/NAME`.
fn is_named_by(text: &str, namespace: &str, user: &Object, target: &Object) -> bool {
    match text.split_once('/') {
        Some((place, name)) => !place.is_empty() && place == target.namespace() && name == target.name(),
        None => text == target.name() && is_in_namespace_of(namespace, user, target),
    }
}

/// The namespace in the field beside a name: `poolNamespace` for `poolName`.
fn namespace_beside<'a>(key: &str, fields: &'a Map<String, Value>) -> Option<&'a str> {
    let bare = key.strip_suffix("Name")?;
    fields.get(&format!("{bare}Namespace"))?.as_str()
}

fn is_reference(key: &str, fields: &Map<String, Value>, user: &Object, target: &Object) -> bool {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let fits = match field("kind") {
        "" => is_called_after(key, &target.kind),
        kind => kind == target.kind,
    };
    let group = [field("group"), field("apiGroup"), field("apiVersion")]
        .into_iter()
        .find(|text| !text.is_empty())
        .map_or("", |text| text.split_once('/').map_or(text, |(group, _)| group));
    // `poolName` in `clusterPoolRef` holds the name too.
    let named = fields
        .iter()
        .any(|(key, value)| key.to_lowercase().ends_with("name") && value.as_str() == Some(target.name()));
    fits && named
        && (group.is_empty() || group == target.resource.group)
        && is_in_namespace_of(field("namespace"), user, target)
}

/// Whether `providerConfigRef`, `gatewayClassName` or `project` can name an object of this kind.
pub(crate) fn is_called_after(key: &str, kind: &str) -> bool {
    let (key, kind) = (key.to_lowercase(), kind.to_lowercase());
    let bare = ["references", "reference", "refs", "ref", "names", "name"]
        .iter()
        .find_map(|end| key.strip_suffix(end))
        .unwrap_or(&key);
    bare.len() >= limits::FIELD_NAME && kind.ends_with(bare)
}

/// Whether a reference with this namespace, or without one, leads to the namespace of the target.
fn is_in_namespace_of(namespace: &str, user: &Object, target: &Object) -> bool {
    let place = if namespace.is_empty() {
        user.namespace()
    } else {
        namespace
    };
    target.namespace().is_empty() || target.namespace() == place
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::testing::world::bare as object;

    fn target(kind: &str, namespace: &str) -> Object {
        let metadata = json!({"metadata": {"name": "prod", "namespace": namespace, "uid": "u"}});
        object("x.test", "things", kind, metadata)
    }

    fn found(kind: &str, spec: &Value) -> Option<String> {
        let user = object(
            "x.test",
            "users",
            "User",
            json!({"metadata": {"name": "prod", "namespace": "ns"}, "spec": spec}),
        );
        referencing_field(&user, &target(kind, "ns"))
    }

    #[test]
    fn what_a_controller_chose_counts_only_for_a_known_user() {
        let user = object(
            "x.test",
            "users",
            "User",
            json!({"metadata": {"name": "w", "namespace": "ns"}, "status": {"admission": {"clusterQueue": "prod"}}}),
        );
        let queue = target("ClusterQueue", "");
        assert_eq!(referencing_field(&user, &queue), None);
        let chosen = using_field(&user, &queue);
        assert_eq!(chosen.as_deref(), Some("status.admission.clusterQueue"));
        let listing = |item: Value| {
            let mut user = user.clone();
            user.value["status"] = json!({"things": [{"name": "other", "namespace": "ns"}, item]});
            using_field(&user, &target("UsedThing", "ns"))
        };
        let path = listing(json!({"name": "prod", "namespace": "ns"}));
        assert_eq!(path.as_deref(), Some("status.things[1]"));
        for item in [
            json!({"name": "prod", "namespace": "other"}),
            json!({"name": "prod"}),
            json!("prod"),
        ] {
            assert_eq!(listing(item.clone()), None, "{item}");
        }
        let mut past = user.clone();
        past.value["status"] = json!({"previousAdmission": {"clusterQueue": "prod"}});
        assert_eq!(using_field(&past, &queue), None);
    }

    #[test]
    fn finds_references_by_their_shape() {
        for (kind, spec, path) in [
            ("AppProject", json!({"project": "prod"}), "spec.project"),
            (
                "GatewayClass",
                json!({"gatewayClassName": "prod"}),
                "spec.gatewayClassName",
            ),
            (
                "ProviderConfig",
                json!({"a": [{"providerConfigRef": {"name": "prod"}}]}),
                "spec.a[0].providerConfigRef",
            ),
            (
                "ClusterPool",
                json!({"clusterPoolRef": {"poolName": "prod", "namespace": "ns"}}),
                "spec.clusterPoolRef",
            ),
            (
                "NodeClass",
                json!({"from": {"kind": "NodeClass", "group": "x.test", "name": "prod"}}),
                "spec.from",
            ),
            ("ClusterPool", json!({"pool": "ns/prod"}), "spec.pool"),
        ] {
            assert_eq!(found(kind, &spec).as_deref(), Some(path), "{spec}");
        }
    }

    #[test]
    fn a_list_called_after_the_kind_names_it_only_for_an_object_that_uses_it() {
        let user = |spec: Value| {
            object(
                "x.test",
                "queues",
                "Queue",
                json!({"metadata": {"name": "q"}, "spec": spec}),
            )
        };
        let flavor = target("ResourceFlavor", "");
        for (spec, path) in [
            (
                json!({"groups": [{"flavors": [{"name": "other"}, {"name": "prod"}]}]}),
                Some("spec.groups[0].flavors[1]"),
            ),
            (json!({"flavors": ["prod"]}), Some("spec.flavors[0]")),
            (json!({"flavors": [{"name": "production"}]}), None),
            (json!({"resources": [{"name": "prod"}]}), None),
            (json!({"flavors": [{"title": "prod"}]}), None),
        ] {
            let user = user(spec.clone());
            assert_eq!(using_field(&user, &flavor).as_deref(), path, "{spec}");
            let elsewhere = referencing_field(&user, &flavor);
            assert_eq!(elsewhere, None, "{spec}");
        }
        // What every object names it by counts here, too.
        let plain = user(json!({"flavor": "prod"}));
        assert_eq!(using_field(&plain, &flavor).as_deref(), Some("spec.flavor"));
    }

    #[test]
    fn a_name_alone_is_no_reference() {
        for (kind, spec) in [
            ("AppProject", json!({"environment": "prod", "name": "prod"})),
            ("AppProject", json!({"project": "production"})),
            ("AppProject", json!({"project": "elsewhere/prod"})),
            ("AppProject", json!({"project": "/prod"})),
            (
                "ClusterPool",
                json!({"clusterPoolName": "prod", "clusterPoolNamespace": "elsewhere"}),
            ),
            ("NodeClass", json!({"from": {"kind": "Other", "name": "prod"}})),
            (
                "NodeClass",
                json!({"nodeClassRef": {"group": "y.test", "name": "prod"}}),
            ),
            (
                "ClusterPool",
                json!({"clusterPoolRef": {"poolName": "prod", "namespace": "elsewhere"}}),
            ),
        ] {
            assert_eq!(found(kind, &spec), None, "{spec}");
        }
    }

    #[test]
    fn an_object_of_another_namespace_names_it_only_with_the_namespace() {
        let found = |spec: Value| {
            let metadata = json!({"name": "u", "namespace": "other"});
            let user = object(
                "x.test",
                "users",
                "User",
                json!({"metadata": metadata, "spec": spec}),
            );
            referencing_field(&user, &target("ClusterPool", "ns"))
        };
        for spec in [
            json!({"poolRef": {"name": "prod", "namespace": "ns"}}),
            json!({"poolName": "prod", "poolNamespace": "ns"}),
            json!({"pool": "ns/prod"}),
        ] {
            assert!(found(spec.clone()).is_some(), "{spec}");
        }
        for spec in [
            json!({"poolRef": {"name": "prod"}}),
            json!({"poolName": "prod"}),
            json!({"poolName": "prod", "poolNamespace": "third"}),
            json!({"pool": "third/prod"}),
        ] {
            assert_eq!(found(spec.clone()), None, "{spec}");
        }
    }

    #[test]
    fn finds_children_by_owner_label_or_namespace() {
        let child = |metadata: Value| object("x.test", "users", "User", json!({"metadata": metadata}));
        let cluster = target("Cluster", "ns");
        let labels = json!({"cluster.x-k8s.io/cluster-name": "prod"});
        assert!(is_child(
            &child(json!({"namespace": "ns", "labels": labels})),
            &cluster
        ));
        assert!(is_child(
            &child(json!({"namespace": "ns", "labels": {"x.test/cluster.name": "prod"}})),
            &cluster
        ));
        // The whole name of its type may be the key.
        for (key, is_one) in [("things.x.test", true), ("things.y.test", false)] {
            let labelled = child(json!({"namespace": "ns", "labels": {key: "prod"}}));
            assert_eq!(is_child(&labelled, &cluster), is_one, "{key}");
        }
        assert!(!is_child(
            &child(json!({"namespace": "other", "labels": labels})),
            &cluster
        ));
        assert!(is_child(
            &child(json!({"namespace": "ns", "ownerReferences": [{"uid": "u"}]})),
            &cluster
        ));
        assert!(is_child(
            &child(json!({"namespace": "prod"})),
            &target("Cluster", "")
        ));
        assert!(!is_child(
            &child(json!({"namespace": "ns", "labels": {"app": "prod"}})),
            &cluster
        ));
    }

    #[test]
    fn a_namespace_that_names_the_upper_one_shows_a_child() {
        let child = |name: &str, key: &str, upper: &str| {
            let metadata = json!({"metadata": {"name": name, "annotations": {key: upper}}});
            is_child(
                &object("", "namespaces", "Namespace", metadata),
                &target("Anchor", "ns"),
            )
        };
        assert!(child("prod", "x.test/subnamespace-of", "ns"));
        for (name, key, upper) in [
            ("other", "x.test/subnamespace-of", "ns"),
            ("prod", "y.test/subnamespace-of", "ns"),
            ("prod", "x.test/subnamespace-of", "far"),
        ] {
            assert!(!child(name, key, upper), "{name} {key} {upper}");
        }
    }

    #[test]
    fn labels_of_kind_and_name_show_a_child() {
        let parent = target("Set", "ns");
        let is_child_with = |labels: Value| {
            let volume = object(
                "",
                "persistentvolumes",
                "PersistentVolume",
                json!({"metadata": {"labels": labels}}),
            );
            is_child(&volume, &parent)
        };
        assert!(is_child_with(
            json!({"x.test/owner-kind": "Set", "x.test/owner-name": "prod", "x.test/owner-namespace": "ns"})
        ));
        for other in [
            json!({"x.test/owner-kind": "Set", "x.test/owner-name": "prod"}),
            json!({"x.test/owner-kind": "Set", "x.test/owner-name": "prod", "x.test/owner-namespace": "far"}),
            json!({"x.test/owner-kind": "Other", "x.test/owner-name": "prod", "x.test/owner-namespace": "ns"}),
            json!({"x.test/owner-kind": "Set", "y.test/owner-name": "prod", "x.test/owner-namespace": "ns"}),
        ] {
            assert!(!is_child_with(other.clone()), "{other}");
        }
    }
}
