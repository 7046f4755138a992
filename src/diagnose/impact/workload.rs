//! A controller that is to be deleted, and what only it can release.
//!
//! # Symptom
//!
//! You are about to delete the Deployment, StatefulSet or DaemonSet of an operator. Most stuck deletions are of custom
//! resources whose controller was uninstalled first.
//!
//! ```text
//! $ kubectl finalizers explain deployments.apps/orders-operator -n shop-system --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! Only that controller removes its finalizers. The claims of a StatefulSet are deleted with it if its policy says so.
//! Webhooks that point at its Service fail.
//!
//! # Before you act
//!
//! See which objects have its finalizers, and what calls its Service.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. After a deletion, install the same version again.
//!
//! # If it was intended
//!
//! Keep the order: the objects while it runs, then what the API server calls, then the controller, its types last.
//!
//! # Do not
//!
//! Do not uninstall an operator before its objects.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | stuck | objects that no other running controller would release |
//! | broken | what calls it |
//! | released | the claims of a StatefulSet |
//! | unknown | something could not be read |
//!
//! # What it reads
//!
//! The metadata of the types that may have its finalizers, and the controller of each finalizer. Also the Services of
//! its pods, and what calls them.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/statefulset/stateful_pod_control.go`

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        holder,
        impact::{
            Impact, api_extensions, departing_controllers::Workloads, volume_claim_templates,
            waiting_objects::add_waiting_objects,
        },
        kinds::{PodSpec, Volume, Workload},
        model::{Fate, Safety},
        view::View,
    },
    snapshot::{facts::Object, selector::Selector},
};

pub(crate) fn deleting_workload(workload: &Object, impact: &mut Impact, view: &View<'_>) {
    let workloads = Workloads::one(workload);
    // Queried together, so that they are read together.
    let services = view.list("", "services", workload.namespace());
    add_waiting_objects(&workloads, impact, view);
    match services {
        Ok(services) => {
            let answers: BTreeSet<_> = services
                .iter()
                .filter(|service| selects(service, workload))
                .map(Object::name)
                .collect();
            let is_ours =
                |namespace: &str, name: &str| namespace == workload.namespace() && answers.contains(name);
            if !answers.is_empty() {
                api_extensions::add_api_extensions(&is_ours, impact, view);
            }
        }
        Err(missing) => impact.add_unknown("which Services lead to it, and who calls them", &missing),
    }
    add_pods(workload, impact);
    if workload.is("apps", "statefulsets") {
        volume_claim_templates::add_claims_of_templates(workload, impact, view);
    }
    let has =
        |impact: &Impact, fates: &[Fate]| impact.effects.iter().any(|effect| fates.contains(&effect.fate));
    let is_loss = has(impact, &[Fate::Destroyed, Fate::Leaked]);
    if is_loss || has(impact, &[Fate::Stuck, Fate::Broken]) {
        let installed = match holder::installer(workload) {
            Some(installer) => format!(", better with what installed it: {installer}"),
            None => String::new(),
        };
        let has_claims = Workload(workload).claim_templates().next().is_some();
        let cost = if has(impact, &[Fate::Destroyed]) {
            Some("DATA LOSS: delete it, and what is destroyed with it")
        } else if is_loss {
            Some("LEAKED INFRASTRUCTURE: delete it; nobody deletes the disks behind its claims")
        } else if has_claims && has(impact, &[Fate::Unknown]) {
            Some("DATA LOSS, if its claims go with it, which is not known: delete it")
        } else {
            None
        };
        // A controller does not make it again, so what is not lost must be saved.
        if cost.is_none() {
            impact.add_save_step(&workload.resource.name(), workload.name(), workload.namespace());
        }
        let safety = cost.map_or(Safety::Reversible, |_| Safety::Destructive);
        let text = format!("{}{installed}", cost.unwrap_or("then delete it"));
        impact.add_step(
            safety,
            text,
            Command::of(
                "kubectl -n {} delete {} {}",
                [workload.namespace(), &workload.resource.name(), workload.name()],
            ),
        );
        workloads.add_type_deletion(impact, view);
    }
}

/// Adds what is deleted with the workload.
fn add_pods(workload: &Object, impact: &mut Impact) {
    let pods = Workload(workload).pods();
    if pods > 0 {
        impact.add_effect(Fate::Released, format!("its pods: {pods}; they are stopped"), []);
    }
    if pods > 0 && PodSpec::of(workload).volumes().any(Volume::is_ephemeral) {
        let says = "what its pods keep in ephemeral volumes: the claims are deleted with the pods, and by their reclaim policy \
                    the disks";
        impact.add_effect(Fate::Destroyed, says, []);
    }
}

/// Whether a Service selects the pods of a workload.
fn selects(service: &Object, workload: &Object) -> bool {
    let selector = service.value.pointer("/spec/selector");
    let pairs: Vec<_> = selector
        .and_then(serde_json::Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let labels = Workload(workload).pod_labels();
    !pairs.is_empty() && Selector::parse(&pairs.join(",")).is_ok_and(|selector| selector.matches(&labels))
}
