//! A definition lacks the version that its objects are stored in, or serves no version.
//!
//! # Symptom
//!
//! `request to convert CR from an invalid group/version` stands in the error of a list. Or it stands in a condition of
//! a namespace or of the definition. Or no version of the definition has `served: true`, and `kubectl get` says `the
//! server doesn't have a resource type`.
//!
//! ```text
//! $ kubectl finalizers explain crd/invoices.shop.example.com --from tests/causes/api_machinery.yaml
//! ```
//!
//! # Why
//!
//! The API server reads each object in the version that it is stored in. A version may leave `spec.versions` only when
//! `status.storedVersions` lacks it. If somebody edits that status before all objects are rewritten, one old object
//! fails every list. If no version is served, nobody can see or finish the objects, while the definition waits for
//! them.
//!
//! # Before you act
//!
//! Find out which release of the product had the missing version, and whether its objects are still needed.
//!
//! # If it was a mistake
//!
//! Nothing of this type is deleted while it cannot be read. With the version, the deletion goes on. So save etcd first.
//!
//! # If it was intended
//!
//! Add the version again with `served: false`, or serve a version again. The deletion then goes on by itself. Fields
//! that the other versions do not know are pruned when an object is written.
//!
//! # Do not
//!
//! Do not remove the finalizer of the definition. The objects stay in etcd and come back with the next definition of
//! that name.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | objects are stored in a version that the definition lacks |
//! | waiting | no version is served |
//!
//! # What it reads
//!
//! The definition.
//!
//! # Sources
//!
//! - `kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/converter.go`
//! - `kubernetes/apiextensions-apiserver:pkg/apis/apiextensions/validation/validation.go`
//! - `kubernetes/apiextensions-apiserver:pkg/controller/finalizer/crd_finalizer.go`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    command::Command,
    diagnose::{
        model::{Blocker, Evidence, Finding, Page, Safety, Step, Strength, Verdict, When},
        view::View,
    },
    snapshot::facts::Object,
};

const MESSAGE: &str = "request to convert CR from an invalid group/version: ";

/// Whether this message reports a version that the definition no longer has.
pub(crate) fn is_reported(message: &str) -> bool {
    message.contains(MESSAGE)
}

/// Adds the missing versions of a type (`plural.group`) if its list failed with this message.
pub(crate) fn add_missing_versions_of_type(
    finding: &mut Finding,
    type_name: &str,
    message: &str,
    view: &View<'_>,
) {
    if !is_reported(message) {
        return;
    }
    match view.definition(type_name) {
        Ok(Some(definition)) => add_missing_versions(finding, definition, &[message]),
        Ok(None) => finding.say(format!("the definition {type_name} has gone since")),
        Err(missing) => {
            finding.tell_of(Page::of(module_path!()));
            finding.wait.verdict = Verdict::Failing;
            finding.say(format!(
                "which versions {type_name} has is not known: {}",
                missing.in_words()
            ));
        }
    }
}

/// Adds the versions that these messages miss in the definition, each once, and the steps that add them again.
pub(crate) fn add_missing_versions(finding: &mut Finding, definition: &Object, messages: &[&str]) {
    let reported: BTreeSet<_> = messages
        .iter()
        .flat_map(|message| reported_versions(message, definition))
        .collect();
    if reported.is_empty() {
        return;
    }
    finding.tell_of(Page::of(module_path!()));
    finding.wait.verdict = Verdict::Failing;
    let name = definition.name();
    for version in reported {
        let known = definition.list("/spec/versions");
        if known
            .iter()
            .any(|each| each.get("name").and_then(Value::as_str) == Some(version))
        {
            finding.say(format!(
                "{name} has {version} again, so the next try should get through, within a minute or two"
            ));
            continue;
        }
        finding.wait.on.push(Blocker::new(
            Some(definition.reference()),
            format!(
                "objects are stored in its version {version}, which it no longer has, so that none of its objects can be \
                 listed or deleted"
            ),
        ));
        let back = json!([{"op": "add", "path": "/spec/versions/-", "value": {"name": version, "served": false,
            "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}]);
        finding.steps.push(Step {
            when: When::Now,
            text: format!(
                "DATA LOSS if its objects are still needed: give {name} its version {version} back, without serving it. Its \
                 objects can then be read, and their deletion goes on by itself. Fields that the other versions do not know \
                 are pruned when an object is written"
            ),
            command: Some(Command::json_patch("crd", name, "", &back.to_string())),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        });
    }
}

/// The versions that a message names, in the group of the definition.
fn reported_versions<'a>(message: &'a str, definition: &Object) -> Vec<&'a str> {
    let group = definition.text("/spec/group");
    message
        .split(MESSAGE)
        .skip(1)
        .filter_map(|rest| rest.split([',', ' ', ';', ']']).next()?.split_once('/'))
        .filter(|(version_group, version)| {
            *version_group == group && version.chars().all(|c| c.is_ascii_alphanumeric())
        })
        .map(|(_, version)| version)
        .collect()
}

/// Adds that the definition serves none of its versions, if that is so.
pub(crate) fn add_none_served(finding: &mut Finding, definition: &Object) {
    let versions = definition.list("/spec/versions");
    let is = |version: &Value, field: &str| version.get(field) == Some(&Value::Bool(true));
    let stored = versions.iter().position(|version| is(version, "storage"));
    let (Some(stored), false) = (stored, versions.iter().any(|version| is(version, "served"))) else {
        return;
    };
    let name = definition.name();
    finding.tell_of(Page::of(module_path!()));
    finding.wait.verdict = Verdict::Waiting;
    finding.evidence.push(Evidence {
        source: format!("CustomResourceDefinition {name} spec.versions"),
        value: "none is served".into(),
        strength: Strength::Proof,
    });
    finding.wait.on.push(Blocker::new(
        Some(definition.reference()),
        "serves none of its versions, so that nobody can see or finish the objects that are left",
    ));
    let serve = json!([{"op": "replace", "path": format!("/spec/versions/{stored}/served"), "value": true}]);
    finding.steps.push(Step {
        when: When::Now,
        text: format!("serve a version of {name} again: then what is left can be seen, and what holds it"),
        command: Some(Command::json_patch("crd", name, "", &serve.to_string())),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    });
    finding.steps.push(Step {
        when: When::Now,
        text: "then explain it again".into(),
        command: Some(Command::explain("crd", name, "")),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}
