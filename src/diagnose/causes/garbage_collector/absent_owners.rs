//! The owners of an object are gone or cannot be found: the garbage collector deletes the object, or never will.
//!
//! # Symptom
//!
//! An object disappears or goes into deletion soon after it was copied or restored, and nobody deleted it. An event may
//! say `OwnerRefInvalidNamespace`.
//!
//! ```text
//! $ kubectl finalizers explain cm/settings -n web --from tests/causes/garbage_collector.yaml
//! ```
//!
//! # Why
//!
//! The garbage collector looks up each owner by kind and name *in the namespace of the object*, and compares the uid.
//! If no owner is found, it deletes the object, even if somebody only copied the reference. It does not look into other
//! namespaces; `explain` does, and names the owner there. It leaves the object alone if the server does not have the kind of the owner. The same holds for a
//! namespaced owner of an object without a namespace.
//!
//! # Before you act
//!
//! See `metadata.ownerReferences`, and compare the uid with that of the living owner.
//!
//! # If it was a mistake
//!
//! Make the object again without `metadata.ownerReferences`. With them it is deleted at once.
//!
//! # If it was intended
//!
//! Nothing to do for the owners. The finalizer's own page says what still holds the object.
//!
//! # Do not
//!
//! Do not restore objects from a backup with their old `ownerReferences`. The uids do not match.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | this page has no verdict of its own; it says who deleted the object, or that an owner waits for it |
//!
//! # What it reads
//!
//! The owners, objects of their names in other namespaces, and the event `OwnerRefInvalidNamespace`.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` isDangling, attemptToDeleteItem

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        events::last_event,
        kinds::OwnerReference,
        limits,
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, When},
        view::View,
    },
    object::{ResourceType, is_custom_group},
    snapshot::facts::{By, Object},
};

/// The state of an owner, as the garbage collector sees it.
enum OwnerState {
    /// It exists.
    Present {
        /// Whether it is being deleted, and stays until its dependents are gone.
        waits: bool,
    },
    /// No object with that name and uid exists where the garbage collector looks. The text says why.
    Gone(&'static str),
    /// It exists in this other namespace, where the garbage collector does not look.
    Elsewhere(String),
    /// The server does not have the kind, so the garbage collector does not look.
    NoSuchKind,
    /// It is in a namespace, and the object is not.
    OutOfReach,
    /// It could not be read.
    Unseen,
}

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Cluster, add_absent_owners),
};

fn add_absent_owners(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    // The usual owners of Pods are created and deleted all the time, and the causes of Pods handle them.
    let is_custom = |owner: OwnerReference<'_>| is_custom_group(owner.group());
    if object.is("", "pods") && !OwnerReference::all(object).all(is_custom) {
        return;
    }
    let Some(first) = findings.first_mut() else {
        return;
    };
    let owners: Vec<_> = OwnerReference::all(object)
        .map(|reference| (reference, owner_state(object, reference, view)))
        .collect();
    for (reference, owner) in &owners {
        add_owner(first, object, *reference, owner);
    }
    let all_gone = !owners.is_empty()
        && owners
            .iter()
            .all(|(_, owner)| matches!(owner, OwnerState::Gone(_) | OwnerState::Elsewhere(_)));
    if all_gone {
        let elsewhere = owners.iter().find_map(|(reference, owner)| match owner {
            OwnerState::Elsewhere(namespace) => Some(exists_in(*reference, namespace)),
            _ => None,
        });
        let names: Vec<_> = owners
            .iter()
            .map(|(reference, _)| format!("{} {}", reference.kind(), reference.name()))
            .collect();
        let names = limits::first_names(&names, limits::NAMES_IN_SENTENCE);
        add_collection(first, object, (&names, elsewhere.as_deref()), view);
    }
}

fn owner_state(object: &Object, reference: OwnerReference<'_>, view: &View<'_>) -> OwnerState {
    let Some(ty) = view.kind(reference.group(), reference.kind()) else {
        // A group that did not list its types may have the kind.
        return if view.knows_all_types() {
            OwnerState::NoSuchKind
        } else {
            OwnerState::Unseen
        };
    };
    if ty.namespaced && object.namespace().is_empty() {
        return OwnerState::OutOfReach;
    }
    let namespace = if ty.namespaced { object.namespace() } else { "" };
    match view.object(&ty.group, &ty.plural, namespace, reference.name()) {
        Ok(Some(owner)) if owner.uid() == reference.uid() => OwnerState::Present {
            waits: reference.blocks_deletion()
                && owner.deletion().is_some()
                && owner.has_finalizer("foregroundDeletion"),
        },
        Ok(Some(_)) => OwnerState::Gone("has another uid: it was made anew"),
        Ok(None) if ty.namespaced => found_elsewhere(ty, reference, view)
            .unwrap_or(OwnerState::Gone("does not exist in this namespace")),
        Ok(None) => OwnerState::Gone("does not exist"),
        Err(_) => OwnerState::Unseen,
    }
}

/// The owner in another namespace, if it is the very object that the reference means.
fn found_elsewhere(ty: &ResourceType, reference: OwnerReference<'_>, view: &View<'_>) -> Option<OwnerState> {
    let by = By::Name(reference.name().to_owned());
    let all = view.search(&ty.group, &ty.plural, "", by).ok()?;
    let owner = all.iter().find(|owner| owner.uid() == reference.uid())?;
    Some(OwnerState::Elsewhere(owner.namespace().to_owned()))
}

fn exists_in(reference: OwnerReference<'_>, namespace: &str) -> String {
    let (kind, name) = (reference.kind(), reference.name());
    format!("{kind} {name} exists in namespace {namespace}")
}

fn add_owner(finding: &mut Finding, object: &Object, reference: OwnerReference<'_>, owner: &OwnerState) {
    let name = format!("{} {}", reference.kind(), reference.name());
    let value = match owner {
        OwnerState::Gone(why) => format!("owner {name} {why}"),
        OwnerState::Elsewhere(namespace) => {
            finding.evidence.push(Evidence {
                source: format!("{name} metadata.uid"),
                value: format!("is that of the reference, and it is in namespace {namespace}"),
                strength: Strength::Strong,
            });
            format!("owner {name} does not exist in this namespace")
        }
        OwnerState::NoSuchKind => format!(
            "owner {name}: the server has no such kind in {}, so the garbage collector leaves the object alone",
            reference.api_version()
        ),
        OwnerState::OutOfReach => format!(
            "owner {name} lives in a namespace and this object does not, so the garbage collector leaves it alone"
        ),
        OwnerState::Present { waits: true } => {
            finding.outlook.push(Outlook {
                when: Moment::Goes,
                then: format!("its owner {name} can go too, which waits for it (blockOwnerDeletion)"),
            });
            return;
        }
        OwnerState::Present { waits: false } | OwnerState::Unseen => return,
    };
    finding.evidence.push(Evidence {
        source: format!("{} {} metadata.ownerReferences", object.kind, object.name()),
        value,
        strength: Strength::Strong,
    });
}

/// Adds that none of these owners exists: the garbage collector deleted the object because of that, or is about to.
fn add_collection(
    finding: &mut Finding,
    object: &Object,
    (names, elsewhere): (&str, Option<&str>),
    view: &View<'_>,
) {
    let event = last_event(object, &["OwnerRefInvalidNamespace"], view);
    if let Ok(Some(event)) = event {
        finding.evidence.push(Evidence {
            source: format!(
                "Event OwnerRefInvalidNamespace on {} {}",
                object.kind,
                object.name()
            ),
            value: event.message().to_owned(),
            strength: Strength::Proof,
        });
    }
    let (when, who) = if object.deletion().is_none() {
        (Moment::Soon, "the garbage collector deletes it")
    } else if view.is_terminating_namespace(object.namespace()) {
        (
            Moment::WhoDeleted,
            "the deletion of its namespace, or the garbage collector",
        )
    } else {
        (Moment::WhoDeleted, "perhaps the garbage collector")
    };
    let elsewhere = elsewhere.map_or_else(String::new, |where_it_is| {
        format!(". An owner counts only in the object's own namespace. {where_it_is}")
    });
    finding.outlook.push(Outlook {
        when,
        then: format!("{who}, because none of its owners is there ({names}){elsewhere}"),
    });
    if object.deletion().is_none() {
        finding.steps.push(Step {
            when: When::StillNeeded,
            text: "take the owner references out, which somebody has copied with it, before it is deleted"
                .into(),
            command: Some(Command::json_patch(
                &object.resource.name(),
                object.name(),
                object.namespace(),
                r#"[{"op":"remove","path":"/metadata/ownerReferences"}]"#,
            )),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        });
    } else if !is_work(object) {
        finding.steps.push(Step {
            when: When::MakeAgain,
            text: "leave metadata.ownerReferences out of it, or it is deleted again at once".into(),
            command: None,
            safety: Safety::Safe,
            lets_go: Vec::new(),
        });
    }
}

/// Whether it is a Pod or Job, which nobody makes again without its owner.
fn is_work(object: &Object) -> bool {
    object.is("", "pods") || object.is("batch", "jobs")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::diagnose::testing::{
        fixtures::going,
        told::outlook,
        world::{World, object},
    };

    #[test]
    fn an_owner_in_another_namespace_is_named_if_it_is_the_very_one() {
        let told = |namespace: &str, uid: &str| {
            let mut metadata = going("copy", "here", &["x.test/hold"]);
            metadata["ownerReferences"] =
                json!([{"apiVersion": "x.test/v1", "kind": "Shop", "name": "s", "uid": "the-one"}]);
            let copy = object("x.test", "stalls", "Stall", json!({"metadata": metadata}));
            let owner = json!({"metadata": {"name": "s", "namespace": namespace, "uid": uid}});
            let world = World::of([object("x.test", "shops", "Shop", owner)])
                .serving("x.test", "shops", "Shop")
                .serving("x.test", "stalls", "Stall");
            outlook(&world.explain(&copy))
        };
        let elsewhere = told("home", "the-one");
        assert!(
            elsewhere.contains(
                "An owner counts only in the object's own namespace. Shop s exists in namespace home"
            ),
            "{elsewhere}"
        );
        // Another object of the same name.
        let another = told("home", "another");
        assert!(
            another.contains("the garbage collector") && !another.contains("exists in"),
            "{another}"
        );
        let here = told("here", "the-one");
        assert!(!here.contains("the garbage collector"), "{here}");
    }

    #[test]
    fn a_pod_of_a_custom_owner_that_is_gone_names_it_and_one_of_a_replica_set_does_not() {
        let told = |api_version: &str, kind: &str| {
            let mut metadata = going("runner", "ci", &["x.test/hold"]);
            metadata["ownerReferences"] =
                json!([{"apiVersion": api_version, "kind": kind, "name": "pool", "uid": "gone"}]);
            let pod = object("", "pods", "Pod", json!({"metadata": metadata}));
            let world =
                World::of([])
                    .serving("x.test", "pools", "Pool")
                    .serving("apps", "replicasets", "ReplicaSet");
            outlook(&world.explain(&pod))
        };
        let custom = told("x.test/v1", "Pool");
        assert!(
            custom.contains("none of its owners is there (Pool pool)"),
            "{custom}"
        );
        let usual = told("apps/v1", "ReplicaSet");
        assert!(!usual.contains("none of its owners"), "{usual}");
    }
}
