//! Who wrote what to an object, from `metadata.managedFields`.
//!
//! A manager is the name of a program, not of a workload, and its time is that of its last change to anything, so
//! an upper bound. Finalizers that admission or the server itself adds have no writer at all, which is as it should
//! be. Source: `kubernetes/apimachinery:pkg/util/managedfields/internal/`.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::trace::{Holder, Sign, Tells, Trace};
use crate::{
    diagnose::{model::Strength, view::View},
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

/// A status that was written this recently, and after the deletion, was written by somebody who runs.
const RECENT: SignedDuration = SignedDuration::from_mins(10);

/// Programs that people and pipelines write with: what they wrote was in a manifest, and they never clean up.
const HANDS: [&str; 9] = [
    "kubectl",
    "helm",
    "argocd",
    "kustomize",
    "terraform",
    "pulumi",
    "velero",
    "before-first-apply",
    "flux",
];

/// Somebody's last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The program, by its own name.
    pub manager: String,
    /// When it last changed anything through this entry.
    pub time: Timestamp,
}

/// The newest change of whoever owns the field at this path of `fieldsV1`.
pub(super) fn last_change(object: &Object, path: &[&str]) -> Option<Change> {
    let owns = |entry: &&Value| {
        path.iter()
            .try_fold(*entry, |fields, name| fields.get(name))
            .is_some()
    };
    object
        .list("/metadata/managedFields")
        .iter()
        .filter(owns)
        .filter_map(change)
        .max_by_key(|change| change.time)
}

fn change(entry: &Value) -> Option<Change> {
    Some(Change {
        manager: entry.get("manager")?.as_str()?.to_owned(),
        time: entry.get("time")?.as_str()?.parse().ok()?,
    })
}

/// Whether a name is that of a tool that people use, and not of a controller.
pub(super) fn is_by_hand(manager: &str) -> bool {
    HANDS.iter().any(|hand| manager.starts_with(hand))
}

/// Who put the finalizer on, and whether somebody still writes the object's status.
pub(super) fn look(object: &Object, finalizer: &Finalizer, holder: &mut Holder, view: &View<'_>) {
    let reference = format!("{} {} metadata.managedFields", object.kind, object.name());
    let item = format!("v:\"{}\"", finalizer.name);
    if let Some(change) = last_change(object, &["fieldsV1", "f:metadata", "f:finalizers", &item]) {
        let ago = Age::between(change.time, view.now());
        let value = if is_by_hand(&change.manager) {
            format!(
                "{} put the finalizer on, as part of a manifest, {ago} ago: what removes it may never have run here",
                change.manager
            )
        } else {
            format!(
                "{} put the finalizer on; its last change was {ago} ago",
                change.manager
            )
        };
        holder.add(Sign::new(
            Trace::Writer,
            Tells::Nothing,
            Strength::Moderate,
            &reference,
            value,
        ));
    }
    let Some(change) = last_change(object, &["fieldsV1", "f:status"]) else {
        return;
    };
    if is_by_hand(&change.manager) {
        return;
    }
    let ago = Age::between(change.time, view.now());
    let since = object
        .deletion()
        .is_some_and(|deletion| change.time > deletion.requested_at());
    let tells = if since && ago.0 < RECENT {
        Tells::Alive
    } else {
        Tells::Nothing
    };
    let value = format!("{} wrote the status {ago} ago", change.manager);
    holder.add(Sign::new(
        Trace::Writer,
        tells,
        Strength::Moderate,
        reference,
        value,
    ));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::snapshot::facts::Resource;

    fn object(fields: &Value) -> Object {
        Object {
            resource: Resource::new("x.test", "as"),
            kind: "A".into(),
            api_version: "x.test/v1".into(),
            value: json!({"metadata": {"name": "a", "managedFields": fields}}),
        }
    }

    #[test]
    fn the_newest_owner_of_a_field() {
        let object = object(&json!([
            {"manager": "old", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:status": {}}},
            {"manager": "new", "time": "2026-01-02T00:00:00Z", "fieldsV1": {"f:status": {"f:phase": {}}}},
            {"manager": "other", "time": "2026-01-03T00:00:00Z", "fieldsV1": {"f:spec": {}}},
        ]));
        let change = last_change(&object, &["fieldsV1", "f:status"]).expect("somebody");
        assert_eq!(change.manager, "new");
    }

    #[test]
    fn nonsense_has_no_writer() {
        for fields in [
            json!(null),
            json!("x"),
            json!([7, {"manager": 1}, {"manager": "a", "time": "soon"}, {}]),
        ] {
            assert_eq!(last_change(&object(&fields), &["fieldsV1"]), None);
        }
    }
}
