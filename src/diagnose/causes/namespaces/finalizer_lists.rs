//! The two finalizer lists of a namespace, and who empties which.
//!
//! **Recognises** every finalizer of a namespace. **Why:** kube-controller-manager removes only `kubernetes`, and
//! only from `spec.finalizers`; any other entry there is for whoever put it there, through `/finalize`. Entries of
//! `metadata.finalizers` do not stop the deletion of the content, they keep the empty Namespace object, and
//! `/finalize` of `spec.finalizers` does not help against them. With `spec.finalizers` empty nobody deletes the
//! content. Source: `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`,
//! `pkg/registry/core/namespace/strategy.go`. **Wants** the content, before it advises to take anything out.
//! **Concludes** what the catalogue knows of the name. **Advises** to take out exactly one entry, with the verb that looks
//! at everything again, and never `kubernetes` with it.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice,
            namespaces::{content_groups, content_remaining},
            operators::known_finalizer,
        },
        model::{Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    knowledge::{Consequence, schema::Runs},
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// What the namespace controller removes itself.
const BUILT_IN: &str = "kubernetes";

pub(crate) fn entry_of_namespace(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    match finalizer.list {
        List::Spec if finalizer.name == BUILT_IN => content_remaining::content(namespace, finalizer, view),
        List::Spec => foreign(namespace, finalizer, view),
        List::Metadata => metadata(namespace, finalizer, view),
    }
}

/// An entry of `spec.finalizers` that is not Kubernetes' own.
fn foreign(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let name = namespace.name();
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&namespace.reference()).into()),
    );
    let nobody = entry
        .as_ref()
        .is_some_and(|entry| entry.holder.runs == Runs::Nobody);
    let who = match &entry {
        Some(entry) => format!("removed by {}", entry.removed_by),
        None => "whoever put it there must remove it, through /finalize".to_owned(),
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        if nobody {
            Verdict::Orphaned
        } else {
            Verdict::Unknown
        },
        format!(
            "it stands in spec.finalizers, where kube-controller-manager removes only {BUILT_IN}; {who}. The conditions \
             say nothing of it"
        ),
    );
    finding.evidence.push(Evidence {
        source: format!("Namespace {name} spec.finalizers"),
        value: entries(namespace, "/spec/finalizers"),
        strength: Strength::Proof,
    });
    finding.do_not.push(format!(
        "empty the whole list: {BUILT_IN} has to stay until the content is gone, or that stays behind in etcd"
    ));
    finding.do_not.push(
        "patch spec.finalizers on the namespace itself: the server ignores that without an error".into(),
    );
    if namespace.deletion().is_none() {
        return finding;
    }
    if has_built_in(namespace) {
        finding.say(format!(
            ". Its turn comes when nothing is left in it and {BUILT_IN} is out"
        ));
        return finding;
    }
    if !may_go(namespace, &mut finding, view) {
        return finding;
    }
    let what = match &entry {
        Some(entry) if entry.if_removed.consequence == Consequence::None => {
            "nothing is lost by it".to_owned()
        }
        Some(entry) => format!(
            "{}: {}",
            entry.if_removed.consequence.to_string().to_uppercase(),
            entry.if_removed.text
        ),
        None => {
            "CLEAN-UP IS SKIPPED if somebody still meant to do something on it, and that cannot be taken back"
                .to_owned()
        }
    };
    finding.steps.push(Step {
        when: if nobody {
            "what to do"
        } else {
            "nobody handles it?"
        },
        text: format!(
            "{what}. Take out {} alone; every other entry stays",
            finalizer.name
        ),
        command: Some(format!(
            "kubectl finalizers finalize {name} --finalizer {}",
            advice::word(&finalizer.name)
        )),
        safety: if nobody { Safety::Safe } else { Safety::Destructive },
    });
    finding
}

/// An entry of `metadata.finalizers`.
fn metadata(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let name = namespace.name();
    let mut finding = known_finalizer::by_its_entry(namespace, finalizer, view);
    finding.say(". It stands in metadata.finalizers, which /finalize of spec.finalizers does not touch");
    for (list, pointer) in [("metadata", "/metadata/finalizers"), ("spec", "/spec/finalizers")] {
        finding.evidence.push(Evidence {
            source: format!("Namespace {name} {list}.finalizers"),
            value: entries(namespace, pointer),
            strength: Strength::Proof,
        });
    }
    if namespace.deletion().is_none() || finding.wait.verdict == Verdict::InUse {
        return finding;
    }
    let removal_command = advice::removal_command(namespace, finalizer);
    if !may_go(namespace, &mut finding, view) {
        finding
            .steps
            .retain(|step| step.command.as_ref() != Some(&removal_command));
        return finding;
    }
    if finding.wait.verdict == Verdict::Orphaned {
        // The step is there, with what it costs.
        return finding;
    }
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&namespace.reference()).into()),
    );
    let cost = match entry {
        Some(entry) => format!(
            "{}: {}",
            entry.if_removed.consequence.to_string().to_uppercase(),
            entry.if_removed.text
        ),
        None => "CLEAN-UP IS SKIPPED: what it stands for is never done".to_owned(),
    };
    finding.steps.push(Step {
        when: "its product is gone?",
        text: format!(
            "{cost} Only if what handled it is really gone from this cluster for good, take out this one entry of this one \
             namespace"
        ),
        command: Some(removal_command),
        safety: Safety::Destructive,
    });
    finding
}

/// Whether nothing would be left behind if the namespace went now. Says what would.
pub(crate) fn may_go(namespace: &Object, finding: &mut Finding, view: &View<'_>) -> bool {
    let name = namespace.name();
    if has_built_in(namespace) {
        return true;
    }
    match view.content(name) {
        Ok(Some(content))
            if content.counts.is_empty() && content.gaps.is_empty() && view.silent_groups().is_empty() =>
        {
            true
        }
        Ok(Some(content)) if content.counts.is_empty() => {
            finding.say("; nothing was found in it, but not everything could be read, so it is not known what would be left behind");
            false
        }
        Ok(Some(content)) => {
            let more = if content.gaps.is_empty() && view.silent_groups().is_empty() {
                ""
            } else {
                ", and what could not be listed,"
            };
            let left = format!("{}{more}", content_groups::counted(&content.counts));
            finding.say(format!(
                ". spec.finalizers no longer has {BUILT_IN}, so nobody deletes what is in it, and that would be left behind: {left}"
            ));
            finding.outlook.push(Outlook {
                when: "when it goes".into(),
                then: format!("ORPHANED OBJECTS: {left} stay in etcd without a namespace"),
            });
            finding.steps.push(Step {
                when: "what to do",
                text: "see what is left in it, and delete that first".into(),
                command: Some(format!("kubectl finalizers scan --all -n {name}")),
                safety: Safety::Safe,
            });
            false
        }
        Ok(None) => false,
        Err(missing) => {
            finding.say(format!(
                "; what would be left behind is not known: {}",
                missing.in_words()
            ));
            false
        }
    }
}

/// Whether the namespace controller still has something to do.
fn has_built_in(namespace: &Object) -> bool {
    let mut entries = namespace.list("/spec/finalizers").iter();
    entries.any(|entry| entry.as_str() == Some(BUILT_IN))
}

fn entries(namespace: &Object, pointer: &str) -> String {
    let names: Vec<_> = namespace.list(pointer).iter().filter_map(Value::as_str).collect();
    if names.is_empty() {
        "empty".into()
    } else {
        names.join(", ")
    }
}
