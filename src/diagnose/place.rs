//! The namespace of an object, where it is being deleted too.

use crate::{
    diagnose::{
        complaint::shortened,
        model::{Moment, Outlook},
        view::View,
    },
    object::List,
    snapshot::facts::Object,
};

/// The conditions by which the namespace controller says what it waits for, the most telling first
/// (`kubernetes/kubernetes:pkg/controller/namespace/deletion/status_condition_utils.go`).
const WAITS: [&str; 4] = [
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionContentFailure",
    FINALIZERS,
    "NamespaceContentRemaining",
];
/// The condition that counts the objects of each finalizer: `x.test/f in 1 resource instances, y.test/g in 2 …`.
const FINALIZERS: &str = "NamespaceFinalizersRemaining";

/// That nothing new can be made where the object is, and what its namespace waits for. A controller that needs a new object
/// there for its work fails. Nothing more is asked about an object that was only listed.
pub(super) fn terminating_namespace(object: &Object, view: &View<'_>) -> Option<Outlook> {
    let name = object.namespace();
    if name.is_empty() || !object.was_read() {
        return None;
    }
    let namespace = view.object("", "namespaces", "", name).ok()??;
    namespace.deletion()?;
    let raised = WAITS.iter().find_map(|kind| match namespace.condition(kind) {
        Some(("True", _, message)) if !message.is_empty() => Some((*kind, message)),
        _ => None,
    });
    let waits = match raised {
        None => String::new(),
        Some((FINALIZERS, message)) if is_about_only(object, message) && is_all_that_is_left(namespace) => {
            ". It waits for this object alone".to_owned()
        }
        Some((_, message)) => format!(". It waits: {}", shortened(message.trim_end_matches('.'))),
    };
    Some(Outlook {
        when: Moment::Namespace,
        then: format!("{name} is being deleted, so nothing new can be made there{waits}"),
    })
}

/// Whether each finalizer that this message names is on one object only, and that is this one.
fn is_about_only(object: &Object, message: &str) -> bool {
    let finalizers = object.finalizers();
    let is_own = |part: &str| {
        let (name, count) = part.trim().split_once(" in ").unwrap_or((part, ""));
        count.starts_with("1 ") && finalizers.iter().any(|finalizer| finalizer.name == name)
    };
    let counts = message.split_once("remaining:").map(|(_, counts)| counts);
    object.deletion().is_some() && counts.is_some_and(|counts| counts.split(',').all(is_own))
}

/// Whether one object is left in the namespace, and nothing but the namespace controller holds the namespace itself.
fn is_all_that_is_left(namespace: &Object) -> bool {
    let counts = match namespace.condition("NamespaceContentRemaining") {
        Some(("True", _, message)) => message.split_once("remaining:").map(|(_, counts)| counts),
        _ => None,
    };
    let is_one = |counts: &str| !counts.contains(',') && counts.contains(" has 1 resource instances");
    let mut holders = namespace.finalizers().into_iter();
    counts.is_some_and(is_one)
        && holders.all(|holder| holder.list == List::Spec && holder.name == "kubernetes")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::FINALIZERS;
    use crate::diagnose::testing::{
        fixtures::going,
        told::outlook,
        world::{World, object},
    };

    fn told(metadata: &Value, namespace: Value) -> String {
        let claim = object(
            "",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            json!({"metadata": metadata, "spec": {}}),
        );
        let namespace = object("", "namespaces", "Namespace", namespace);
        outlook(&World::of([namespace]).explain(&claim))
    }

    #[test]
    fn a_namespace_in_deletion_is_told_of_every_object_in_it() {
        let leaving = |conditions: Value| {
            json!({"metadata": going("ns", "", &[]), "spec": {"finalizers": ["kubernetes"]},
                "status": {"conditions": conditions}})
        };
        let waits = json!([
            {"type": "NamespaceContentRemaining", "status": "True", "message": "Some resources are remaining: x"},
            {"type": "NamespaceFinalizersRemaining", "status": "True",
                "message": "Some content in the namespace has finalizers remaining: x.test/f in 1 resource instances"},
        ]);
        let line = "Namespace: ns is being deleted, so nothing new can be made there";
        let deleted = || going("c", "ns", &["kubernetes.io/pvc-protection"]);
        for metadata in &[deleted(), json!({"name": "c", "namespace": "ns"})] {
            let told_of = told(metadata, leaving(waits.clone()));
            assert!(
                told_of.contains(&format!(
                    "{line}. It waits: Some content in the namespace has finalizers remaining: x.test/f"
                )),
                "{told_of}"
            );
            let silent = told(metadata, leaving(json!([])));
            assert!(silent.contains(line) && !silent.contains("It waits"), "{silent}");
        }
        let of_claim = |held: &str, left: &str, holder: &[&str]| {
            let held = format!(
                "Some content in the namespace has finalizers remaining: kubernetes.io/pvc-protection in 1 resource \
                 instances{held}"
            );
            let left = format!(
                "Some resources are remaining: persistentvolumeclaims. has 1 resource instances{left}"
            );
            let mut namespace = leaving(json!([
                {"type": "NamespaceContentRemaining", "status": "True", "message": left},
                {"type": FINALIZERS, "status": "True", "message": held},
            ]));
            namespace["metadata"]["finalizers"] = json!(holder);
            told(&deleted(), namespace)
        };
        let alone = "It waits for this object alone";
        assert!(of_claim("", "", &[]).contains(alone), "{}", of_claim("", "", &[]));
        // Another finalizer, another object, or somebody who holds the namespace itself.
        for told in [
            of_claim(", x.test/f in 1 resource instances", "", &[]),
            of_claim("", ", pods. has 1 resource instances", &[]),
            of_claim("", "", &["controller.cattle.io/namespace-auth"]),
        ] {
            assert!(
                !told.contains(alone) && told.contains("It waits: Some content"),
                "{told}"
            );
        }
        let living = told(&deleted(), json!({"metadata": {"name": "ns"}}));
        assert!(!living.contains("Namespace:"), "{living}");
    }
}
