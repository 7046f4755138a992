//! The objects of the same product that name an object in a field.

use crate::{
    diagnose::{
        causes::operators::referenced_by::referencing_field,
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

/// Says which objects name this one, and whether any does. Its owners and what it owns name it too, and wait for it
/// rather than the other way round.
pub(super) fn add_referrers(object: &Object, finding: &mut Finding, view: &View<'_>) -> bool {
    let types = super::types_of_domain(&object.resource.group, view).take(limits::TYPES_OF_PATTERN);
    let mut found = Vec::new();
    for ty in types {
        let place = if ty.namespaced { object.namespace() } else { "" };
        // A type that could not be listed is a gap of the diagnosis.
        let all = view.list(&ty.group, &ty.plural, place).unwrap_or_default();
        found.extend(
            all.iter()
                .filter(|other| other.reference() != object.reference())
                .filter(|other| !is_family(object, other))
                .filter_map(|other| Some((other, referencing_field(other, object)?))),
        );
    }
    for (other, field) in found.iter().take(limits::NAMES_IN_SENTENCE) {
        finding.say(format!(
            "{} {} still names it in {field}",
            other.kind,
            other.name()
        ));
        finding.evidence.push(Evidence {
            source: format!("{} {} {field}", other.kind, other.name()),
            value: object.name().to_owned(),
            strength: Strength::Moderate,
        });
    }
    !found.is_empty()
}

fn is_family(object: &Object, other: &Object) -> bool {
    let owns = |owner: &Object, owned: &Object| {
        !owner.uid().is_empty() && owned.owned_by(owner.uid()).next().is_some()
    };
    owns(object, other) || owns(other, object)
}
