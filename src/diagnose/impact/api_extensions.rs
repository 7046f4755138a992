//! Services that the API server calls, and what stops working without them: webhooks, aggregated APIs, conversions.
//!
//! # Symptom
//!
//! You are about to delete a Service, its namespace or its workload. After such a deletion, requests fail with `failed
//! calling webhook`, `the server is currently unable to handle the request` or `conversion webhook for`.
//!
//! ```text
//! $ kubectl finalizers explain ns/shop-system --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! A webhook with `failurePolicy: Fail` that does not answer refuses every change that it covers. An APIService without
//! its backend stops every namespace deletion. If the conversion webhook of a type is gone, its objects can neither be
//! read nor listed in its other versions.
//!
//! # Before you act
//!
//! See which webhook configurations, APIServices and definitions point at the Service.
//!
//! # If it was a mistake
//!
//! Not deleted yet: leave it. After a deletion, install the product again, in the version that was there before.
//!
//! # If it was intended
//!
//! Delete the webhook configurations and APIServices first, then the Service.
//!
//! # Do not
//!
//! Do not delete the namespace of a product before its objects. Its webhook may then refuse their deletion.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | broken | a webhook, an APIService or a conversion points at the Service |
//! | unknown | one of these lists could not be read |
//!
//! # What it reads
//!
//! The webhook configurations, the APIServices and the definitions.
//!
//! # Sources
//!
//! - `kubernetes/apiserver:pkg/admission/plugin/webhook/`
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`
//! - `kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/webhook_converter.go`

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        impact::Impact,
        limits,
        model::{Fate, Safety},
        service_backend::ServiceReference,
        view::{Missing, View},
    },
    object::join_group,
    snapshot::facts::Object,
};

const ADMISSION: &str = "admissionregistration.k8s.io";

/// Adds what breaks without the Services that `is_ours` selects by namespace and name.
pub(crate) fn add_api_extensions(is_ours: &dyn Fn(&str, &str) -> bool, impact: &mut Impact, view: &View<'_>) {
    let kinds = [
        (ADMISSION, "validatingwebhookconfigurations"),
        (ADMISSION, "mutatingwebhookconfigurations"),
        ("apiregistration.k8s.io", "apiservices"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
    ];
    // Queried together, so that they are read together.
    let lists = kinds.map(|(group, plural)| view.list(group, plural, ""));
    let mut unread = Vec::new();
    for ((group, plural), list) in kinds.into_iter().zip(lists) {
        let type_name = join_group(plural, group);
        let objects = match list {
            Ok(objects) => objects,
            Err(Missing::NotYet) => continue,
            Err(Missing::Gap(_)) => {
                unread.push(type_name);
                continue;
            }
        };
        let mut dead = Vec::new();
        for object in objects {
            let says = match plural {
                "apiservices" => broken_api(object, is_ours),
                "customresourcedefinitions" => broken_conversion(object, is_ours),
                _ => broken_webhooks(object, is_ours),
            };
            if let Some(says) = says {
                impact.add_effect(
                    Fate::Broken,
                    format!("{} {}: {says}", object.kind, object.name()),
                    [object.reference()],
                );
                dead.push(object.name());
            }
        }
        if !dead.is_empty() && plural != "customresourcedefinitions" {
            for name in &dead {
                impact.add_save_step(&type_name, name, "");
            }
            impact.add_step(
                Safety::Reversible,
                "delete what would point at nobody",
                Command::of("kubectl delete {}", [&type_name]).arguments(dead),
            );
        }
    }
    if !unread.is_empty() {
        let says = format!(
            "whether any of these call what goes is not known: {}",
            unread.join(", ")
        );
        impact.add_effect(Fate::Unknown, says, []);
    }
}

fn points_at_ours(field: Option<&Value>, is_ours: &dyn Fn(&str, &str) -> bool) -> bool {
    ServiceReference::of(field).is_some_and(|service| is_ours(service.namespace, service.name))
}

fn broken_api(object: &Object, is_ours: &dyn Fn(&str, &str) -> bool) -> Option<String> {
    points_at_ours(object.value.pointer("/spec/service"), is_ours).then(|| {
        "nobody serves it any more, and until it is deleted too no namespace can be deleted".to_owned()
    })
}

fn broken_conversion(object: &Object, is_ours: &dyn Fn(&str, &str) -> bool) -> Option<String> {
    let service = object
        .value
        .pointer("/spec/conversion/webhook/clientConfig/service");
    let by_webhook = object.text("/spec/conversion/strategy") == "Webhook";
    (by_webhook && points_at_ours(service, is_ours)).then(|| {
        "nobody converts its objects any more; those that are stored in another version can be neither read nor deleted"
            .to_owned()
    })
}

fn broken_webhooks(object: &Object, is_ours: &dyn Fn(&str, &str) -> bool) -> Option<String> {
    let ours: Vec<_> = object
        .list("/webhooks")
        .iter()
        .filter(|entry| points_at_ours(entry.pointer("/clientConfig/service"), is_ours))
        .collect();
    let fails = |entry: &&&Value| entry.get("failurePolicy").and_then(Value::as_str) != Some("Ignore");
    let failing: Vec<_> = ours.iter().filter(fails).copied().collect();
    match (failing.is_empty(), ours.is_empty()) {
        (_, true) => None,
        (true, false) => Some(format!(
            "nobody answers it any more, and it is passed over (failurePolicy Ignore): {}",
            covered(&ours)
        )),
        (false, _) => Some(format!(
            "nobody answers it any more, and until it is deleted too the server refuses (failurePolicy Fail): {}",
            covered(&failing)
        )),
    }
}

/// The operations and types that some webhooks cover together: `CREATE, UPDATE of
/// certificates.cert-manager.io`.
fn covered(entries: &[&Value]) -> String {
    let mut operations = BTreeSet::new();
    let mut types = BTreeSet::new();
    for rule in entries.iter().flat_map(|entry| texts(entry.get("rules"))) {
        let all = |field: &str| -> Vec<&str> { texts(rule.get(field)).filter_map(Value::as_str).collect() };
        operations.extend(all("operations"));
        for group in all("apiGroups") {
            types.extend(all("resources").iter().map(|plural| join_group(plural, group)));
        }
    }
    let operations: Vec<_> = operations.into_iter().collect();
    let named: Vec<_> = types
        .iter()
        .take(limits::NAMES_IN_EFFECT)
        .map(String::as_str)
        .collect();
    let rest = if types.len() > limits::NAMES_IN_EFFECT {
        " and others"
    } else {
        ""
    };
    let operations = match operations.as_slice() {
        ["*"] => "every change".to_owned(),
        some => some.join(", "),
    };
    format!("{operations} of {}{rest}", named.join(", "))
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}
