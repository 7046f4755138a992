//! The objects of the same product that name an object in a field, from any namespace.

use super::{empty_references, product_types};
use crate::{
    diagnose::{
        causes::operators::referenced_by::{naming_item, referencing_field},
        complaint::{complaints, has_word},
        limits,
        model::{Blocker, Evidence, Finding, Strength},
        view::{Missing, View},
    },
    object::ResourceType,
    snapshot::facts::Object,
};

/// Says which objects name this one, and returns them for the chain. Its owners and what it owns name it too, and wait for it
/// rather than the other way round, unless its own words speak of them.
pub(super) fn add_referrers(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Blocker> {
    let mut types: Vec<_> = super::types_of_domain(&object.resource.group, view).collect();
    for ty in product_types::of_only_controller(object, view) {
        if !types.contains(&ty) {
            types.push(ty);
        }
    }
    let told = complaints(object, view);
    let is_told_of = |kind: &str| told.iter().any(|complaint| has_word(&complaint.text, kind));
    let mut found = Vec::new();
    for ty in types.iter().take(limits::TYPES_OF_PATTERN) {
        let all = all_of(ty, object, view);
        found.extend(
            all.iter()
                .filter(|other| other.reference() != object.reference())
                .filter(|other| !is_family(object, other) || is_told_of(&other.kind))
                .filter_map(|other| Some((other, how_named(other, object, view)?))),
        );
    }
    let more = types.len().saturating_sub(limits::TYPES_OF_PATTERN);
    if more > 0 {
        view.leave_out();
        finding.say(format!(
            "Whether objects of {more} more types of its product name it was not looked at"
        ));
    }
    let mut users = Vec::new();
    for (at, (other, field)) in found.iter().take(limits::NAMES_IN_SENTENCE).enumerate() {
        let place = match other.namespace() {
            "" => String::new(),
            own if own == object.namespace() => String::new(),
            elsewhere => format!(" in namespace {elsewhere}"),
        };
        // Who uses it tells more than who probably is its controller.
        let says = format!("{} {}{place} {}", other.kind, other.name(), field.says());
        finding.wait.said.now.insert(at, says);
        users.push(super::only_named(other.reference(), field.says()));
        finding.evidence.push(Evidence {
            source: format!("{} {} {}", other.kind, other.name(), field.path()),
            value: object.name().to_owned(),
            strength: Strength::Moderate,
        });
    }
    users
}

/// How one object names another.
enum Names {
    In(String),
    ByDefault(String),
}

impl Names {
    fn path(&self) -> &str {
        match self {
            Names::In(path) | Names::ByDefault(path) => path,
        }
    }

    fn says(&self) -> String {
        match self {
            Names::In(path) => format!("still names it in {path}"),
            Names::ByDefault(path) => format!("leaves {path} empty, which means it"),
        }
    }
}

fn how_named(other: &Object, object: &Object, view: &View<'_>) -> Option<Names> {
    let by_default = || empty_references::field_that_means(other, object, view).map(Names::ByDefault);
    referencing_field(other, object)
        .or_else(|| naming_item(other, object))
        .map(Names::In)
        .or_else(by_default)
}

/// The objects of a type in all namespaces, or in that of the object if no more may be read. A type that could not be listed
/// is a gap of the diagnosis.
fn all_of<'a>(ty: &ResourceType, object: &Object, view: &View<'a>) -> &'a [Object] {
    match view.list(&ty.group, &ty.plural, "") {
        Ok(all) => all,
        Err(Missing::Gap(_)) if ty.namespaced && !object.namespace().is_empty() => view
            .list(&ty.group, &ty.plural, object.namespace())
            .unwrap_or_default(),
        Err(_) => &[],
    }
}

fn is_family(object: &Object, other: &Object) -> bool {
    let owns = |owner: &Object, owned: &Object| !owner.uid().is_empty() && owned.is_owned_by(owner.uid());
    owns(object, other) || owns(other, object)
}
