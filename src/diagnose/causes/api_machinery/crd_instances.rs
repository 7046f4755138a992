//! `customresourcecleanup.apiextensions.k8s.io`: a type that still has instances.
//!
//! # Symptom
//!
//! `kubectl delete crd` does not return. The CustomResourceDefinition stays in deletion, with the finalizer
//! `customresourcecleanup.apiextensions.k8s.io`. Its condition `Terminating` has the reason
//! `InstanceDeletionInProgress` or `InstanceDeletionFailed`.
//!
//! ```text
//! $ kubectl finalizers explain crd/volumes.longhorn.io --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! kube-apiserver itself deletes all instances, and removes the finalizer when none is left. Each instance waits for
//! its own finalizers. When the operator was uninstalled first, nobody removes these.
//!
//! # Before you act
//!
//! List the instances in all namespaces, and save them. They are being deleted already.
//!
//! # If it was a mistake
//!
//! The deletion of a definition cannot be withdrawn. Save the instances, create the definition again later, and apply
//! them.
//!
//! # If it was intended
//!
//! Resolve the instances: bring their operator back, or clean up by hand what it would have cleaned up.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The instances stay in etcd and come back, still in deletion, with the next
//! definition of that name.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | instances are left; each is named with what holds it |
//! | failing | the API server cannot list or delete them |
//! | stalled | none is left, and the API server has not acted |
//! | unknown | the instances could not be listed |
//!
//! # What it reads
//!
//! The instances in all namespaces. If they cannot be listed, the conditions of the definition.
//!
//! # Sources
//!
//! - `kubernetes/apiextensions-apiserver:pkg/controller/finalizer/crd_finalizer.go`

use std::collections::BTreeMap;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            api_machinery::{conversion_webhook, stored_version, unreadable_object},
            cause::{Cause, On, Reads, Tells},
            verdicts,
        },
        kinds::CustomResourceDefinition,
        limits,
        model::{
            Blocker, Evidence, Finding, Liveness, Moment, Outlook, Page, Safety, Said, Step, Strength,
            Verdict, When,
        },
        removal::Veto,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::{Gap, Why, facts::Object},
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("apiextensions.k8s.io", "customresourcedefinitions")],
    finalizer: On::Named("customresourcecleanup.apiextensions.k8s.io"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(instances_remain),
};

fn instances_remain(crd: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let resource = CustomResourceDefinition(crd).resource();
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        Said::removed_by("kube-apiserver itself", Liveness::Running, Vec::new())
            .once("no object of this type is left in any namespace"),
    );
    let (status, reason, message) = crd.condition("Terminating").unwrap_or_default();
    if status == "True" {
        finding.evidence.push(Evidence {
            source: format!("CustomResourceDefinition {} condition Terminating", crd.name()),
            value: format!("{reason}: {message}"),
            strength: Strength::Moderate,
        });
    }
    if view.has_type(&resource) {
        match view.list(&resource.group, &resource.plural, "") {
            Ok(instances) => add_instances(&mut finding, crd, instances, view),
            Err(missing) if missing.is_ours() => {
                add_unlisted_instances(&mut finding, &missing.in_words(), "", message);
            }
            Err(missing) => {
                add_unlisted_instances(&mut finding, &missing.in_words(), reason, message);
                add_unreadable_instances(&mut finding, crd, &missing, message, view);
            }
        }
    } else {
        add_unlisted_instances(
            &mut finding,
            "the server does not serve this type",
            reason,
            message,
        );
        stored_version::add_none_served(&mut finding, crd);
    }
    finding.do_not.push(format!(
        "remove {} by hand (ORPHANED OBJECTS). The objects stay in etcd where no API reaches them. They come back, \
         still being deleted, with the next definition of that name",
        finalizer.name
    ));
    finding
}

/// Adds what the condition of the server says about instances that cannot be listed. If only our rights are missing,
/// pass no `reason`: the condition describes the last try of the server, which may be old.
fn add_unlisted_instances(finding: &mut Finding, why: &str, reason: &str, message: &str) {
    if reason == "InstanceDeletionFailed" {
        finding.wait.verdict = Verdict::Failing;
        finding.say(format!("it fails: {message}"));
    } else {
        finding.wait.verdict = Verdict::Unknown;
    }
    finding.forbid(Veto::ObjectsStayStored);
    finding.say(format!("which objects are left is not known: {why}"));
}

/// Adds why nobody can read the instances, in contrast to instances that only we may not read.
fn add_unreadable_instances(
    finding: &mut Finding,
    crd: &Object,
    missing: &Missing,
    message: &str,
    view: &View<'_>,
) {
    let reported = match missing {
        Missing::Gap(Gap {
            why: Why::ServerError(text) | Why::Throttled(text),
            ..
        }) => text,
        _ => "",
    };
    if conversion_webhook::is_reported(reported) || conversion_webhook::is_reported(message) {
        finding.wait.verdict = Verdict::Failing;
        if let Some(webhook) = conversion_webhook::add_webhook(finding, crd, view) {
            finding.wait.on.extend(webhook.on);
        }
    }
    unreadable_object::add_unreadable_objects(finding, [reported, message].into_iter(), view);
    stored_version::add_missing_versions(finding, crd, &[reported, message]);
}

fn add_instances(finding: &mut Finding, crd: &Object, instances: &[Object], view: &View<'_>) {
    let name = crd.name();
    finding.evidence.push(Evidence {
        source: format!("a list of {name} in all namespaces"),
        value: format!("{} objects", instances.len()),
        strength: Strength::Proof,
    });
    if instances.is_empty() {
        finding.wait.verdict = verdicts::nothing_blocks(crd, view);
        finding.say("none is left");
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(crd));
        }
        return;
    }
    finding.forbid(Veto::ObjectsStayStored);
    finding.say(match instances.len() {
        1 => "1 is left".to_owned(),
        many => format!("{many} are left"),
    });
    let mut groups: BTreeMap<Vec<Finalizer>, Vec<&Object>> = BTreeMap::new();
    for instance in instances {
        groups.entry(instance.finalizers()).or_default().push(instance);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, objects)| std::cmp::Reverse(objects.len()));
    let deleting = crd.deletion().is_some();
    for (index, (finalizers, objects)) in groups.iter().take(limits::BLOCKERS).enumerate() {
        let Some(first) = objects.first() else { continue };
        let more = match objects.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more like it)"),
        };
        let finalizer_names: Vec<_> = finalizers.iter().map(ToString::to_string).collect();
        let deletion_state = if first.deletion().is_some() {
            "being deleted"
        } else {
            "not being deleted"
        };
        let says = if finalizer_names.is_empty() {
            format!("{deletion_state}, without a finalizer{more}")
        } else {
            format!("{deletion_state}, held by {}{more}", finalizer_names.join(", "))
        };
        let blocker = if index < limits::EXPLAINED_IN_FULL {
            view.blocker(first, says)
        } else {
            Blocker::new(Some(first.reference()), says)
        };
        finding.wait.on.push(blocker);
        if deleting && !finalizer_names.is_empty() {
            finding.steps.push(Step {
                when: When::Intended,
                text: format!(
                    "see what holds {}{more}, and resolve that. The definition is then removed automatically",
                    first.name()
                ),
                command: Some(Command::explain(name, first.name(), first.namespace())),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            });
        }
    }
    if groups.len() > limits::BLOCKERS {
        let rest: usize = groups
            .iter()
            .skip(limits::BLOCKERS)
            .map(|(_, objects)| objects.len())
            .sum();
        finding.wait.on.push(Blocker::new(
            None,
            format!("and {rest} more objects with other finalizers"),
        ));
    }
    if deleting {
        finding.steps.insert(
            0,
            Step {
                when: When::Mistake,
                text: "save what is left now. The deletion cannot be taken back, and the server is deleting all objects of \
                       this type"
                    .into(),
                command: Some(Command::save_all(name)),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            },
        );
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then: "the server tries again and again, and it stays until the objects named above are gone"
                .into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::testing::{
            told::{said, verdict},
            world::{World, bare as object},
        },
        snapshot::{
            Why,
            facts::{Query, Resource},
        },
    };

    const NAME: &str = "customresourcecleanup.apiextensions.k8s.io";

    fn definition(reason: &str) -> Object {
        object(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            json!({
                "metadata": {"name": "as.x.test", "finalizers": [NAME], "deletionTimestamp": "2026-01-01T11:00:00Z"},
                "spec": {"group": "x.test", "names": {"plural": "as"}},
                "status": {"conditions": [{"type": "Terminating", "status": "True", "reason": reason,
                    "message": "could not list instances: conversion webhook for x.test/v1 failed"}]},
            }),
        )
    }

    #[test]
    fn a_type_that_is_not_served_may_still_have_instances() {
        let diagnosis = World::closed().explain(&definition("InstanceDeletionFailed"));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Failing));
        assert!(said(&diagnosis).contains("conversion webhook for x.test/v1 failed"));
        assert!(said(&diagnosis).contains("is not known"));
        assert_eq!(diagnosis.waits[0].vetoes, [Veto::ObjectsStayStored]);
    }

    #[test]
    fn a_type_that_we_may_not_list_is_unknown_even_if_deletion_failed_before() {
        let query = Query::List {
            resource: Resource::new("x.test", "as"),
            namespace: None,
        };
        let diagnosis = |why: Why| {
            World::closed()
                .with_type("x.test", "as")
                .answer(query.clone(), Err(why))
                .explain(&definition("InstanceDeletionFailed"))
        };
        let forbidden = diagnosis(Why::Forbidden("no".into()));
        assert_eq!(verdict(&forbidden, NAME), Some(Verdict::Unknown));
        let broken = diagnosis(Why::ServerError("conversion webhook failed".into()));
        assert_eq!(verdict(&broken, NAME), Some(Verdict::Failing));
    }

    #[test]
    fn a_type_without_instances_is_stalled() {
        let diagnosis = World::closed()
            .with_type("x.test", "as")
            .list("x.test", "as", "", Vec::new())
            .explain(&definition("InstanceDeletionPending"));
        assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
        assert_eq!(diagnosis.waits[0].vetoes, []);
    }
}
