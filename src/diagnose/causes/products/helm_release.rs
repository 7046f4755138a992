//! An object of a Helm release that is stuck in deletion.
//!
//! # Symptom
//!
//! `helm uninstall` hangs or says `timed out waiting for the condition`. `helm list --all` shows `uninstalling`.
//! Installing again says `cannot re-use a name that is still in use`.
//!
//! ```text
//! $ kubectl finalizers explain databases.example.com/orders -n shop --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! `helm uninstall` deletes all objects of a release in no order. With `--wait` it gives up while one still exists.
//! Then the release stays `uninstalling`, or its record is removed while the object stays.
//!
//! # Before you act
//!
//! Find the object of the release that is stuck. The release itself holds nothing.
//!
//! # If it was a mistake
//!
//! Objects that are not deleted yet can be kept: save them before the release is finished.
//!
//! # If it was intended
//!
//! Finish the object first, then the release: `helm uninstall` again.
//!
//! # Do not
//!
//! Do not install the release again meanwhile. It finds the old object, which goes as soon as it is finished.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | this page has no verdict of its own; it says in which state the release is |
//!
//! # What it reads
//!
//! The records of the release (Secrets of type `helm.sh/release.v1`), of which only the metadata is read.
//!
//! # Sources
//!
//! - `helm/helm:pkg/action/uninstall.go`
//! - `helm/helm:pkg/storage/driver/secrets.go`

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, When},
        view::View,
    },
    snapshot::facts::By,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Belongings, add_release),
};

/// Adds the state of the Helm release that the object belongs to.
fn add_release(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let release = object.annotation("meta.helm.sh/release-name");
    let namespace = object.annotation("meta.helm.sh/release-namespace");
    let Some(first) = findings.first_mut() else {
        return;
    };
    if object.deletion().is_none()
        || object.finalizers().is_empty()
        || release.is_empty()
        || namespace.is_empty()
    {
        return;
    }
    let records = view.search(
        "",
        "secrets",
        namespace,
        By::Labels(format!("owner=helm,name={release}")),
    );
    let state = match records {
        Ok(records) => {
            let newest = records.iter().max_by_key(|record| {
                let labels = record.labels();
                labels
                    .get("version")
                    .and_then(|version| version.parse::<u64>().ok())
            });
            newest.map_or_else(
                || "has no record any more".to_owned(),
                |record| {
                    let labels = record.labels();
                    format!("is {}", labels.get("status").map_or("there", String::as_str))
                },
            )
        }
        Err(missing) => format!("is in a state that is not known: {}", missing.in_words()),
    };
    first.evidence.push(Evidence {
        source: format!("Helm release {release} in {namespace}"),
        value: state.clone(),
        strength: Strength::Moderate,
    });
    first.outlook.push(Outlook {
        when: Moment::Meanwhile,
        then: format!(
            "Helm release {release} in {namespace}, which it belongs to, {state}. Installing it again now finds this object, \
             which goes as soon as it is finished"
        ),
    });
    if state.starts_with("is ") && !state.contains("not known") {
        first.steps.push(Step {
            when: When::Gone,
            text: format!("DELETES what is left of the release, and its record last. Do not install {release} again before that"),
            command: Some(Command::of("helm uninstall {} -n {}", [release, namespace])),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        });
    }
}
