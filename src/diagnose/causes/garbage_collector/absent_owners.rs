//! An object whose owners are gone or cannot be found: the garbage collector deletes it, or never will.
//!
//! **Recognises** `metadata.ownerReferences`. **Why:** the garbage collector looks for each owner by kind and name *in the
//! object's own namespace*, and compares the uid; if none of them is there it deletes the object, whoever copied the
//! reference. An owner in another namespace is not there. A kind that the server does not have, or a namespaced owner of
//! an object without namespace, is left alone
//! (`kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` isDangling, attemptToDeleteItem). **Wants**
//! the owners, and the event `OwnerRefInvalidNamespace`. **Concludes** nothing about the finalizers; says who deleted the
//! object, or that an owner waits for it (`blockOwnerDeletion`). **Advises** to take the references out of what was copied.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::advice,
        events::last_event,
        model::{Evidence, Finding, Outlook, Safety, Step, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

/// How an owner stands, as the garbage collector sees it.
enum Owner {
    /// It is there.
    Present {
        /// It is being deleted, and goes only after its dependents.
        waits: bool,
    },
    /// There is none of that name and uid where it is looked for.
    Gone(&'static str),
    /// The server has no such kind, so nobody looks.
    NoSuchKind,
    /// It lives in a namespace, and the object does not.
    OutOfReach,
    /// It could not be looked at.
    Unseen,
}

pub(crate) fn add_absent_owners(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    // The rules of pods have their owners, which come and go all day.
    if object.is("", "pods") {
        return;
    }
    let Some(first) = findings.first_mut() else {
        return;
    };
    let references = object.list("/metadata/ownerReferences");
    let owners: Vec<_> = references
        .iter()
        .map(|reference| (reference, state(object, reference, view)))
        .collect();
    for (reference, owner) in &owners {
        tell(first, object, reference, owner);
    }
    let all_gone = !owners.is_empty() && owners.iter().all(|(_, owner)| matches!(owner, Owner::Gone(_)));
    if all_gone {
        collected(first, object, view);
    }
}

fn field<'a>(reference: &'a Value, name: &str) -> &'a str {
    reference.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn state(object: &Object, reference: &Value, view: &View<'_>) -> Owner {
    let api_version = field(reference, "apiVersion");
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let Some(ty) = view.kind(group, field(reference, "kind")) else {
        // A group that did not say its types may have it.
        return if view.knows_all_types() {
            Owner::NoSuchKind
        } else {
            Owner::Unseen
        };
    };
    if ty.namespaced && object.namespace().is_empty() {
        return Owner::OutOfReach;
    }
    let namespace = if ty.namespaced { object.namespace() } else { "" };
    match view.object(&ty.group, &ty.plural, namespace, field(reference, "name")) {
        Ok(Some(owner)) if owner.uid() == field(reference, "uid") => Owner::Present {
            waits: reference.get("blockOwnerDeletion") == Some(&Value::Bool(true))
                && owner.deletion().is_some()
                && owner
                    .finalizers()
                    .iter()
                    .any(|finalizer| finalizer.name == "foregroundDeletion"),
        },
        Ok(Some(_)) => Owner::Gone("has another uid: it was made anew"),
        Ok(None) if ty.namespaced => Owner::Gone("does not exist in this namespace"),
        Ok(None) => Owner::Gone("does not exist"),
        Err(_) => Owner::Unseen,
    }
}

fn tell(finding: &mut Finding, object: &Object, reference: &Value, owner: &Owner) {
    let name = format!("{} {}", field(reference, "kind"), field(reference, "name"));
    let value = match owner {
        Owner::Gone(why) => format!("owner {name} {why}"),
        Owner::NoSuchKind => format!(
            "owner {name}: the server has no such kind in {}, so the garbage collector leaves the object alone",
            field(reference, "apiVersion")
        ),
        Owner::OutOfReach => format!(
            "owner {name} lives in a namespace and this object does not, so the garbage collector leaves it alone"
        ),
        Owner::Present { waits: true } => {
            finding.outlook.push(Outlook {
                when: "when it goes".into(),
                then: format!("its owner {name} can go too, which waits for it (blockOwnerDeletion)"),
            });
            return;
        }
        Owner::Present { waits: false } | Owner::Unseen => return,
    };
    finding.evidence.push(Evidence {
        source: format!("{} {} metadata.ownerReferences", object.kind, object.name()),
        value,
        strength: Strength::Strong,
    });
}

/// No owner is left: it was deleted because of that, or is about to be.
fn collected(finding: &mut Finding, object: &Object, view: &View<'_>) {
    let foreign = last_event(object, &["OwnerRefInvalidNamespace"], view);
    if let Ok(Some(event)) = foreign {
        finding.evidence.push(Evidence {
            source: format!(
                "Event OwnerRefInvalidNamespace on {} {}",
                object.kind,
                object.name()
            ),
            value: event.text("/message").to_owned(),
            strength: Strength::Proof,
        });
    }
    let (when, then) = if object.deletion().is_some() {
        (
            "who deleted it",
            "the garbage collector, unless a person did: none of its owners is there. An owner counts only in the \
             object's own namespace",
        )
    } else {
        (
            "soon",
            "the garbage collector deletes it: none of its owners is there. An owner counts only in the object's own \
             namespace",
        )
    };
    finding.outlook.push(Outlook {
        when: when.into(),
        then: then.into(),
    });
    if object.deletion().is_none() {
        finding.steps.push(Step {
            when: "is it still needed?",
            text: "take the owner references out, which somebody has copied with it, before it is deleted".into(),
            command: Some(format!(
                "kubectl{} patch {}/{} --type=json -p '[{{\"op\":\"remove\",\"path\":\"/metadata/ownerReferences\"}}]'",
                advice::namespace_flag(object),
                object.resource.name(),
                object.name()
            )),
            safety: Safety::Reversible,
        });
    } else {
        finding.steps.push(Step {
            when: "make it again?",
            text: "without metadata.ownerReferences, or it is deleted again at once".into(),
            command: None,
            safety: Safety::Safe,
        });
    }
}
