//! The settings of an object that a complaint about it names: `deletion_protection is set to true` means
//! `spec.forProvider.deletionProtection`.
//!
//! Clouds, Terraform and webhooks refuse a deletion because of a setting, and say which. They spell it as their own API
//! does. So only words are compared, and a setting has at least two of them. That a message names a setting does not prove
//! that the setting is the reason, so the reader is asked to look first.

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        causes::operators::missing_reference::wishes,
        complaint::{complains, complaints},
        limits,
        model::{Finding, Safety, Step, When},
        view::View,
    },
    snapshot::facts::Object,
};

/// Tells which settings the complaints name, and their values.
pub(super) fn add_settings(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let complaints = complaints(object, view);
    let texts = complaints.iter().map(|complaint| complaint.text.as_str());
    let said: Vec<_> = texts.filter(|text| complains(text)).map(words).collect();
    let is_named = |name: &[String]| name.len() > 1 && said.iter().any(|text| has(text, name));
    let mut found = Vec::new();
    for (field, value) in wishes(object) {
        collect(value, field, &is_named, &mut found);
    }
    // The first stands in front, as the message that names it does.
    for (path, value) in found.into_iter().take(limits::NAMES_IN_SENTENCE).rev() {
        super::tell(object, finding, format!("{path} is {value}"));
        let resource = &object.resource;
        finding.steps.insert(
            0,
            Step {
                when: When::Now,
                text: format!(
                    "read what {path} does. The message above names it, and it is {value}. If it stops the deletion: once it \
                     is changed, WHAT THE OBJECT STANDS FOR IS DELETED"
                ),
                command: Some(Command::of(
                    "kubectl explain {}.{} --api-version={}",
                    [&resource.plural, &path, &object.api_version],
                )),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            },
        );
    }
}

/// Collects the switches at this path and below it that are named. `kubectl explain` knows no places in a list.
fn collect(
    value: &Value,
    path: &str,
    is_named: &impl Fn(&[String]) -> bool,
    found: &mut Vec<(String, bool)>,
) {
    let Value::Object(fields) = value else { return };
    if path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    for (key, inner) in fields {
        let path = format!("{path}.{key}");
        match inner {
            Value::Bool(is_set) if is_named(&words(key)) => found.push((path, *is_set)),
            _ => collect(inner, &path, is_named, found),
        }
    }
}

/// Whether these words stand in the text, one behind the other.
fn has(text: &[String], name: &[String]) -> bool {
    text.windows(name.len()).any(|part| part == name)
}

/// The words of a text or a name in small letters: three of `skipFinalSnapshot` and of `skip_final_snapshot`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_ascii_alphanumeric() || was_small && c.is_ascii_uppercase() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}
