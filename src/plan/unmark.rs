//! `rescue TYPE/NAME --etcd`: takes the deletion out of the object as the API server has stored it.
//!
//! The API server never lets go of a deletion (`kubernetes/apimachinery` via
//! `kubernetes/apiserver:pkg/registry/rest/update.go` BeforeUpdate), so this goes past it, and past admission, quota and
//! audit. The object keeps its uid, its status and every other byte. It is written only if etcd still has the version
//! that was read, which is also how the API server writes (`kubernetes/apiserver:pkg/storage/etcd3/store.go`).
//!
//! What the deletion has already destroyed does not come back, and what is not one object alone is refused.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    Action, Cost, Instead, Plan, RETAIN, Refusal, Request, StoredChange,
    hash::sha256,
    rescue::{changes, deleters},
    stored_change::Entry,
};
use crate::{
    command::Command,
    diagnose::{
        Verdict,
        kinds::{PersistentVolume, PersistentVolumeClaim},
        reclaim_policy,
        taken_back::{Unmarkable, unmarkable},
    },
    knowledge::{Consequence, Knowledge},
    snapshot::facts::Object,
    stored::{Undeleted, Unusable, undeleted},
};

/// Where etcd changes keys, in its JSON form.
const TRANSACTION: &str = "/v3/kv/txn";

/// The metadata that changes.
const CHANGED: [&str; 4] = [
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
    "managedFields",
];

/// Why the deletion of this object cannot be taken back in etcd, whatever is stored.
pub fn cannot_unmark(object: &Object) -> Option<Refusal> {
    let target = object.reference();
    let refuse = |why: &str, needs: &str, instead| Some(Refusal::new(&target, why, needs, instead));
    if object.deletion().is_none() {
        return refuse(
            "it is not being deleted, so there is nothing to take back",
            "it is being deleted",
            Instead::explain(&target, "See what deleting it would do:"),
        );
    }
    match unmarkable(object)? {
        Unmarkable::Secret => refuse(
            "it is a Secret, and its stored value would be read and saved",
            "it is no Secret",
            Instead::only("Create the Secret again from its source once it is gone."),
        ),
        Unmarkable::Namespace => refuse(
            "its phase and spec.finalizers would have to change too, and its objects are being deleted one by one",
            "it is no namespace",
            Instead::explain(&target, "See which of its objects still exist, and rescue those:"),
        ),
        Unmarkable::Definition => refuse(
            "the server deletes its custom resources and accepts no new ones, whatever the deletion says",
            "it is no CustomResourceDefinition",
            Instead::explain(
                &target,
                "See which of its custom resources still exist, and rescue those:",
            ),
        ),
    }
}

/// The plan to write the object without its deletion.
pub fn unmark(object: &Object, entry: Entry, knowledge: &Knowledge) -> Result<Plan, Refusal> {
    if let Some(refusal) = cannot_unmark(object) {
        return Err(refusal);
    }
    let target = object.reference();
    let refuse = |why: String, needs: &str| Refusal::new(&target, why, needs, without_etcd(object));
    let Undeleted {
        object: found,
        form,
        value,
        cuts,
        metadata,
    } = undeleted(&entry.value).map_err(|why| {
        let needs = match why {
            Unusable::Encrypted(_) => "the cluster does not encrypt this type in etcd",
            Unusable::Unknown(_) => "the value is the protobuf or JSON of this object",
        };
        refuse(format!("{why}"), needs)
    })?;
    let is_this = found.kind == object.kind
        && found.namespace == object.namespace()
        && found.name == object.name()
        && found.uid == object.uid();
    if !is_this {
        return Err(refuse(
            format!(
                "{} holds another object, of kind {} and uid {}",
                entry.key, found.kind, found.uid
            ),
            "the key holds this object: give the etcd of this cluster, and its --etcd-prefix",
        ));
    }
    if entry.mod_revision.to_string() != object.resource_version() {
        return Err(refuse(
            "etcd and the API server have different versions of it".into(),
            "this is the etcd of that API server, and nothing changes the object for a few seconds",
        ));
    }
    if cuts.is_empty() {
        return Err(refuse(
            "what is stored has no deletion".into(),
            "its deletion is stored",
        ));
    }
    let stays = metadata.into_iter();
    let stays = stays.filter(|(field, _)| cuts.iter().all(|cut| cut.field != field));
    let stays = stays.map(|(field, value)| format!("{field}: {value}")).collect();
    let change = StoredChange {
        before: entry,
        after: value,
        form,
        cuts: cuts
            .into_iter()
            .map(|cut| format!("metadata.{}: {}", cut.field, cut.was))
            .collect(),
        metadata: stays,
        now: already_done(object),
        then: then(object, knowledge),
    };
    Ok(Plan {
        action: Action::Unmark,
        target,
        resource_version: object.resource_version().to_owned(),
        finalizer: None,
        stays: object.finalizers(),
        kubelet: None,
        verdict: Verdict::Unknown,
        says: String::new(),
        unable: None,
        may_be: BTreeSet::new(),
        blockers: Vec::new(),
        evidence: Vec::new(),
        cost: Cost {
            consequence: Consequence::Metadata,
            text: "it passes by the API server: no admission, no quota, no audit log".into(),
            outside: Vec::new(),
            known: true,
        },
        safer: Vec::new(),
        untried: None,
        retention: None,
        request: request(&change),
        stored: Some(change.into()),
    })
}

/// How the object differs from before, apart from the deletion and what each write changes; none if it is still being
/// deleted, or is another one.
pub fn unmarked(before: &Object, after: &Object) -> Option<Vec<String>> {
    let is_alive = after.uid() == before.uid() && after.deletion().is_none();
    is_alive.then(|| changes(before, after, &CHANGED))
}

/// What the deletion has already done, and what does not come back with the object.
fn already_done(object: &Object) -> Vec<String> {
    let mut all = Vec::new();
    if object.is("", "persistentvolumes") {
        let phase = PersistentVolume(object).phase();
        all.push(if phase == "Bound" {
            format!(
                "The volume is Bound, so its disk {} is kept.",
                reclaim_policy::disk(object)
            )
        } else {
            format!(
                "The volume is {phase}: its disk {} may already be gone. Check at the storage provider.",
                reclaim_policy::disk(object)
            )
        });
    } else if object.is("", "persistentvolumeclaims") {
        all.push(match PersistentVolumeClaim(object).volume() {
            "" => "The claim has no volume, so no data is at stake.".into(),
            volume => format!("While the claim exists, its volume {volume} and the data are kept."),
        });
    } else if object.is("", "pods") {
        all.push(
            "The kubelet stops the containers. It does not start them again: then delete the pod.".into(),
        );
    } else {
        all.push(
            "What its controllers have already deleted, in the cluster or outside, is DESTROYED and does not come back."
                .into(),
        );
    }
    if object.has_finalizer("foregroundDeletion") {
        all.push(
            "The garbage collector deletes its dependents first. Those that are gone do not come back."
                .into(),
        );
    }
    all.push("A finalizer that was already removed does not come back by itself.".into());
    all
}

fn then(object: &Object, knowledge: &Knowledge) -> Vec<String> {
    let mut all = vec![
        "The object is not being deleted any more. It keeps its uid, and every other field stays as it is."
            .into(),
        "The garbage collector may ignore it until kube-controller-manager restarts.".into(),
        "Other controllers may remember the deletion, too, until they restart.".into(),
    ];
    if object.is("", "persistentvolumes") && reclaim_policy::policy(object) != RETAIN {
        all.push(format!(
            "Its policy is {}: when its claim goes, so does the disk. To keep the disk, set the policy with --only-retain.",
            reclaim_policy::policy(object)
        ));
    }
    all.extend(deleters(object, "object", knowledge));
    all
}

/// What helps without etcd.
pub fn without_etcd(object: &Object) -> Instead {
    if object.is("", "persistentvolumes") {
        return Instead::run(
            "Without etcd, the volume can be made again for the same disk:",
            Command::of("kubectl finalizers rescue pv/{} --plan", [object.name()]),
        );
    }
    if object.is("", "persistentvolumeclaims") {
        return Instead::run(
            "Without etcd, the disk can be kept:",
            Command::of(
                "kubectl finalizers rescue pvc/{} -n {} --only-retain --plan",
                [object.name(), object.namespace()],
            ),
        );
    }
    Instead::run(
        "Save the object while it exists. You can create it again once it is gone:",
        Command::save(&object.resource.name(), object.name(), object.namespace()),
    )
}

/// The transaction, with the digest of the new value in place of the value, which can be large.
fn request(change: &StoredChange) -> Request {
    let StoredChange { before, after, .. } = change;
    Request {
        method: "POST",
        path: TRANSACTION.into(),
        content_type: "application/json",
        body: json!({
            "compare": {"key": before.key, "modRevision": before.mod_revision},
            "put": {"key": before.key, "bytes": after.len(), "sha256": sha256(after)},
        }),
    }
}

#[cfg(test)]
mod tests;
