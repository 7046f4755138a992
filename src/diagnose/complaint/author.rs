//! Who made a report: the source of an event, or the managers of a condition.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    diagnose::{
        holder::is_tool_on,
        kinds::{Event, ManagedFields},
    },
    snapshot::facts::Object,
};

/// Who made a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// Nothing says who.
    Unknown,
    /// The names that an event has for its source.
    Reporters(Vec<String>),
    /// The managers of a condition.
    Managers(Vec<String>),
    /// Nothing says who, in a copy without `managedFields`. The controller of a type writes the status of its objects
    /// (`kubernetes/community:contributors/devel/sig-architecture/api-conventions.md`, "Spec and Status").
    OfType,
}

impl Author {
    /// The same author. Only an author that the type tells is unknown, where the report `may_be_older` than the deletion.
    pub(super) fn unknown_if_older(self, may_be_older: bool) -> Self {
        if self == Author::OfType && may_be_older {
            Author::Unknown
        } else {
            self
        }
    }

    /// Whether one of these managers wrote it.
    pub(super) fn is_one_of(&self, managers: &[String]) -> bool {
        matches!(self, Author::Managers(all) if all.iter().any(|one| managers.contains(one)))
    }
}

/// The managers that own finalizers of an object. Tools that write manifests are no controllers.
pub(super) fn of_finalizers(object: &Object) -> Vec<String> {
    let owns = |entry: ManagedFields<'_>| entry.below(&["f:metadata", "f:finalizers"]).is_some();
    match of_owners(object, owns).0 {
        Author::Managers(all) => all
            .into_iter()
            .filter(|manager| !is_tool_on(object, manager))
            .collect(),
        _ => Vec::new(),
    }
}

/// The source of an event. It has two fields for it, and nobody checks either.
pub(super) fn of_event(event: Event<'_>) -> Author {
    let names: Vec<_> = event
        .reporters()
        .map(str::to_owned)
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        Author::Unknown
    } else {
        Author::Reporters(names)
    }
}

/// The managers that own a condition of this type, and when the last of them wrote it. A list of conditions with keys has
/// an owner for each condition; one without keys has one owner (`sigs.k8s.io/structured-merge-diff:fieldpath`).
pub(super) fn of_condition(object: &Object, type_name: &str) -> (Author, Option<Timestamp>) {
    let key = format!("k:{}", json!({"type": type_name}));
    let owns = |entry: ManagedFields<'_>| {
        let conditions = entry.below(&["f:status", "f:conditions"]);
        conditions.and_then(Value::as_object).is_some_and(|fields| {
            fields.contains_key(&key) || !fields.keys().any(|field| field.starts_with("k:"))
        })
    };
    of_owners(object, owns)
}

/// The managers that own something below this field of the status, and when the last of them wrote it.
pub(super) fn of_status(object: &Object, field: &str) -> (Author, Option<Timestamp>) {
    let field = format!("f:{field}");
    of_owners(object, |entry| entry.below(&["f:status", &field]).is_some())
}

/// The managers of the entries that `owns` accepts, and the time of the last.
fn of_owners(object: &Object, owns: impl Fn(ManagedFields<'_>) -> bool) -> (Author, Option<Timestamp>) {
    if ManagedFields::all(object).next().is_none() {
        return (Author::OfType, None);
    }
    let owners: Vec<_> = ManagedFields::all(object).filter(|entry| owns(*entry)).collect();
    let written = owners.iter().filter_map(|entry| entry.time()).max();
    let names: Option<Vec<_>> = owners
        .iter()
        .map(|entry| entry.manager().map(str::to_owned))
        .collect();
    match names {
        Some(names) if !names.is_empty() => (Author::Managers(names), written),
        _ => (Author::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::facts::Resource;

    fn managed(conditions: &[(&str, Value)]) -> Object {
        let entries: Vec<_> = conditions
            .iter()
            .map(|(manager, conditions)| {
                json!({"manager": manager, "time": "2026-01-01T11:00:00Z",
                    "fieldsV1": {"f:status": {"f:conditions": conditions}}})
            })
            .collect();
        Object {
            resource: Resource::new("x.test", "as"),
            kind: "A".into(),
            api_version: "x.test/v1".into(),
            value: json!({"metadata": {"name": "a", "managedFields": entries}}),
        }
    }

    fn managers(object: &Object, condition: &str) -> Author {
        of_condition(object, condition).0
    }

    #[test]
    fn each_condition_with_a_key_has_its_own_managers() {
        let ready = json!({".": {}, "k:{\"type\":\"Ready\"}": {".": {}, "f:message": {}}});
        let synced = json!({"k:{\"type\":\"Synced\"}": {".": {}}});
        let object = managed(&[("one", ready), ("two", synced)]);
        assert_eq!(managers(&object, "Ready"), Author::Managers(vec!["one".into()]));
        assert_eq!(managers(&object, "Synced"), Author::Managers(vec!["two".into()]));
        assert_eq!(managers(&object, "Deleted"), Author::Unknown);
    }

    #[test]
    fn a_list_without_keys_belongs_to_whoever_wrote_it() {
        let object = managed(&[("one", json!({}))]);
        assert_eq!(managers(&object, "Ready"), Author::Managers(vec!["one".into()]));
        let shared = managed(&[("one", json!({})), ("two", json!({}))]);
        assert_eq!(
            managers(&shared, "Ready"),
            Author::Managers(vec!["one".into(), "two".into()])
        );
    }

    #[test]
    fn a_copy_without_managed_fields_tells_no_names() {
        assert_eq!(managers(&managed(&[]), "Ready"), Author::OfType);
    }
}
