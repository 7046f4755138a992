//! The objects that the words of an object or its events name: `Cluster "a" is not ready`, `pods "p" still exist`,
//! `waiting for Volume ns/v`.
//!
//! A name alone accuses nobody: `Deployment x updated` is no complaint. An object counts only if its clause complains, and
//! the object is itself being deleted, does not work, says that it is not ready, or names the stuck object in a field
//! while the message speaks of use.

use crate::{
    diagnose::{
        causes::{
            advice::explain_step,
            operators::{referenced_by::referencing_field, trouble::trouble},
        },
        complaint::{complains, complaints, tells_of_use, waits_for_end},
        limits,
        model::{Finding, Verdict},
        view::View,
    },
    object::{ResourceType, capitalized, is_custom_group},
    snapshot::facts::Object,
};

/// Words between a kind and its name: `Issuer reference ns/a`, `Pod named "p"`.
const FILLERS: [&str; 4] = ["reference", "named", "object", "resource"];

pub(super) fn add_named(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    let own = object.reference();
    for complaint in complaints(object, view) {
        let clauses = complaint
            .text
            .split(['\n', ';'])
            .flat_map(|line| line.split(". "));
        let named: Vec<_> = clauses
            .filter(|clause| complains(clause))
            .flat_map(|clause| {
                let in_clause = named_in(clause, object, view).into_iter();
                in_clause.map(move |named| (named, waits_for_end(clause)))
            })
            .collect();
        for ((ty, namespace, name), until_it_ends) in named.into_iter().take(limits::NAMES_IN_SENTENCE) {
            let place = if ty.namespaced { &*namespace } else { "" };
            let Ok(Some(found)) = view.object(&ty.group, &ty.plural, place, &name) else {
                continue;
            };
            if found.reference() == own {
                continue;
            }
            let field = tells_of_use(&complaint.text).then(|| referencing_field(found, object));
            let field = field.flatten();
            if let Some(trouble) = trouble(found, view) {
                let says = format!("is named in that message, {trouble}");
                super::add_blocker(finding, view.blocker(found, says), runs);
                let text = format!("see why {} {} {trouble}", found.kind, found.name());
                finding.steps.insert(0, explain_step(found, text));
            } else if let Some(field) = &field {
                let says = format!("is named in that message, and still names it in {field}");
                super::add_blocker(finding, view.blocker(found, says), runs);
            } else if until_it_ends {
                let says = "is named in that message, and exists".to_owned();
                super::add_blocker(finding, view.blocker(found, says), runs);
            }
            // Its protection works: the controller says who still uses the object.
            if runs && (field.is_some() || until_it_ends) && finding.can_be_repaired() {
                finding.wait.verdict = Verdict::Waiting;
            }
        }
    }
}

/// The type, namespace and name of each object that a text names behind a word for its type.
fn named_in<'a>(text: &str, object: &Object, view: &View<'a>) -> Vec<(&'a ResourceType, String, String)> {
    let words: Vec<_> = text
        .split(|c: char| c.is_whitespace() || "()[]{},;".contains(c))
        .map(|word| word.trim_matches(|c: char| "\"'`:.".contains(c)))
        .filter(|word| !word.is_empty())
        .collect();
    let after = |at: usize| {
        words
            .get(at + 1..)
            .into_iter()
            .flatten()
            .find(|word| !FILLERS.contains(word))
    };
    words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let ty = type_of(word, object, view)?;
            let named = *after(at)?;
            let (namespace, name) = named.split_once('/').unwrap_or((object.namespace(), named));
            let is_name = |text: &str| {
                !text.is_empty()
                    && text
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
            };
            (is_name(name) && (namespace.is_empty() || is_name(namespace)))
                .then(|| (ty, namespace.to_owned(), name.to_owned()))
        })
        .collect()
}

/// The type that a word stands for: its kind as written in manifests, or its plural with the group. A plural alone is an
/// English word: `pods exist`. Several groups may have a kind. The one of the object's own product is meant, or that of
/// Kubernetes. Between others nobody can choose.
fn type_of<'a>(word: &str, object: &Object, view: &View<'a>) -> Option<&'a ResourceType> {
    // `fluentdConfig` is a kind, too, and `config` an English word.
    let is_kind = word.contains(|c: char| c.is_ascii_uppercase());
    let kind = capitalized(word);
    let is_it = |ty: &&ResourceType| {
        is_kind && ty.kind == kind
            || word.contains('.') && ty.name() == word
            || ty.plural == word && ty.group.is_empty()
    };
    let all: Vec<_> = view.types().iter().filter(is_it).collect();
    let own = &object.resource.group;
    let of_product = || super::types_of_domain(own, view).find(is_it);
    let alone = || match all.as_slice() {
        [ty] => Some(*ty),
        _ => None,
    };
    let of_group = all.iter().copied().find(|ty| ty.group == *own);
    let built_in = || all.iter().copied().find(|ty| !is_custom_group(&ty.group));
    of_group.or_else(of_product).or_else(alone).or_else(built_in)
}
