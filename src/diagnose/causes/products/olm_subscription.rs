//! An operator that OLM installed and that is gone.
//!
//! # Symptom
//!
//! Objects of an operator stay in deletion on OpenShift or another cluster with OLM. The operator was removed, and a
//! Subscription still says `AtLatestKnown` with an `installedCSV`.
//!
//! ```text
//! $ kubectl finalizers explain rabbitmqclusters.rabbitmq.com/queue -n shop --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! OLM runs an operator while its ClusterServiceVersion exists. OLM creates that because a Subscription requests the
//! package from a CatalogSource. A Subscription with an installed version in its status requests nothing more. OLM
//! resolves no Subscription without its catalog.
//!
//! # Before you act
//!
//! See whether the Subscription, its catalog and the version exist. The label `operators.coreos.com/PACKAGE.NAMESPACE`
//! on the definition names the package.
//!
//! # If it was a mistake
//!
//! As long as the operator does not run, it deletes nothing. Save the object.
//!
//! # If it was intended
//!
//! Repair what prevents OLM from installing the operator again: the catalog, or the Subscription, which is made anew.
//! OLM then installs the operator, and it finishes the deletion.
//!
//! # Do not
//!
//! Do not remove the finalizers of all its objects. The operator may clean up outside the cluster.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | orphaned | the controller is gone; what prevents OLM from installing it again is named |
//! | (of the finalizer) | otherwise |
//!
//! # What it reads
//!
//! The Subscriptions of that namespace, and the version and the catalog of the one for the package.
//!
//! # Sources
//!
//! - `operator-framework/operator-lifecycle-manager:pkg/controller/operators/catalog/operator.go`
//! - `operator-framework/operator-lifecycle-manager:pkg/controller/operators/catalog/subscription/state.go`

use crate::{
    command::Command,
    diagnose::{
        causes::advice,
        model::{Blocker, Evidence, Finding, Page, Safety, Step, Strength, When},
        view::{Missing, View},
    },
    object::{ObjectRef, is_custom_group},
    snapshot::facts::Object,
};

const GROUP: &str = "operators.coreos.com";

/// Adds why OLM does not install the operator again.
pub(crate) fn add_subscription(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let has_olm = view.resource_type(GROUP, "subscriptions").is_some();
    if !has_olm || !is_custom_group(&object.resource.group) {
        return;
    }
    let Some((package, namespace)) = package_of(object, view) else {
        return;
    };
    let subscriptions = match view.list(GROUP, "subscriptions", namespace) {
        Ok(subscriptions) => subscriptions,
        Err(missing) => return add_unknown(finding, "whether OLM is asked for its operator", &missing),
    };
    let asks = |subscription: &&Object| subscription.text("/spec/name") == package;
    if let Some(subscription) = subscriptions.iter().find(asks) {
        // A Subscription that is created again installs from its catalog, so the catalog comes first.
        add_catalog_state(finding, subscription, view);
        add_missing_version(finding, subscription, view);
        return;
    }
    finding.say(format!(
        "no Subscription in {namespace} asks OLM for operator {package} any more"
    ));
    finding.steps.push(Step {
        when: When::Now,
        text: format!(
            "see whether a catalogue still offers operator {package}. With a Subscription to it in namespace {namespace} OLM \
             installs it again, and it finishes by itself"
        ),
        command: Some(Command::of("kubectl get packagemanifests {}", [package])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}

/// Adds a question that could not be answered.
fn add_unknown(finding: &mut Finding, question: &str, missing: &Missing) {
    finding.say(format!("{question} is not known: {}", missing.in_words()));
}

/// The package and the namespace of the operator that OLM installed for this type.
fn package_of<'a>(object: &Object, view: &View<'a>) -> Option<(&'a str, &'a str)> {
    let name = object.resource.name();
    let definition = view.definition(&name).ok()??;
    let labels = definition.field("/metadata/labels")?.as_object()?;
    // A package name may contain dots; a namespace name may not.
    let names = |key: &'a String| key.strip_prefix("operators.coreos.com/")?.rsplit_once('.');
    labels.keys().find_map(names)
}

/// Adds the version that the Subscription reports as installed, if it does not exist.
fn add_missing_version(finding: &mut Finding, subscription: &Object, view: &View<'_>) {
    let version = subscription.text("/status/installedCSV");
    if version.is_empty() {
        return;
    }
    match view.object(GROUP, "clusterserviceversions", subscription.namespace(), version) {
        Ok(Some(_)) => {}
        Ok(None) => {
            let name = subscription.name();
            finding.tell_of(Page::of(module_path!()));
            finding.wait.on.push(Blocker::new(
                Some(subscription.reference()),
                format!(
                    "says that {version} is installed, and there is no such ClusterServiceVersion: OLM does not install it again by itself"
                ),
            ));
            finding.evidence.push(Evidence {
                source: format!("Subscription {name} status.installedCSV"),
                value: format!("{version}, which does not exist"),
                strength: Strength::Strong,
            });
            let type_name = subscription.resource.name();
            let save = Command::save(&type_name, name, subscription.namespace());
            let file = save.output().unwrap_or_default();
            finding.steps.push(advice::save_step(
                When::Now,
                &type_name,
                name,
                subscription.namespace(),
            ));
            finding.steps.push(Step {
                when: When::Now,
                text: format!(
                    "make Subscription {name} anew from the file: OLM then installs the operator again, which finishes by \
                     itself"
                ),
                command: Some(Command::of("kubectl replace --force -f {}", [&file])),
                safety: Safety::Reversible,
                lets_go: Vec::new(),
            });
        }
        Err(missing) => add_unknown(finding, &format!("whether {version} is left"), &missing),
    }
}

/// Adds the catalog of the Subscription, if it does not answer.
fn add_catalog_state(finding: &mut Finding, subscription: &Object, view: &View<'_>) {
    let (name, namespace) = (
        subscription.text("/spec/source"),
        subscription.text("/spec/sourceNamespace"),
    );
    let Some(ty) = view
        .resource_type(GROUP, "catalogsources")
        .filter(|_| !name.is_empty() && !namespace.is_empty())
    else {
        return;
    };
    let state = match view.object(GROUP, "catalogsources", namespace, name) {
        Ok(Some(found)) => match found.text("/status/connectionState/lastObservedState") {
            "" | "READY" => return,
            state => format!("was last seen {state}"),
        },
        Ok(None) => "does not exist".to_owned(),
        Err(missing) => {
            return add_unknown(
                finding,
                &format!("whether CatalogSource {name} answers"),
                &missing,
            );
        }
    };
    finding.tell_of(Page::of(module_path!()));
    finding.wait.on.push(Blocker::new(
        Some(ObjectRef {
            type_name: ty.name(),
            kind: ty.kind.clone(),
            api_version: ty.api_version(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
            uid: String::new(),
        }),
        format!(
            "{state}, and Subscription {} installs from it: OLM cannot install anything from there",
            subscription.name()
        ),
    ));
    finding.steps.push(Step {
        when: When::Now,
        text: format!("see what catalogue {name} says of itself"),
        command: Some(Command::get_yaml(&ty.name(), name, namespace)),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    finding.steps.push(Step {
        when: When::Now,
        text: format!("see the pods of catalogue {name}. Once it answers, OLM resolves its Subscriptions"),
        command: Some(Command::of(
            "kubectl -n {} get pods -l olm.catalogSource={}",
            [namespace, name],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}
