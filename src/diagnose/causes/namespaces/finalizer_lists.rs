//! The two finalizer lists of a namespace, and who empties which.
//!
//! # Symptom
//!
//! A namespace stays `Terminating` although it is empty. `kubectl get namespace NAME -o yaml` shows an entry beside
//! `kubernetes` in `spec.finalizers`, or one in `metadata.finalizers`.
//!
//! ```text
//! $ kubectl finalizers explain ns/team-a --from tests/causes/namespaces.yaml
//! ```
//!
//! # Why
//!
//! kube-controller-manager removes only `kubernetes`, and only from `spec.finalizers`. Whoever added another entry
//! there must remove it, through `/finalize`. Entries of `metadata.finalizers` do not stop the deletion of the content.
//! They keep the empty Namespace object, and `/finalize` of `spec.finalizers` does not remove them. If
//! `spec.finalizers` is empty, nobody deletes the content.
//!
//! # Before you act
//!
//! Find out who put the entry there and what it protects. The catalogue knows those of many products.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn with kubectl. Keep the disks with `kubectl finalizers rescue pv/NAME
//! --only-retain`; the explanation names the volumes.
//!
//! # If it was intended
//!
//! Bring the controller back. If it will never come back, remove exactly one entry with `kubectl finalizers finalize`,
//! which checks everything again.
//!
//! # Do not
//!
//! Do not remove `kubernetes` together with it, and do not empty the list. The content would stay in etcd.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | orphaned | the catalogue knows that nobody removes this entry any more |
//! | unknown | it is not known whether its controller lives |
//!
//! # What it reads
//!
//! The content of the namespace, before any removal is advised.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`
//! - `kubernetes/kubernetes:pkg/registry/core/namespace/strategy.go`

use std::mem;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            api_machinery::no_finalizers,
            cause::{Cause, On, Reads, Tells},
            namespaces::{content_groups, content_remaining},
            operators::known_finalizer,
        },
        model::{
            Evidence, Finding, Liveness, Moment, Outlook, Page, Safety, Said, Step, Strength, Verdict, When,
        },
        view::View,
    },
    knowledge::{Consequence, schema::Runs},
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// The entry that the namespace controller removes itself.
const BUILT_IN: &str = "kubernetes";

pub(crate) const CAUSE: Cause = Cause {
    types: &[("", "namespaces")],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Finalizer(explain_entry),
};

fn explain_entry(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    match finalizer.list {
        List::Spec if finalizer.name == BUILT_IN => {
            content_remaining::content_remains(namespace, finalizer, view)
        }
        List::Spec => other_spec_entry(namespace, finalizer, view),
        List::Metadata => metadata_entry(namespace, finalizer, view),
    }
}

/// The finding for an entry of `spec.finalizers` that is not `kubernetes`.
fn other_spec_entry(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let name = namespace.name();
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&namespace.reference()).into()),
    );
    let has_no_controller = entry
        .as_ref()
        .is_some_and(|entry| entry.holder.runs == Runs::Nobody);
    let in_spec = format!(
        "it stands in spec.finalizers, where kube-controller-manager removes only {BUILT_IN}, and the conditions say \
         nothing of it"
    );
    let said = match &entry {
        Some(entry) => Said::removed_by(entry.removed_by.clone(), Liveness::Unknown, Vec::new()).now(in_spec),
        None => Said::from(in_spec).now("whoever put it there must remove it, through /finalize"),
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        if has_no_controller {
            Verdict::Orphaned
        } else {
            Verdict::Unknown
        },
        said,
    );
    finding.tell_of(Page::of(module_path!()));
    finding.evidence.push(Evidence {
        source: format!("Namespace {name} spec.finalizers"),
        value: entries_in_words(namespace, List::Spec),
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
    if has_kubernetes_entry(namespace) {
        finding.say(format!(
            "Its turn comes when nothing is left in it and {BUILT_IN} is out"
        ));
        return finding;
    }
    if !leaves_nothing_behind(namespace, &mut finding, view) {
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
        when: if has_no_controller {
            When::Now
        } else {
            When::NobodyHandles
        },
        text: format!(
            "{what}. Take out {} alone; every other entry stays",
            finalizer.name
        ),
        command: Some(Command::of(
            "kubectl finalizers finalize {} --finalizer {}",
            [name, &finalizer.name],
        )),
        safety: if has_no_controller {
            Safety::Safe
        } else {
            Safety::Destructive
        },
        lets_go: Vec::new(),
    });
    finding
}

/// The finding for an entry of `metadata.finalizers`.
fn metadata_entry(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let name = namespace.name();
    let mut finding = known_finalizer::explain_by_entry(namespace, finalizer, view);
    finding.say("It stands in metadata.finalizers, which /finalize of spec.finalizers does not touch");
    for (place, list) in [("metadata", List::Metadata), ("spec", List::Spec)] {
        finding.evidence.push(Evidence {
            source: format!("Namespace {name} {place}.finalizers"),
            value: entries_in_words(namespace, list),
            strength: Strength::Proof,
        });
    }
    if namespace.deletion().is_none() || finding.wait.verdict == Verdict::InUse {
        return finding;
    }
    let removal_command = advice::removal_command(namespace, finalizer);
    if !leaves_nothing_behind(namespace, &mut finding, view) {
        finding
            .steps
            .retain(|step| step.command.as_ref() != Some(&removal_command));
        return finding;
    }
    if finding.wait.verdict == Verdict::Orphaned {
        // The step exists already, with its cost.
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
        when: When::ProductGone,
        text: format!(
            "{cost} Only if what handled it is really gone from this cluster for good, remove this one entry of this one \
             namespace"
        ),
        command: Some(removal_command),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
    finding
}

/// A Namespace in whose lists nothing is left.
pub(crate) const NO_ENTRIES: Cause = Cause {
    types: &[("", "namespaces")],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Itself(without_entries),
};

fn without_entries(namespace: &Object, view: &View<'_>) -> Option<Finding> {
    let is_empty = namespace.finalizers().is_empty();
    is_empty.then(|| no_entries(namespace, view))
}

/// The finding about a namespace that is being deleted and has no entry in either list. It is deleted once more only if
/// nothing is left behind.
fn no_entries(namespace: &Object, view: &View<'_>) -> Finding {
    let mut finding = no_finalizers::nothing_holds_it(namespace);
    let delete_again = mem::take(&mut finding.steps);
    if leaves_nothing_behind(namespace, &mut finding, view) {
        finding.steps.extend(delete_again);
    }
    finding
}

/// Whether no content stays in etcd if the namespace is deleted now. Otherwise adds what stays.
fn leaves_nothing_behind(namespace: &Object, finding: &mut Finding, view: &View<'_>) -> bool {
    let name = namespace.name();
    if has_kubernetes_entry(namespace) {
        return true;
    }
    match view.content(name) {
        Ok(Some(content))
            if content.counts.is_empty() && content.gaps.is_empty() && view.silent_groups().is_empty() =>
        {
            true
        }
        Ok(Some(content)) if content.counts.is_empty() => {
            finding.say("nothing was found in it, but not everything could be read");
            false
        }
        Ok(Some(content)) => {
            let more = if content.gaps.is_empty() && view.silent_groups().is_empty() {
                ""
            } else {
                ", and what could not be listed,"
            };
            let remaining = format!("{}{more}", content_groups::counts_in_words(&content.counts));
            finding.say(format!(
                "spec.finalizers no longer has {BUILT_IN}, so nobody deletes what is in it, and that would be left behind: {remaining}"
            ));
            finding.outlook.push(Outlook {
                when: Moment::Goes,
                then: format!("ORPHANED OBJECTS: {remaining} stay in etcd without a namespace"),
            });
            finding.steps.push(Step {
                when: When::Now,
                text: "see what is left in it, and delete that first".into(),
                command: Some(Command::of("kubectl finalizers scan --all -n {}", [name])),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            });
            false
        }
        Ok(None) => false,
        Err(missing) => {
            finding.say(format!(
                "what would be left behind is not known: {}",
                missing.in_words()
            ));
            false
        }
    }
}

/// Whether the namespace controller still has work to do.
fn has_kubernetes_entry(namespace: &Object) -> bool {
    let mut entries = namespace.finalizers().into_iter();
    entries.any(|entry| entry.list == List::Spec && entry.name == BUILT_IN)
}

fn entries_in_words(namespace: &Object, list: List) -> String {
    let entries = namespace.finalizers().into_iter();
    let names: Vec<_> = entries
        .filter(|entry| entry.list == list)
        .map(|entry| entry.name)
        .collect();
    if names.is_empty() {
        "empty".into()
    } else {
        names.join(", ")
    }
}
