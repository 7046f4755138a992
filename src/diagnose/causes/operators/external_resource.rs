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
        limits,
        model::{Finding, Moment, Outlook, Page},
        view::View,
    },
    knowledge::{
        Knowledge,
        schema::{Fate, MarkPlace},
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
                "the load balancer at {} stays at the provider with all that belongs to it, and is paid for; this address \
                 is how to find it there",
                addresses.join(", ")
            ),
        });
    }
    if is_suspended(object) {
        first.outlook.push(Outlook {
            when: Moment::Goes,
            then: "what it applied stays, and nothing manages it any more: spec.suspend is true, and with that its controller \
                   lets go without deleting anything"
                .into(),
        });
        first.do_not.push(
            "resume it (spec.suspend: false) if what it applied is to stay: resumed, its controller deletes all of that".into(),
        );
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

/// Whether it is a Kustomization or HelmRelease of Flux that is suspended.
fn is_suspended(object: &Object) -> bool {
    let of_flux = object.is("kustomize.toolkit.fluxcd.io", "kustomizations")
        || object.is("helm.toolkit.fluxcd.io", "helmreleases");
    of_flux && object.value.pointer("/spec/suspend") == Some(&Value::Bool(true))
}

/// The addresses of the load balancer of a Service, an Ingress or a Gateway.
fn addresses(object: &Object) -> Vec<&str> {
    let of_load_balancer = object.list("/status/loadBalancer/ingress").iter();
    let of_gateway = match object.resource.group.as_str() {
        "gateway.networking.k8s.io" => object.list("/status/addresses").iter(),
        _ => [].iter(),
    };
    of_load_balancer
        .chain(of_gateway)
        .filter_map(|place| {
            ["hostname", "ip", "value"]
                .iter()
                .find_map(|field| place.get(*field).and_then(Value::as_str))
        })
        .take(limits::NAMES_IN_SENTENCE)
        .collect()
}

/// Whether the external resource is kept, and the setting that says so.
pub(crate) fn is_kept(object: &Object, knowledge: &Knowledge) -> Option<(bool, String)> {
    // Of an object that a scan only listed, nobody knows its fields.
    if !object.was_read() {
        return None;
    }
    let kind = object.reference();
    let is_its = |fate: &&Fate| fate.kinds.iter().any(|one| one.matches((&kind).into()));
    if let Some(fate) = knowledge.fates().iter().find(is_its) {
        return set_by(fate, object);
    }
    // Only managed resources of Crossplane have `forProvider` and these policies.
    object.value.pointer("/spec/forProvider")?;
    let policies: Vec<_> = object
        .list("/spec/managementPolicies")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // `Delete` overrides the older deletionPolicy. All policies (`*`) do not.
    if policies.contains(&"Delete") {
        return Some((false, "spec.managementPolicies has Delete".into()));
    }
    if !policies.is_empty() && !policies.contains(&"*") {
        return Some((
            true,
            format!(
                "spec.managementPolicies has no Delete, only {}",
                policies.join(", ")
            ),
        ));
    }
    match object.text("/spec/deletionPolicy") {
        "Orphan" => Some((true, "spec.deletionPolicy is Orphan".into())),
        "Delete" => Some((false, "spec.deletionPolicy is Delete".into())),
        _ => None,
    }
}

/// What a setting of this object does. Without the annotation, the controller has its own default.
fn set_by(fate: &Fate, object: &Object) -> Option<(bool, String)> {
    let name = fate.place.name();
    let value = match &fate.place {
        MarkPlace::Field(path) => match field_at(&object.value, path) {
            Some(value) => value,
            None => "not set".to_owned(),
        },
        MarkPlace::Annotation(_) | MarkPlace::Label(_) => {
            let value = object.annotation(name);
            (!value.is_empty()).then(|| value.to_owned())?
        }
    };
    let is_kept = if fate.keeps.is_empty() {
        !fate.deletes.contains(&value)
    } else {
        fate.keeps.contains(&value)
    };
    Some((is_kept, format!("{name} is {value}")))
}

/// The value of a field as text.
fn field_at(object: &Value, path: &str) -> Option<String> {
    let value = object.pointer(&format!("/{}", path.replace('.', "/")))?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests;
