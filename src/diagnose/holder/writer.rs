//! The writers of an object, from `metadata.managedFields`.
//!
//! A manager is the name of a program, not of a workload. Its time is that of its last change to any field, so
//! it is an upper bound. Finalizers that admission or the API server itself adds have no writer at all. Source:
//! `kubernetes/apimachinery:pkg/util/managedfields/internal/`.

use jiff::Timestamp;

use crate::{
    diagnose::{
        holder::trace::{Holder, Sign, Tells, Trace},
        kinds::ManagedFields,
        model::Strength,
        timing,
        view::View,
    },
    knowledge,
    object::{Age, Finalizer, is_product_group},
    snapshot::facts::Object,
};

/// The last change by one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The name of the program.
    pub manager: String,
    /// The time of its last change through this entry.
    pub time: Timestamp,
}

/// The manager that put the finalizer on, if it is not a tool that people use.
pub(super) fn author(object: &Object, finalizer: &Finalizer) -> Option<String> {
    let (author, _) = authors(object, finalizer)
        .into_iter()
        .max_by_key(|(_, time)| *time)?;
    (!is_tool_on(object, &author)).then_some(author)
}

/// All managers that added this finalizer, with the time.
pub fn authors(object: &Object, finalizer: &Finalizer) -> Vec<(String, Timestamp)> {
    let item = format!("v:\"{}\"", finalizer.name);
    changes(object, &["f:metadata", "f:finalizers", &item])
        .map(|change| (change.manager, change.time))
        .collect()
}

/// The manager that added this finalizer and has not written since, and the newest manager that wrote to the
/// object after it. None if either is a tool that people use.
pub fn author_and_successor(object: &Object, finalizer: &Finalizer) -> Option<(String, String)> {
    let (author, last) = author_and_last_change(object, finalizer)?;
    let since = all_changes(object).filter(|change| change.manager != author && change.time > last);
    let newer = since
        .filter(|change| !is_tool_on(object, &change.manager))
        .max_by_key(|change| change.time)?;
    (!is_tool_on(object, &author)).then_some((author, newer.manager))
}

/// The programs that put a finalizer on this object or write its status, without the tools of people.
pub(super) fn controllers(object: &Object) -> Vec<String> {
    [["f:metadata", "f:finalizers"].as_slice(), &["f:status"]]
        .into_iter()
        .flat_map(|path| changes(object, path))
        .map(|change| change.manager)
        .filter(|manager| !is_tool_on(object, manager))
        .collect()
}

/// The programs that wrote what the object is meant to be, the newest first, without the tools of people.
pub fn makers(object: &Object) -> Vec<String> {
    let mut all: Vec<_> = changes(object, &["f:spec"])
        .filter(|change| !is_tool_on(object, &change.manager))
        .collect();
    all.sort_by_key(|change| std::cmp::Reverse(change.time));
    all.into_iter().map(|change| change.manager).collect()
}

/// Who put the finalizer on, and when it last changed anything about this object. It may be a tool that people use.
pub fn author_and_last_change(object: &Object, finalizer: &Finalizer) -> Option<(String, Timestamp)> {
    let (author, _) = authors(object, finalizer)
        .into_iter()
        .max_by_key(|(_, time)| *time)?;
    let last = all_changes(object)
        .filter(|change| change.manager == author)
        .map(|change| change.time)
        .max()?;
    Some((author, last))
}

/// Whether the program that put the finalizer on has left the object alone since its deletion. Not known of a tool, or if
/// nobody is known to have put it on. A manager has one entry for each subresource, and all of them count.
pub fn is_silent(object: &Object, finalizer: &Finalizer) -> bool {
    match (author_and_last_change(object, finalizer), object.deletion()) {
        (Some((author, last)), Some(deletion)) => {
            !is_tool_on(object, &author) && last <= deletion.requested_at()
        }
        _ => false,
    }
}

/// The newest change by a manager that owns the field at this path of `fieldsV1`.
pub(super) fn last_change(object: &Object, path: &[&str]) -> Option<Change> {
    changes(object, path).max_by_key(|change| change.time)
}

/// All changes that `managedFields` has, one for each manager and subresource.
pub(super) fn all_changes(object: &Object) -> impl Iterator<Item = Change> + '_ {
    changes(object, &[])
}

fn changes<'a>(object: &'a Object, path: &'a [&str]) -> impl Iterator<Item = Change> + 'a {
    ManagedFields::all(object)
        .filter(move |entry| entry.below(path).is_some())
        .filter_map(change)
}

fn change(entry: ManagedFields<'_>) -> Option<Change> {
    Some(Change {
        manager: entry.manager()?.to_owned(),
        time: entry.time()?,
    })
}

/// Whether a manager is a tool that people and pipelines use, and not a controller. What it writes comes from a
/// manifest, and it never cleans up.
pub(super) fn is_tool(manager: &str) -> bool {
    knowledge::deployer_named(manager).is_some()
}

/// The same, on this object. On objects of its own group, such a tool is a controller: helm-controller on a HelmRelease. Of a
/// product with several programs, that is the one that is called after the group, or writes the status of the object.
pub fn is_tool_on(object: &Object, manager: &str) -> bool {
    let group = &object.resource.group;
    let first = group.split('.').next().unwrap_or_default();
    let writes_status = || {
        let mut written = changes(object, &["f:status"]);
        written.any(|change| change.manager == manager)
    };
    let is_own =
        |groups: &[String]| groups.contains(group) && (manager.starts_with(first) || writes_status());
    knowledge::deployer_named(manager).is_some_and(|tool| !is_own(&tool.groups))
}

/// Adds which manager put the finalizer on, and whether a controller still writes the status of the object.
pub(super) fn add_writers(object: &Object, finalizer: &Finalizer, holder: &mut Holder, view: &View<'_>) {
    let reference = format!("{} {} metadata.managedFields", object.kind, object.name());
    let mut add = |tells: Tells, change: &Change, value: String| {
        let sign = Sign::new(Trace::Writer, tells, Strength::Moderate, &reference, value);
        holder.add(sign.at(Some(change.time)));
    };
    let ago = |change: &Change| Age::between(change.time, view.now());
    let item = format!("v:\"{}\"", finalizer.name);
    let author = last_change(object, &["f:metadata", "f:finalizers", &item]);
    if let Some(author) = &author {
        let what = if is_tool_on(object, &author.manager) {
            "put the finalizer on, as part of a manifest: what removes it may never have run here. It did so"
        } else {
            "put the finalizer on; its last change was"
        };
        let value = format!("{} {what} {} ago", author.manager, ago(author));
        add(Tells::Nothing, author, value);
    }
    let Some(change) = last_change(object, &["f:status"]) else {
        return;
    };
    if is_tool_on(object, &change.manager) {
        return;
    }
    let since = object
        .deletion()
        .is_some_and(|deletion| change.time > deletion.requested_at());
    let is_holder = match &author {
        Some(author) if !is_tool_on(object, &author.manager) => author.manager == change.manager,
        _ => is_of_the_group(object, finalizer),
    };
    let tells = if since && is_holder && ago(&change).0 < timing::STATUS_WRITTEN {
        Tells::Alive
    } else {
        Tells::Nothing
    };
    let value = format!("{} wrote the status {} ago", change.manager, ago(&change));
    add(tells, &change, value);
}

/// Whether a custom type and a finalizer belong to one product. The writer of the status then likely removes
/// the finalizer, too. Kubernetes itself writes the status of built-in types.
fn is_of_the_group(object: &Object, finalizer: &Finalizer) -> bool {
    let group = object.resource.group.as_str();
    let domain = finalizer.name.split('/').next().unwrap_or_default();
    let last_two = |name: &str| {
        let mut parts: Vec<_> = name.rsplit('.').take(2).map(str::to_owned).collect();
        parts.reverse();
        parts.join(".")
    };
    is_product_group(group) && last_two(group) == last_two(domain)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
    fn last_change_is_that_of_the_newest_owner() {
        let object = object(&json!([
            {"manager": "old", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:status": {}}},
            {"manager": "new", "time": "2026-01-02T00:00:00Z", "fieldsV1": {"f:status": {"f:phase": {}}}},
            {"manager": "other", "time": "2026-01-03T00:00:00Z", "fieldsV1": {"f:spec": {}}},
        ]));
        let change = last_change(&object, &["f:status"]).expect("a change");
        assert_eq!(change.manager, "new");
    }

    #[test]
    fn a_deployer_is_a_controller_on_objects_of_its_own_product() {
        let mut release = object(&json!([]));
        assert!(is_tool_on(&release, "helm-controller"));
        release.resource = Resource::new("helm.toolkit.fluxcd.io", "helmreleases");
        assert!(!is_tool_on(&release, "helm-controller"));
        for other in ["kubectl", "kustomize-controller", "flux"] {
            assert!(is_tool_on(&release, other), "{other}");
        }
    }

    #[test]
    fn malformed_managed_fields_have_no_writer() {
        for fields in [
            json!(null),
            json!("x"),
            json!([7, {"manager": 1}, {"manager": "a", "time": "soon"}, {}]),
        ] {
            assert_eq!(last_change(&object(&fields), &[]), None);
        }
    }
}
