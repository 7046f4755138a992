//! What happens to the external resource of an object when the object is deleted.
//!
//! # Symptom
//!
//! The object stands for something outside the cluster: a bucket, a database, a load balancer. People ask whether that
//! is deleted, too.
//!
//! ```text
//! $ kubectl finalizers explain buckets.s3.aws.upbound.io/media --from tests/causes/operators.yaml
//! ```
//!
//! # Why
//!
//! Fields and annotations tell operators to delete the external resource or to keep it: `deletionPolicy`,
//! `managementPolicies`, `prune`, `services.k8s.aws/deletion-policy` and others. Whoever deletes the object of a bucket
//! may lose the bucket, or pay for it for ever.
//!
//! # Before you act
//!
//! Read that setting now. Most controllers read it at the moment of the clean-up, so it can still be changed.
//!
//! # If it was a mistake
//!
//! Set the field so that the external resource is kept, before the controller acts.
//!
//! # If it was intended
//!
//! Leave the setting that deletes, and let the controller finish.
//!
//! # Do not
//!
//! Do not remove the finalizer to keep the external resource, if the setting can be changed. Afterwards nothing points
//! to it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | this page has no verdict of its own; it says what happens when the object is gone |
//!
//! # What it reads
//!
//! Nothing more than the object.
//!
//! # Sources
//!
//! - `crossplane/crossplane-runtime:pkg/reconciler/managed/policies.go` deletionPolicy, managementPolicies
//! - `fluxcd/kustomize-controller:internal/controller/kustomization_controller.go` finalizerShouldDeleteResources
//! - `fluxcd/helm-controller:internal/controller/helmrelease_controller.go` reconcileDelete
//! - `kubernetes/cloud-provider:controllers/service/controller.go` the address of a load balancer

use serde_json::Value;

use crate::{
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        kinds::Service,
        limits,
        model::{Finding, Moment, Outlook, Page},
        view::View,
    },
    knowledge::{
        Knowledge,
        schema::{Fate, MarkPlace, StandsFor},
    },
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Fate, add_external_resources),
};

fn add_external_resources(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let Some(first) = findings.first_mut() else {
        return;
    };
    let addresses = addresses(object);
    if !addresses.is_empty() && first.wait.finalizer.is_some() {
        first.outlook.push(Outlook {
            when: Moment::RemovedByHand,
            then: format!(
                "the load balancer at {} stays at the provider, if it is still there, with all that belongs to it; this \
                 address is how to find it",
                addresses.join(", ")
            ),
        });
    }
    if let Some((true, because)) = decided(object, StandsFor::Applied, view.knowledge) {
        first.outlook.push(Outlook {
            when: Moment::Goes,
            then: format!(
                "what it applied stays, and nothing manages it any more: {because}, and with that its controller lets go \
                 without deleting anything"
            ),
        });
        first.do_not.push(format!(
            "resume it ({because}) if what it applied is to stay: resumed, its controller deletes all of that"
        ));
    }
    let Some((kept, because)) = is_kept(object, view.knowledge) else {
        return;
    };
    let name = match object.annotation("crossplane.io/external-name") {
        "" => String::new(),
        name => format!(" ({name})"),
    };
    let becomes = if kept {
        "stays as it is, and is nobody's any more"
    } else {
        "IS DELETED with it"
    };
    first.outlook.push(Outlook {
        when: Moment::Goes,
        then: format!("what it stands for outside the cluster{name} {becomes}: {because}"),
    });
}

/// The addresses of the load balancer of a Service, an Ingress or a Gateway.
fn addresses(object: &Object) -> Vec<&str> {
    let of_load_balancer = Service(object).load_balancer_places();
    let of_gateway = match object.resource.group.as_str() {
        "gateway.networking.k8s.io" => object.list("/status/addresses").iter(),
        _ => [].iter(),
    };
    of_load_balancer
        .chain(of_gateway.filter_map(|place| place.get("value")?.as_str()))
        .take(limits::NAMES_IN_SENTENCE)
        .collect()
}

/// Whether what the object stands for outside of the cluster stays when the object goes, and why. None if nothing tells.
pub(crate) fn is_kept(object: &Object, knowledge: &Knowledge) -> Option<(bool, String)> {
    decided(object, StandsFor::Outside, knowledge)
}

/// What the first setting that tells something decides (`knowledge/fates.yaml`).
fn decided(object: &Object, of: StandsFor, knowledge: &Knowledge) -> Option<(bool, String)> {
    // Of an object that a scan only listed, nobody knows its fields.
    if !object.was_read() {
        return None;
    }
    let kind = object.reference();
    let is_of_kind =
        |fate: &Fate| fate.kinds.is_empty() || fate.kinds.iter().any(|one| one.matches((&kind).into()));
    let has_field = |fate: &Fate| {
        let field = fate.with.as_ref();
        field.is_none_or(|path| value_at(&object.value, path).is_some())
    };
    let mut fates = knowledge
        .fates()
        .iter()
        .filter(|fate| fate.of == of && is_of_kind(fate) && has_field(fate));
    fates.find_map(|fate| set_by(fate, object))
}

/// What a setting of this object does. Without the annotation, the controller has its own default.
fn set_by(fate: &Fate, object: &Object) -> Option<(bool, String)> {
    let name = fate.place.name();
    let value = match &fate.place {
        MarkPlace::Field(path) => match value_at(&object.value, path) {
            Some(Value::Array(items)) => return set_by_list(fate, items),
            Some(value) => in_text(value),
            // A list that is not set has the default of its controller, and tells nothing.
            None if !fate.open.is_empty() => return None,
            None => "not set".to_owned(),
        },
        MarkPlace::Annotation(_) | MarkPlace::Label(_) => {
            let value = object.annotation(name);
            (!value.is_empty()).then(|| value.to_owned())?
        }
    };
    let (keeps, deletes) = (fate.keeps.contains(&value), fate.deletes.contains(&value));
    let is_kept = match (fate.keeps.is_empty(), fate.deletes.is_empty()) {
        (false, false) if !keeps && !deletes => return None,
        (true, _) => !deletes,
        (false, _) => keeps,
    };
    Some((is_kept, format!("{name} is {value}")))
}

/// What a list does: it names what the controller may do.
fn set_by_list(fate: &Fate, items: &[Value]) -> Option<(bool, String)> {
    let name = fate.place.name();
    let items: Vec<_> = items.iter().map(in_text).collect();
    if let Some(deletes) = items.iter().find(|item| fate.deletes.contains(item)) {
        return Some((false, format!("{name} has {deletes}")));
    }
    let is_open = items.is_empty() || items.iter().any(|item| fate.open.contains(item));
    (!is_open).then(|| {
        let (missing, items) = (fate.deletes.join(" or "), items.join(", "));
        (true, format!("{name} has no {missing}, only {items}"))
    })
}

fn value_at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    object.pointer(&format!("/{}", path.replace('.', "/")))
}

fn in_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
