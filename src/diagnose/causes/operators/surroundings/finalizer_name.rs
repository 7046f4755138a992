//! The objects that a finalizer is named after: `x.test/Gadget` after a kind, `gadget-g1` after one object.

use crate::{
    diagnose::{
        causes::operators::referenced_by::referencing_field,
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    object::ResourceType,
    snapshot::facts::Object,
};

/// What may stand between a kind and a name.
const SEPARATORS: [char; 4] = ['-', '.', '_', ':'];

pub(super) fn add_namesakes(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    // Such a name means the same on every object.
    if view.knowledge.is_exact(&finalizer.name) {
        return;
    }
    let (domain, word) = finalizer.name.split_once('/').unwrap_or(("", &finalizer.name));
    let domain = if domain.contains('.') {
        domain
    } else {
        &object.resource.group
    };
    let types: Vec<_> = super::types_of_domain(domain, view)
        .filter(|ty| ty.name() != object.resource.name())
        .take(limits::TYPES_OF_PATTERN)
        .collect();
    let plain = word.replace(SEPARATORS, "");
    let is_kind =
        |ty: &&&ResourceType| plain.eq_ignore_ascii_case(&ty.kind) || plain.eq_ignore_ascii_case(&ty.plural);
    if let Some(ty) = types.iter().find(is_kind) {
        add_users(object, finding, ty, runs, view);
        return;
    }
    // Names are redacted, and finalizers are not.
    if view.is_redacted() {
        return;
    }
    if let Some((ty, name)) = types.iter().find_map(|ty| Some((*ty, name_behind(word, ty)?))) {
        add_namesake(object, finding, (ty, name), runs, view);
        return;
    }
    if !word.contains(SEPARATORS) {
        return;
    }
    for ty in types {
        let place = if ty.namespaced { object.namespace() } else { "" };
        let all = view.list(&ty.group, &ty.plural, place).unwrap_or_default();
        let ends_with = |other: &&Object| {
            word.strip_suffix(other.name())
                .is_some_and(|before| before.len() > 1 && before.ends_with(SEPARATORS))
        };
        if let Some(found) = all.iter().find(ends_with) {
            // A common name such as `default` may be there by chance, so this blames nobody.
            say_namesake(finding, found, false, view);
            return;
        }
    }
}

/// Whether the finalizer may be named after an object that a redacted snapshot does not show under this name.
pub(super) fn is_hidden(finalizer: &str, view: &View<'_>) -> bool {
    let word = finalizer.rsplit('/').next().unwrap_or_default();
    view.is_redacted() && !view.knowledge.is_exact(finalizer) && word.contains(SEPARATORS)
}

/// The name behind the kind, its plural or a short name.
fn name_behind<'a>(word: &'a str, ty: &ResourceType) -> Option<&'a str> {
    let kind = ty.kind.to_lowercase();
    let names = [&kind, &ty.plural, &ty.singular]
        .into_iter()
        .chain(&ty.short_names);
    names.filter(|name| !name.is_empty()).find_map(|name| {
        let rest = word.get(name.len()..)?;
        let is_named = word.get(..name.len())?.eq_ignore_ascii_case(name) && rest.starts_with(SEPARATORS);
        is_named
            .then(|| rest.trim_start_matches(SEPARATORS))
            .filter(|name| !name.is_empty())
    })
}

/// Adds the objects of the kind that refer to this one. Without any, the finalizer stands for nothing that exists.
fn add_users(object: &Object, finding: &mut Finding, ty: &ResourceType, runs: bool, view: &View<'_>) {
    let all = match view.list(&ty.group, &ty.plural, "") {
        Ok(all) => all,
        Err(missing) => {
            finding.say(format!(
                "which {} use it is not known: {}",
                ty.name(),
                missing.in_words()
            ));
            return;
        }
    };
    let users: Vec<_> = all
        .iter()
        .filter_map(|other| Some((other, referencing_field(other, object)?)))
        .collect();
    finding.evidence.push(Evidence {
        source: format!("a list of {}", ty.name()),
        value: format!("{} of {} name it", users.len(), all.len()),
        strength: Strength::Moderate,
    });
    if users.is_empty() {
        finding.say(format!(
            "The finalizer is named after {}, and no {} names this object",
            ty.kind, ty.kind
        ));
        return;
    }
    for (other, field) in users.iter().take(limits::BLOCKERS) {
        let blocker = view.blocker(other, format!("names it in {field}"));
        super::add_blocker(finding, blocker, runs);
    }
}

fn add_namesake(
    object: &Object,
    finding: &mut Finding,
    (ty, name): (&ResourceType, &str),
    runs: bool,
    view: &View<'_>,
) {
    let place = if ty.namespaced { object.namespace() } else { "" };
    match view.object(&ty.group, &ty.plural, place, name) {
        Ok(Some(found)) => say_namesake(finding, found, runs, view),
        Ok(None) => finding.say(format!(
            "The finalizer is named after {} {name}, which does not exist",
            ty.kind
        )),
        Err(missing) => finding.say(format!(
            "whether {} {name} exists is not known: {}",
            ty.kind,
            missing.in_words()
        )),
    }
}

/// Tells of the object that the finalizer is named after. It keeps the finalizer only if it is itself being deleted, and
/// `is_kept_by_it` says that its controller may wait for that.
fn say_namesake(finding: &mut Finding, found: &Object, is_kept_by_it: bool, view: &View<'_>) {
    let is_going = found.deletion().is_some();
    if is_going && is_kept_by_it {
        let says = "the finalizer is named after it, and it is being deleted".to_owned();
        super::add_blocker(finding, view.blocker(found, says), true);
        return;
    }
    let state = if is_going { "is being deleted" } else { "exists" };
    finding.say(format!(
        "The finalizer is named after {} {}, which {state}",
        found.kind,
        found.name()
    ));
}
