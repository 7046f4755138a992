//! The objects that the words of an object or its events name: `Cluster "a" is not ready`, `pods "p" still exist`,
//! `waiting for Volume ns/v`.
//!
//! A name alone accuses nobody: `Deployment x updated` is no complaint. An object counts only if it is itself being
//! deleted, or says that it is not ready.

use super::references;
use crate::{
    diagnose::{causes::advice::explain_step, complaint::complaints, limits, model::Finding, view::View},
    object::ResourceType,
    snapshot::facts::Object,
};

/// Words between a kind and its name: `Issuer reference ns/a`, `Pod named "p"`.
const FILLERS: [&str; 4] = ["reference", "named", "object", "resource"];

pub(super) fn add_named(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    let own = object.reference();
    for complaint in complaints(object, view) {
        let named = named_in(&complaint.text, object.namespace(), view);
        for (ty, namespace, name) in named.into_iter().take(limits::NAMES_IN_SENTENCE) {
            let place = if ty.namespaced { &*namespace } else { "" };
            let Ok(Some(found)) = view.object(&ty.group, &ty.plural, place, &name) else {
                continue;
            };
            if found.reference() == own {
                continue;
            }
            if let Some(trouble) = references::trouble(found) {
                let says = format!("is named in that message, {trouble}");
                super::add_blocker(finding, view.blocker(found, says), runs);
                let text = format!("see why {} {} {trouble}", found.kind, found.name());
                finding.steps.insert(0, explain_step(found, text));
            }
        }
    }
}

/// The type, namespace and name of each object that a text names behind a word for its type.
fn named_in<'a>(text: &str, own_namespace: &str, view: &View<'a>) -> Vec<(&'a ResourceType, String, String)> {
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
            let ty = type_of(word, view)?;
            let named = *after(at)?;
            let (namespace, name) = named.split_once('/').unwrap_or((own_namespace, named));
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
/// English word: `pods exist`.
fn type_of<'a>(word: &str, view: &View<'a>) -> Option<&'a ResourceType> {
    let is_kind = word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_it = |ty: &&ResourceType| {
        is_kind && ty.kind == word
            || word.contains('.') && ty.name() == word
            || ty.plural == word && ty.group.is_empty()
    };
    view.types().iter().find(is_it)
}
