//! A version in which objects are stored and which their definition no longer has; or a definition that serves none.
//!
//! **Recognises** `request to convert CR from an invalid group/version` in what a list, the namespace controller or the
//! definition's own condition was told, and a definition of which no version has `served: true`. **Why:** the API server
//! reads each object in the version that it is stored in. A version may only leave `spec.versions` when
//! `status.storedVersions` lacks it, which somebody has edited before all objects were rewritten; then one of them fails
//! every list, and neither a namespace nor the definition is ever found empty. What no version serves has objects that
//! nobody can see or finish, while the definition waits for them. Source:
//! `kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/converter.go`,
//! `pkg/apis/apiextensions/validation/validation.go`, `pkg/controller/finalizer/crd_finalizer.go`. **Wants** the definition.
//! **Concludes** `failing`, or `waiting` where none is served, with the definition as root cause. **Advises** to give it the
//! version back, unserved, or to serve one again; never to take the finalizer of the definition out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    diagnose::{
        causes::advice::word,
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

const SIGN: &str = "request to convert CR from an invalid group/version: ";

/// Whether this text says that a version is not known any more.
pub(crate) fn is_told(text: &str) -> bool {
    text.contains(SIGN)
}

/// Says so of the type (`plural.group`) whose list was told this.
pub(crate) fn of_type(finding: &mut Finding, type_name: &str, text: &str, view: &View<'_>) {
    if !is_told(text) {
        return;
    }
    match view.definition(type_name) {
        Ok(Some(definition)) => add_unserved_versions(finding, definition, &[text]),
        Ok(None) => finding.say(format!("; the definition {type_name} has gone since")),
        Err(missing) => {
            finding.wait.verdict = Verdict::Failing;
            finding.say(format!(
                "; which versions {type_name} has is not known: {}",
                missing.in_words()
            ));
        }
    }
}

/// Says so of this definition, and what is to be done, once for all these texts.
pub(crate) fn add_unserved_versions(finding: &mut Finding, definition: &Object, texts: &[&str]) {
    let told: BTreeSet<_> = texts.iter().flat_map(|text| versions(text, definition)).collect();
    if told.is_empty() {
        return;
    }
    finding.wait.verdict = Verdict::Failing;
    let name = definition.name();
    for version in told {
        let known = definition.list("/spec/versions");
        if known
            .iter()
            .any(|each| each.get("name").and_then(Value::as_str) == Some(version))
        {
            finding.say(format!(
                "; {name} has {version} again, so the next try should get through, within a minute or two"
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
            when: "what to do",
            text: format!(
                "give {name} its version {version} back, without serving it: then its objects can be read, and the deletion \
                 goes on by itself. Fields that the other versions do not know are pruned when an object is written"
            ),
            command: Some(format!("kubectl patch crd {name} --type=json -p {}", word(&back.to_string()))),
            safety: Safety::Reversible,
        });
    }
}

/// The versions of the definition's group that this text names.
fn versions<'a>(text: &'a str, definition: &Object) -> Vec<&'a str> {
    let group = definition.text("/spec/group");
    text.split(SIGN)
        .skip(1)
        .filter_map(|rest| rest.split([',', ' ', ';', ']']).next()?.split_once('/'))
        .filter(|(of, version)| *of == group && version.chars().all(|c| c.is_ascii_alphanumeric()))
        .map(|(_, version)| version)
        .collect()
}

/// A definition of which no version is served.
pub(crate) fn none(finding: &mut Finding, definition: &Object) {
    let versions = definition.list("/spec/versions");
    let is = |version: &Value, field: &str| version.get(field) == Some(&Value::Bool(true));
    let stored = versions.iter().position(|version| is(version, "storage"));
    let (Some(stored), false) = (stored, versions.iter().any(|version| is(version, "served"))) else {
        return;
    };
    let name = definition.name();
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
    finding.steps.push(Step {
        when: "what to do",
        text: format!("serve a version of {name} again: then what is left can be seen, and what holds it"),
        command: Some(format!(
            "kubectl patch crd {name} --type=json -p \
             '[{{\"op\":\"replace\",\"path\":\"/spec/versions/{stored}/served\",\"value\":true}}]' && kubectl finalizers \
             explain crd/{name}"
        )),
        safety: Safety::Reversible,
    });
}
