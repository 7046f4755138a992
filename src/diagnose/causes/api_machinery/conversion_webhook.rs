//! A conversion webhook that is gone: objects stored in another version can be neither listed nor deleted.
//!
//! **Recognises** `conversion webhook for GROUP/VERSION, Kind=KIND failed` in what a list or the namespace
//! controller was told, and the definition with `spec.conversion.strategy: Webhook`. **Why:** the API server converts
//! each object whose stored version is not the one asked for, and one that it cannot convert fails the whole list;
//! so neither the namespace nor the definition is ever empty. Source:
//! `kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/webhook_converter.go`. **Wants** the definition and
//! the Service behind its webhook. **Concludes** `failing`, with the Service as root cause. **Advises** to bring it
//! back; `strategy: None` only where its product is uninstalled, with what that does to the objects; never to take
//! the finalizer of the definition out.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        causes::api_machinery::webhook_backend,
        model::{Blocker, Finding, Safety, Step, Verdict},
        view::View,
    },
    object::ResourceType,
    snapshot::facts::Object,
};

const SIGN: &str = "conversion webhook for ";

/// Names the definitions whose conversion these texts say has failed.
pub(crate) fn add_conversion_failure<'a>(
    finding: &mut Finding,
    texts: impl Iterator<Item = &'a str>,
    view: &View<'_>,
) {
    let failed: BTreeSet<_> = texts.flat_map(kinds).collect();
    for (group, kind) in failed {
        finding.wait.verdict = Verdict::Failing;
        let of_kind = |ty: &&ResourceType| ty.group == group && ty.kind == kind;
        let Some(ty) = view.types().iter().find(of_kind) else {
            continue;
        };
        let name = ty.name();
        match view.definition(&name) {
            Ok(Some(crd)) => {
                if let Some(mut blocker) = webhook(finding, crd, view) {
                    let says = "its conversion webhook cannot be called, so none of its objects that is stored in another \
                                version can be listed or deleted";
                    let on = std::mem::take(&mut blocker.on);
                    blocker = Blocker::new(Some(crd.reference()), says);
                    blocker.on = on;
                    finding.wait.on.push(blocker);
                    finding.do_not.push(format!(
        "take customresourcecleanup.apiextensions.k8s.io out of {name}: the objects that cannot be read now stay in etcd, \
         and come back with the next definition of that name (ORPHANED OBJECTS)"
    ));
                }
            }
            Ok(None) => finding.say(format!("; the definition {name} has gone since")),
            Err(missing) => finding.say(format!(
                "; which webhook {name} is converted by is not known: {}",
                missing.in_words()
            )),
        }
    }
}

/// `GROUP` and `KIND` of each failed conversion.
fn kinds(text: &str) -> Vec<(&str, &str)> {
    text.split(SIGN)
        .skip(1)
        .filter_map(|rest| {
            let (version, rest) = rest.split_once(", Kind=")?;
            let (kind, _) = rest.split_once(" failed")?;
            let (group, _) = version.split_once('/')?;
            Some((group, kind))
        })
        .collect()
}

/// Whether this text says that a conversion failed.
pub(crate) fn failed(text: &str) -> bool {
    !kinds(text).is_empty()
}

/// What this definition is converted by, as a blocker of whatever waits for its objects, and what to do about it.
pub(crate) fn webhook(finding: &mut Finding, crd: &Object, view: &View<'_>) -> Option<Blocker> {
    let name = crd.name();
    if crd.text("/spec/conversion/strategy") != "Webhook" {
        finding.say(format!(
            "; {name} is no longer converted by a webhook, so the next try should get through, within a minute or two"
        ));
        return None;
    }
    let mut blocker = Blocker::new(None, String::new());
    let config = crd.value.pointer("/spec/conversion/webhook/clientConfig");
    match config.and_then(|config| webhook_backend::of(config, view)) {
        Some(service) => {
            blocker.on.push(service.blocker());
            finding.evidence.push(service.evidence());
            finding.steps.push(Step {
                when: "what to do",
                text: format!(
                    "bring back the conversion webhook of {name}, Service {}/{}: then its objects can be read, and the \
                     deletion goes on by itself",
                    service.namespace, service.name
                ),
                command: Some(service.command()),
                safety: Safety::Safe,
            });
        }
        None => finding.say(format!(
            "; {name} is converted by a webhook at a URL, which only the API server can try"
        )),
    }
    finding.steps.push(Step {
        when: "product is gone?",
        text: format!(
            "FIELDS ARE LOST where the versions of {name} differ: without a webhook only apiVersion is changed, what the \
             other version does not know is pruned at the next write, and whatever still uses the objects may misread \
             them. Only if its product is really uninstalled and the objects are to go: save the definition, and convert \
             with strategy None"
        ),
        command: Some(format!(
            "kubectl get crd/{name} -o yaml > {name}-backup.yaml && kubectl patch crd/{name} --type=merge -p \
             '{{\"spec\":{{\"conversion\":{{\"strategy\":\"None\",\"webhook\":null}}}}}}'"
        )),
        safety: Safety::Destructive,
    });
    Some(blocker)
}
