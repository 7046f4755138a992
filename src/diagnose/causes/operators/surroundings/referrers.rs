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
    object::{ResourceType, is_product_group},
    snapshot::facts::Object,
};

/// Says which objects name this one, and returns them for the chain. Its owners and what it owns name it too, and wait for it
/// rather than the other way round, unless its own words speak of them. Where the catalogue tells who uses it, only those count
/// that its own words speak of.
pub(super) fn add_referrers(
    object: &Object,
    finding: &mut Finding,
    are_users_known: bool,
    view: &View<'_>,
) -> Vec<Blocker> {
    let mut types: Vec<_> = super::types_of_domain(&object.resource.group, view).collect();
    for ty in product_types::of_only_controller(object, view) {
        if !types.contains(&ty) {
            types.push(ty);
        }
    }
    let told = complaints(object, view);
    // A message may say it in the plural.
    let is_told_of = |kind: &str| {
        let many = format!("{kind}s");
        let mut texts = told.iter().map(|complaint| &complaint.text);
        texts.any(|text| has_word(text, kind) || has_word(text, &many))
    };
    types.retain(|ty| !are_users_known || is_told_of(&ty.kind));
    let mut found = Vec::new();
    for ty in types.iter().take(limits::TYPES_OF_PATTERN) {
        let all = all_of(ty, object, view);
        found.extend(
            all.iter()
                .filter(|other| other.reference() != object.reference())
                .filter(|other| !is_family(object, other) || is_told_of(&other.kind))
                .filter_map(|other| {
                    let by_name = || is_told_of(&other.kind).then(|| named_elsewhere(other, object))?;
                    Some((other, how_named(other, object, view).or_else(by_name)?))
                }),
        );
    }
    if !are_users_known {
        found.extend(companions(object, view));
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
    /// It means one of the same name in its own namespace. A controller may confuse the two.
    Elsewhere(String),
    /// It has the name of the object, and a kind that begins with that of the object: a `ServerBinding` for a `Server`.
    ByItsOwnName,
}

impl Names {
    fn path(&self) -> &str {
        match self {
            Names::In(path) | Names::ByDefault(path) | Names::Elsewhere(path) => path,
            Names::ByItsOwnName => "metadata.name",
        }
    }

    fn says(&self) -> String {
        match self {
            Names::In(path) => format!("still names it in {path}"),
            Names::ByDefault(path) => format!("leaves {path} empty, which means it"),
            Names::Elsewhere(path) => format!("names one of the same name in {path}"),
            Names::ByItsOwnName => "has the same name, and exists".to_owned(),
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

/// The field of an object that names one of the same name in its own namespace.
fn named_elsewhere(other: &Object, object: &Object) -> Option<Names> {
    if object.namespace().is_empty() || other.namespace() == object.namespace() {
        return None;
    }
    let there = object.in_namespace(other.namespace());
    referencing_field(other, &there).map(Names::Elsewhere)
}

/// The objects that have the name of this one, and a kind that begins with its kind.
fn companions<'a>(object: &Object, view: &View<'a>) -> Vec<(&'a Object, Names)> {
    let is_companion = |ty: &&ResourceType| {
        is_product_group(&ty.group)
            && ty.kind.len() > object.kind.len()
            && ty.kind.starts_with(&object.kind)
            && ty.namespaced != object.namespace().is_empty()
    };
    let types = view.types().iter().filter(is_companion);
    let found = types.take(limits::TYPES_OF_PATTERN).filter_map(|ty| {
        // An object that could not be read is a gap of the diagnosis.
        let found = view
            .object(&ty.group, &ty.plural, object.namespace(), object.name())
            .ok()??;
        let is_used = found.deletion().is_none() && !is_family(object, found);
        is_used.then_some((found, Names::ByItsOwnName))
    });
    found.collect()
}

/// The objects of a type in all namespaces, or in that of the object if no more may be read. A type that could not be listed
/// is a gap of the diagnosis.
pub(super) fn all_of<'a>(ty: &ResourceType, object: &Object, view: &View<'a>) -> &'a [Object] {
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
