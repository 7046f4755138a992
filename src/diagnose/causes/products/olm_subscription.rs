//! An operator that OLM installed and that is gone: what OLM still knows of it.
//!
//! **Recognises** an object whose controller is gone, and OLM's label `operators.coreos.com/PACKAGE.NAMESPACE` on the
//! definition of its type. **Why:** OLM runs an operator while its `ClusterServiceVersion` is there, and makes that because a
//! `Subscription` asks for the package, out of a `CatalogSource`. A Subscription that believes it is served asks for nothing,
//! and without its catalogue none is served. Sources:
//! `operator-framework/operator-lifecycle-manager:pkg/controller/operators/catalog/operator.go` and
//! `pkg/controller/operators/catalog/subscription/state.go`. **Wants** the Subscriptions of that namespace, and the version and
//! the catalogue of the one for the package. **Concludes** nothing about the holder; names what keeps OLM from bringing it
//! back. **Advises** to repair that: OLM then installs the operator, which finishes by itself.

use crate::{
    diagnose::{
        causes::advice::{place_of, word},
        model::{Blocker, Evidence, Finding, Safety, Step, Strength},
        view::{Missing, View},
    },
    object::{ObjectRef, is_custom_group},
    snapshot::facts::Object,
};

const GROUP: &str = "operators.coreos.com";

pub(crate) fn add_subscription(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let has_olm = view.resource_type(GROUP, "subscriptions").is_some();
    if !has_olm || !is_custom_group(&object.resource.group) {
        return;
    }
    let Some((package, namespace)) = package(object, view) else {
        return;
    };
    let subscriptions = match view.list(GROUP, "subscriptions", namespace) {
        Ok(subscriptions) => subscriptions,
        Err(missing) => return unseen(finding, "whether OLM is asked for its operator", &missing),
    };
    let asks = |subscription: &&Object| subscription.text("/spec/name") == package;
    if let Some(subscription) = subscriptions.iter().find(asks) {
        // Made anew, it is served from there.
        catalogue(finding, subscription, view);
        served(finding, subscription, view);
        return;
    }
    finding.say(format!(
        "; no Subscription in {namespace} asks OLM for operator {package} any more"
    ));
    finding.steps.push(Step {
        when: "what to do",
        text: format!(
            "subscribe to operator {package} again, in namespace {namespace}: OLM installs it, and it finishes by itself"
        ),
        command: Some(format!("kubectl get packagemanifests {package}")),
        safety: Safety::Safe,
    });
}

fn unseen(finding: &mut Finding, question: &str, missing: &Missing) {
    finding.say(format!("; {question} is not known: {}", missing.in_words()));
}

/// Package and namespace of the operator that OLM installed this type with.
fn package<'a>(object: &Object, view: &View<'a>) -> Option<(&'a str, &'a str)> {
    let name = object.resource.name();
    let definition = view.definition(&name).ok()??;
    let labels = definition.value.pointer("/metadata/labels")?.as_object()?;
    // A package may have a dot in its name, and a namespace has none.
    let names = |key: &'a String| key.strip_prefix("operators.coreos.com/")?.rsplit_once('.');
    labels.keys().find_map(names)
}

/// The version that a Subscription believes to be installed.
fn served(finding: &mut Finding, subscription: &Object, view: &View<'_>) {
    let version = subscription.text("/status/installedCSV");
    if version.is_empty() {
        return;
    }
    match view.object(GROUP, "clusterserviceversions", subscription.namespace(), version) {
        Ok(Some(_)) => {}
        Ok(None) => {
            let name = subscription.name();
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
            let what = format!("{} {name}", subscription.resource.name());
            finding.steps.push(Step {
                when: "what to do",
                text: format!(
                    "save Subscription {name} and make it anew: OLM then installs the operator again, which finishes by itself"
                ),
                command: Some(format!(
                    "kubectl{} get {what} -o yaml > {name}-backup.yaml && kubectl replace --force -f {name}-backup.yaml",
                    place_of(subscription)
                )),
                safety: Safety::Reversible,
            });
        }
        Err(missing) => unseen(finding, &format!("whether {version} is left"), &missing),
    }
}

/// Where a Subscription installs from.
fn catalogue(finding: &mut Finding, subscription: &Object, view: &View<'_>) {
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
            return unseen(
                finding,
                &format!("whether CatalogSource {name} answers"),
                &missing,
            );
        }
    };
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
        when: "what to do",
        text: format!("bring catalogue {name} back: OLM resolves its Subscriptions when it answers"),
        // Anybody's words, in fields that nobody checks.
        command: Some(format!(
            "kubectl -n {place} get catalogsources.{GROUP}; kubectl -n {place} get pods -l olm.catalogSource={}",
            word(name),
            place = word(namespace)
        )),
        safety: Safety::Safe,
    });
}
