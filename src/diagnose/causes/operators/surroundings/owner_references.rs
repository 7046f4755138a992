//! What the owner of an object names, and does not exist. A controller often reads it through the owner: that of a machine of a
//! provider reads the bootstrap data that the Machine names
//! (`kubernetes-sigs/cluster-api:api/core/v1beta1/machine_types.go` Bootstrap).

use super::{Troubled, tell};
use crate::{
    diagnose::{
        causes::operators::missing_reference, kinds::OwnerReference, limits, model::Finding, view::View,
    },
    object::is_custom_group,
    snapshot::facts::Object,
};

/// Says what the owner names in its spec and does not exist, and returns it. An owner that works with the same name shows that
/// it is no fault. Only owners of custom types count: a Pod needs what its workload names to start, and not to end.
pub(super) fn add_missing_of_owner(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    let Some(owner) = owner(object, view) else {
        return Vec::new();
    };
    let references = missing_reference::references(owner, view).into_iter();
    let missing = references.take(limits::REFERENCES).filter(|one| {
        let found = view.object(&one.ty.group, &one.ty.plural, one.namespace, one.name);
        matches!(found, Ok(None)) && missing_reference::tells_more(owner, &one.field, one.name, view)
    });
    missing
        .map(|one| {
            let field = format!("{} of {} {}", one.field, owner.kind, owner.name());
            let named = (field, one.ty, one.namespace.to_owned(), one.name.to_owned());
            let thing = super::pasteable_of(one.ty, one.namespace, one.name);
            tell(
                object,
                finding,
                format!(
                    "owner {} {} names {thing} in {}, which {}",
                    owner.kind,
                    owner.name(),
                    one.field,
                    super::MISSING
                ),
            );
            Troubled::of(&named, None)
        })
        .collect()
}

/// The owner that controls the object, or its only owner, if it has a custom type.
fn owner<'a>(object: &Object, view: &View<'a>) -> Option<&'a Object> {
    let mut all = OwnerReference::all(object);
    let only = all.next().filter(|_| all.next().is_none());
    let owner = OwnerReference::to_controller(object).or(only)?;
    if !is_custom_group(owner.group()) {
        return None;
    }
    let found = view.object_of_kind(owner.group(), owner.kind(), object.namespace(), owner.name())?;
    // What an object lacks that this one keeps is told there.
    let is_told = view.leads_through(&found.reference());
    // One that works shows what the owner can do without.
    let are_siblings_known = super::are_siblings_known(found, view);
    (owner.is_to(found) && !is_told && are_siblings_known).then_some(found)
}
