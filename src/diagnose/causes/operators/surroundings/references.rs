//! The objects that an object names in its spec, and what is wrong with them: `clusterRef`, `cluster: {name}` or
//! `clusterName` for a Cluster of its product.
//!
//! So many of them are read as [`limits::REFERENCES`] allows. The rest is counted, and nothing is concluded from it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Named, Troubled, described_fields, owned_pods};
use crate::{
    diagnose::{
        causes::operators::{missing_reference, referenced_by::is_called_after, trouble::trouble},
        limits,
        model::Finding,
        view::{Missing, View},
    },
    knowledge::schema::Wait,
    object::{ResourceType, is_custom_group},
    snapshot::facts::Object,
};

/// Says which of the named objects is missing, is being deleted or is not ready, and returns them. What is well is not
/// mentioned.
pub(super) fn add_references(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    let known: Vec<_> = missing_reference::references(object, view)
        .into_iter()
        .map(|reference| {
            (
                reference.field,
                reference.ty,
                reference.namespace.to_owned(),
                reference.name.to_owned(),
            )
        })
        .collect();
    let mut fields = Fields::of(object, view);
    for (field, value) in missing_reference::wishes(object) {
        fields.collect(value, field);
    }
    let mut named = fields.found;
    let mut by_description = described_fields::references(object, view);
    by_description.retain(|one| !named.iter().any(|other| other.0 == one.0));
    named.extend(by_description);
    let is_new = |one: &&(String, &ResourceType, String, String)| !known.iter().any(|other| other.3 == one.3);
    let by_kind: Vec<_> = named.iter().filter(is_new).cloned().collect();
    // A missing object is told of with the references by their form.
    let all: Vec<_> = known
        .into_iter()
        .map(|one| (false, one))
        .chain(by_kind.into_iter().map(|one| (true, one)))
        .collect();
    if let Some(more) = all.len().checked_sub(limits::REFERENCES).filter(|more| *more > 0) {
        view.leave_out();
        finding.say(format!(
            "{more} more of the objects that its spec names were not looked at"
        ));
    }
    let mut troubled = Vec::new();
    let mut is_one_unread = false;
    for (is_by_kind, named) in all.into_iter().take(limits::REFERENCES) {
        let (field, ty, namespace, name) = &named;
        let trouble = match view.object(&ty.group, &ty.plural, namespace, name) {
            Ok(Some(found)) => trouble(found, view).map(|why| (with_pod(&why, found, view), why)),
            Ok(None) if is_by_kind => {
                troubled.push(Troubled::told(object, finding, &named, None));
                None
            }
            Ok(None) => {
                if missing_reference::tells_more(object, field, name, view) {
                    troubled.push(Troubled::of(&named, None));
                }
                None
            }
            Err(Missing::NotYet) => None,
            // One is enough: all that was not read is listed at the end.
            Err(Missing::Gap(_)) if is_one_unread => None,
            Err(missing @ Missing::Gap(_)) => {
                is_one_unread = true;
                let named = super::pasteable_of(ty, namespace, name);
                let why = missing.in_words();
                finding.say(format!(
                    "Whether {named} exists (its {field} names it) is not known: {why}"
                ));
                None
            }
        };
        if let Some((in_full, why)) = trouble {
            super::tell_of_named(object, finding, &named, &in_full);
            troubled.push(Troubled::of(&named, Some(&why)));
        }
    }
    troubled
}

/// The trouble of an object, and of a Pod that was made for it. The Pod may be the reason.
fn with_pod(why: &str, found: &Object, view: &View<'_>) -> String {
    let is_custom = is_custom_group(&found.resource.group);
    let pod = is_custom.then(|| owned_pods::unready(found, view)).flatten();
    match pod {
        Some((pod, says)) => format!("{why}. Its Pod {} is not ready: {says}", pod.name()),
        None => why.to_owned(),
    }
}

/// A search for fields that are called after a kind, and hold a name or a list of names.
struct Fields<'a, 'o> {
    object: &'o Object,
    /// The types of the object's product.
    own: Vec<&'a ResourceType>,
    /// The types of products whose objects its controllers make or wait for, as the catalogue says.
    connected: Vec<&'a ResourceType>,
    found: Vec<Named<'a>>,
}

impl<'a, 'o> Fields<'a, 'o> {
    fn of(object: &'o Object, view: &View<'a>) -> Self {
        let groups = connected_groups(object, view);
        let types = view.types().iter();
        Fields {
            object,
            own: super::types_of_domain(&object.resource.group, view).collect(),
            connected: types.filter(|ty| groups.contains(&ty.group)).collect(),
            found: Vec::new(),
        }
    }

    fn collect(&mut self, value: &Value, path: &str) {
        if self.found.len() >= limits::REFERENCES_COUNTED || path.split('.').count() > limits::FIELD_DEPTH {
            return;
        }
        let Value::Object(fields) = value else { return };
        for (key, inner) in fields {
            let path = format!("{path}.{key}");
            let Value::Array(items) = inner else {
                self.add(key, inner, path);
                continue;
            };
            let one = key.strip_suffix('s').unwrap_or(key);
            for (at, item) in items.iter().enumerate().take(limits::REFERENCES_COUNTED) {
                self.add(one, item, format!("{path}[{at}]"));
            }
        }
    }

    /// Adds what a field names, or what the fields below it name.
    fn add(&mut self, key: &str, value: &Value, path: String) {
        match self.named(key, value) {
            Some((ty, namespace, name)) => self.found.push((path, ty, namespace, name)),
            None => self.collect(value, &path),
        }
    }

    fn named(&self, key: &str, value: &Value) -> Option<(&'a ResourceType, String, String)> {
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let name = value
            .as_str()
            .or_else(|| field("name"))
            .filter(|name| !name.is_empty() && !is_version(name))?;
        let ty = self.type_called(key, field("kind"))?;
        // `spec.domain` of a Domain is the domain itself, and no other Domain.
        let is_itself = value.is_string() && ty.name() == self.object.resource.name();
        if is_itself {
            return None;
        }
        let namespace = match field("namespace") {
            _ if !ty.namespaced => "",
            Some(namespace) => namespace,
            None => self.object.namespace(),
        };
        (ty.namespaced != namespace.is_empty() && name != self.object.name())
            .then(|| (ty, namespace.to_owned(), name.to_owned()))
    }

    /// The type that a field is called after. Where no kind has the whole name of the field, the last word of it tells, if
    /// only one kind of the group ends with that: `destinationConnectionRef` for a PulsarConnection.
    fn type_called(&self, key: &str, kind: Option<&str>) -> Option<&'a ResourceType> {
        let of_kind = |ty: &&ResourceType| kind.is_none_or(|kind| kind == ty.kind);
        let is_it = |ty: &&ResourceType| of_kind(ty) && is_called_after(key, &ty.kind);
        let mut all = self.own.iter().chain(&self.connected).copied();
        if let Some(ty) = all.find(is_it) {
            return Some(ty);
        }
        let bare = key.strip_suffix("Ref").or_else(|| key.strip_suffix("Name"))?;
        let last = bare.get(bare.rfind(|c: char| c.is_ascii_uppercase())?..)?;
        let ends_with = |ty: &&ResourceType| {
            of_kind(ty) && ty.group == self.object.resource.group && ty.kind.ends_with(last)
        };
        let mut fitting = self.own.iter().copied().filter(ends_with);
        let only = fitting.next()?;
        (last.len() >= limits::FIELD_NAME && fitting.next().is_none()).then_some(only)
    }
}

/// Whether a text is a version, such as `2.4.0` or `v1.30`. `spec.version` of an object seldom names an object.
fn is_version(text: &str) -> bool {
    let numbers: Vec<_> = text.strip_prefix('v').unwrap_or(text).split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() > 1 && numbers.iter().all(is_number)
}

/// The custom groups of the objects that the controllers of its finalizers make or wait for.
fn connected_groups(object: &Object, view: &View<'_>) -> BTreeSet<String> {
    let entries = object
        .finalizers()
        .into_iter()
        .filter_map(|finalizer| view.entry(object, &finalizer));
    let groups = entries.flat_map(|entry| {
        let kinds = entry.waits_for.on.iter().flat_map(Wait::kinds);
        kinds.map(|kind| kind.group().to_owned()).collect::<Vec<_>>()
    });
    groups.filter(|group| is_custom_group(group)).collect()
}
