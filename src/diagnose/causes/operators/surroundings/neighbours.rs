//! The only object of another kind of the same product beside an object, if it is in trouble. Operators of OpenStack do
//! nothing, not even for a deletion, before their one KeystoneAPI is ready, and no field names it.

use crate::{
    diagnose::{
        causes::operators::trouble::trouble,
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    object::is_custom_group,
    snapshot::facts::Object,
};

/// Says which neighbour is in trouble. That changes no verdict: nothing shows that the object needs it. One that is being
/// deleted, too, says nothing: both go at once. Where there are several of a kind, nothing tells which of them counts.
pub(super) fn add_neighbours(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let group = &object.resource.group;
    if !is_custom_group(group) {
        return;
    }
    let beside = view.types().iter().filter(|ty| {
        ty.group == *group
            && ty.name() != object.resource.name()
            && ty.namespaced != object.namespace().is_empty()
    });
    for ty in beside.take(limits::TYPES_OF_PATTERN) {
        // Types that could not be listed are a gap of the diagnosis.
        let Ok([only]) = view.list(&ty.group, &ty.plural, object.namespace()) else {
            continue;
        };
        if only.deletion().is_some() || only.is_owned_by(object.uid()) || object.is_owned_by(only.uid()) {
            continue;
        }
        let Some(trouble) = trouble(only, view) else {
            continue;
        };
        let says = format!(
            "{}, which {trouble}",
            super::pasteable_of(ty, only.namespace(), only.name())
        );
        finding.say(format!("The only {} beside it is {says}", ty.kind));
        finding.evidence.push(Evidence {
            source: format!("a list of {}", ty.name()),
            value: says,
            strength: Strength::Hint,
        });
    }
}
