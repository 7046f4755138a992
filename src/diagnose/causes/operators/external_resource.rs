//! What happens to the external resource of an object when the object is deleted.
//!
//! **Recognises** the fields and annotations that tell operators to delete the external resource or to keep it.
//! **Why:** whoever deletes the object of a bucket may lose the bucket, or pay for it forever. Sources:
//! `crossplane/crossplane-runtime:pkg/reconciler/managed/policies.go` (`deletionPolicy`, `managementPolicies`),
//! `aws-controllers-k8s/runtime:apis/core/v1alpha1/annotations.go`, the reference of Config Connector
//! (`cnrm.cloud.google.com/deletion-policy`), `openshift/hive:apis/hive/v1/clusterdeployment_types.go`,
//! `open-cluster-management-io/api:work/v1/types.go`, `flux-iac/tofu-controller:api/v1alpha2/terraform_types.go`,
//! `fluxcd/kustomize-controller:internal/controller/kustomization_controller.go` finalizerShouldDeleteResources,
//! `fluxcd/helm-controller:internal/controller/helmrelease_controller.go` reconcileDelete,
//! `Azure/azure-service-operator:v2/pkg/common/annotations`; the address of a load balancer:
//! `kubernetes/cloud-provider:controllers/service/controller.go`. **Wants** nothing. **Concludes** nothing about the
//! finalizers. **Advises** nothing. It only says what happens when the object is gone.

use serde_json::Value;

use crate::{
    diagnose::{
        limits,
        model::{Finding, Outlook},
    },
    snapshot::facts::Object,
};

/// An annotation that keeps the external resource.
struct KeepAnnotation {
    /// The group of the object, or its suffix after a dot.
    group: &'static str,
    annotation: &'static str,
    values: &'static [&'static str],
}

const ANNOTATIONS: &[KeepAnnotation] = &[
    KeepAnnotation {
        group: "services.k8s.aws",
        annotation: "services.k8s.aws/deletion-policy",
        values: &["retain"],
    },
    KeepAnnotation {
        group: "cnrm.cloud.google.com",
        annotation: "cnrm.cloud.google.com/deletion-policy",
        values: &["abandon"],
    },
    KeepAnnotation {
        group: "azure.com",
        annotation: "serviceoperator.azure.com/reconcile-policy",
        values: &["detach-on-delete", "skip"],
    },
];

/// A field of the spec that keeps or deletes the external resource.
struct KeepField {
    group: &'static str,
    plural: &'static str,
    field: &'static str,
    /// The value that keeps it. Any other value deletes it, and so does a missing field.
    keeps: &'static str,
}

const FIELDS: &[KeepField] = &[
    KeepField {
        group: "hive.openshift.io",
        plural: "clusterdeployments",
        field: "spec.preserveOnDelete",
        keeps: "true",
    },
    KeepField {
        group: "work.open-cluster-management.io",
        plural: "manifestworks",
        field: "spec.deleteOption.propagationPolicy",
        keeps: "Orphan",
    },
    KeepField {
        group: "infra.contrib.fluxcd.io",
        plural: "terraforms",
        field: "spec.destroyResourcesOnDeletion",
        keeps: "false",
    },
];

pub(crate) fn add_external_resources(object: &Object, findings: &mut [Finding]) {
    let Some(first) = findings.first_mut() else {
        return;
    };
    let addresses = addresses(object);
    if !addresses.is_empty() && first.wait.finalizer.is_some() {
        first.outlook.push(Outlook {
            when: "if the finalizer is cut".into(),
            then: format!(
                "the load balancer at {} stays at the provider with all that belongs to it, and is paid for; this address \
                 is how to find it there",
                addresses.join(", ")
            ),
        });
    }
    if is_suspended(object) {
        first.outlook.push(Outlook {
            when: "when it goes".into(),
            then: "what it applied stays, and nothing manages it any more: spec.suspend is true, and with that its controller \
                   lets go without deleting anything"
                .into(),
        });
        first.do_not.push(
            "resume it (spec.suspend: false) if what it applied is to stay: resumed, its controller deletes all of that".into(),
        );
    }
    let Some((kept, because)) = is_kept(object) else {
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
        when: "when it goes".into(),
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
fn is_kept(object: &Object) -> Option<(bool, String)> {
    let group = object.resource.group.as_str();
    let rule = ANNOTATIONS
        .iter()
        .find(|rule| group == rule.group || group.ends_with(&format!(".{}", rule.group)));
    if let Some(rule) = rule {
        return match object.annotation(rule.annotation) {
            // Without the annotation, the controller has its own default.
            "" => None,
            value => Some((
                rule.values.contains(&value),
                format!("{} is {value}", rule.annotation),
            )),
        };
    }
    if let Some(rule) = FIELDS.iter().find(|rule| object.is(rule.group, rule.plural)) {
        let value = object
            .value
            .pointer(&format!("/{}", rule.field.replace('.', "/")));
        let value = value.map_or("not set".to_owned(), |value| {
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        });
        // A resource that is destroyed only on request is kept without a request.
        let kept = value == rule.keeps || rule.keeps == "false" && value != "true";
        return Some((kept, format!("{} is {value}", rule.field)));
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

#[cfg(test)]
mod tests;
