//! The types of one product in several groups. A role shows which belong together: its controller works with all of them.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        holder::rbac::Changers,
        kinds::{Role, RoleRule},
        view::View,
    },
    object::{ResourceType, is_custom_group},
    snapshot::facts::Object,
};

/// The custom types of other groups in the role of the only controller that may change this object. None if several
/// controllers may, because then nothing tells whose types these are.
pub(super) fn of_only_controller<'a>(object: &Object, view: &View<'a>) -> Vec<&'a ResourceType> {
    let Ok(changers) = Changers::of(object, view) else {
        return Vec::new();
    };
    let candidates = changers.candidates(object);
    let likely = candidates.iter().filter(|candidate| candidate.is_likely);
    let names: BTreeSet<_> = likely.map(|candidate| candidate.role).collect();
    let (Some(&name), 1) = (names.first(), names.len()) else {
        return Vec::new();
    };
    let all = view.list("rbac.authorization.k8s.io", "clusterroles", "");
    let role = all.unwrap_or_default().iter().find(|role| role.name() == name);
    let covers = |rule: RoleRule<'_>, ty: &ResourceType| {
        rule.groups().any(|group| group == ty.group) && rule.resources().any(|plural| plural == ty.plural)
    };
    let is_in_role =
        |ty: &ResourceType| role.is_some_and(|role| Role(role).rules().any(|rule| covers(rule, ty)));
    let is_of_product = |ty: &&ResourceType| {
        is_custom_group(&ty.group) && ty.group != object.resource.group && is_in_role(ty)
    };
    view.types().iter().filter(is_of_product).collect()
}
