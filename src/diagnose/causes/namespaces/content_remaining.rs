//! `spec.finalizers: kubernetes`: a namespace stays until its content is gone and every API group answers.
//!
//! # Symptom
//!
//! `kubectl delete namespace` does not return. The namespace stays `Terminating`, and its conditions say
//! `NamespaceContentRemaining` or `NamespaceFinalizersRemaining` (`Some content in the namespace has finalizers
//! remaining`). New objects are refused: `unable to create new content in namespace NAME because it is being
//! terminated`.
//!
//! ```text
//! $ kubectl finalizers explain ns/opensearch --from tests/stories/opensearch-namespace-with-operator/cluster.yaml
//! ```
//!
//! # Why
//!
//! The namespace controller asks discovery for every namespaced type
//! ([`crate::diagnose::causes::namespaces::discovery_failure`]). From 1.33 on it deletes the pods first, and deletes
//! nothing else until they are gone. Then it deletes everything else, and counts what remains. Its conditions show what
//! it saw last. While pods remain, they may claim that all content is gone.
//!
//! # Before you act
//!
//! `kubectl get all` shows only few types. List what remains with the explanation. Each object has its own finalizer,
//! and each finalizer protects something.
//!
//! # If it was a mistake
//!
//! The deletion of a namespace cannot be withdrawn with kubectl, and its content is being deleted already. Keep the
//! disks at once: `kubectl finalizers rescue pv/NAME --only-retain`; the explanation names the volumes.
//!
//! # If it was intended
//!
//! Resolve what remains, object by object. The namespace then goes by itself.
//!
//! # Do not
//!
//! Do not empty `spec.finalizers` through `/finalize`, as many instructions say. The content stays in etcd without a
//! namespace, and its clean-up never runs.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | objects remain, or an API group does not answer |
//! | failing | the API server rejects the deletion of the content |
//! | stalled | nothing remains, and the controller has not acted |
//! | unknown | a type could not be listed |
//!
//! # What it reads
//!
//! Lists of all types in the namespace: its conditions are not trusted. Then one object of each of the largest groups
//! in full.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            api_machinery::controller_manager,
            controller::Controller,
            namespaces::{
                conditions::add_conditions,
                content_deletion_failure,
                content_groups::{add_content_not_deleted_yet, add_group, counts_in_words, groups},
                discovery_failure,
            },
            verdicts,
        },
        kinds::Condition,
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::{Age, Finalizer},
    snapshot::{
        Seen,
        facts::{Content, Object},
    },
};

pub(crate) fn content_remains(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(namespace, finalizer, None, view);
    let said = controller
        .removes("kube-controller-manager")
        .part("namespace")
        .once("every API group answers and nothing is left in it");
    let name = namespace.name();
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, said);
    finding.tell_of(Page::of(module_path!()));
    let has_unavailable_groups = discovery_failure::add_discovery_failures(&mut finding, view);
    let mut is_incomplete = true;
    match view.content(name) {
        Ok(Some(content)) => {
            is_incomplete = has_unlisted_content(content, view);
            add_content(
                &mut finding,
                content,
                (has_unavailable_groups, is_incomplete),
                namespace,
                view,
            );
        }
        Ok(None) => {}
        Err(missing) => {
            if !has_unavailable_groups {
                finding.wait.verdict = Verdict::Unknown;
            }
            finding.say(format!("what is left in it is not known: {}", missing.in_words()));
        }
    }
    controller.add_evidence(&mut finding);
    content_deletion_failure::add_content_failures(&mut finding, namespace, view);
    add_missing_report(&mut finding, namespace, view);
    if namespace.deletion().is_some() {
        add_outlook(&mut finding, name, is_incomplete, view);
    }
    add_conditions(&mut finding, namespace, view);
    finding.do_not.push(
        "empty spec.finalizers through /finalize: what is left stays in etcd without a namespace. Its clean-up never \
         runs"
            .into(),
    );
    finding
}

/// Whether some content could not be listed.
fn has_unlisted_content(content: &Content, view: &View<'_>) -> bool {
    !content.gaps.is_empty() || discovery_failure::has_unknown_groups(view.silent_groups())
}

fn add_content(
    finding: &mut Finding,
    content: &Content,
    (has_unavailable_groups, is_incomplete): (bool, bool),
    namespace: &Object,
    view: &View<'_>,
) {
    let name = namespace.name();
    let all: u64 = content.counts.values().sum();
    finding.evidence.push(Evidence {
        source: format!("a list of every type in {name}"),
        value: if is_incomplete {
            format!("{}, and some types could not be listed", objects_in_words(all))
        } else {
            objects_in_words(all)
        },
        strength: if is_incomplete || has_unavailable_groups {
            Strength::Moderate
        } else {
            Strength::Proof
        },
    });
    let deleting = namespace.deletion().is_some();
    let groups = groups(content, deleting);
    for (index, group) in groups.iter().take(limits::CONTENT_GROUPS).enumerate() {
        add_group(finding, group, index < limits::EXPLAINED_IN_FULL, deleting, view);
    }
    if groups.len() > limits::CONTENT_GROUPS {
        let rest: usize = groups
            .iter()
            .skip(limits::CONTENT_GROUPS)
            .map(|group| group.objects.len())
            .sum();
        let more = groups.len() - limits::CONTENT_GROUPS;
        finding.wait.on.push(Blocker::rest(format!(
            "and {rest} more objects in {more} more groups"
        )));
    }
    if !deleting {
        // `impact` describes what happens to the content.
        if is_incomplete && groups.is_empty() {
            finding.wait.verdict = Verdict::Unknown;
        }
        return;
    }
    add_content_not_deleted_yet(finding, content, &groups, namespace, view);
    add_objects_created_later(finding, content, namespace);
    if all == 0 {
        add_nothing_left(
            finding,
            content,
            has_unavailable_groups,
            is_incomplete,
            namespace,
            view,
        );
    } else {
        let and = if is_incomplete {
            ", and some types could not be listed"
        } else {
            ""
        };
        finding.say(format!("Left now: {}{and}", counts_in_words(&content.counts)));
        if let Some(("False", _, message)) = namespace.condition("NamespaceContentRemaining") {
            let why = if content.counts.contains_key("pods") {
                "from Kubernetes 1.33 on they do while pods are left"
            } else if is_incomplete {
                "why is not known, as not everything could be listed"
            } else {
                "what the controller could not delete or list it does not count"
            };
            finding.say(format!(
                "Its own conditions say \"{message}\", incorrectly: {why}"
            ));
        }
    }
}

fn add_nothing_left(
    finding: &mut Finding,
    content: &Content,
    has_unavailable_groups: bool,
    is_incomplete: bool,
    namespace: &Object,
    view: &View<'_>,
) {
    if is_incomplete {
        if !has_unavailable_groups {
            finding.wait.verdict = Verdict::Unknown;
        }
        let unlisted: Vec<_> = content
            .gaps
            .iter()
            .filter_map(|gap| match &gap.what {
                crate::snapshot::What::TypeIn { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let which = if unlisted.is_empty() || unlisted.len() > limits::TYPES_IN_SENTENCE {
            String::new()
        } else {
            format!(" ({})", unlisted.join(", "))
        };
        finding.say(format!(
            "nothing was found in it, but not everything could be read{which}"
        ));
        return;
    }
    if has_unavailable_groups {
        finding.say("nothing is left in it, and only the API groups below are in the way");
        return;
    }
    finding.say("nothing is left in it");
    finding.wait.verdict = if wrote_condition_recently(namespace, view) {
        Verdict::Waiting
    } else {
        verdicts::nothing_blocks(namespace, view)
    };
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(namespace));
    }
}

/// Adds what happens meanwhile. People search for the first text, because the log of a failed restore or pipeline
/// contains it.
fn add_outlook(finding: &mut Finding, name: &str, is_incomplete: bool, view: &View<'_>) {
    finding.outlook.push(Outlook {
        when: Moment::UntilGone,
        then: format!(
            "nothing can be created in it (\"unable to create new content in namespace {name} because it is being terminated\")"
        ),
    });
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: match controller_manager::stale_lease(view) {
            Ok(Some(_)) => "it stays at least until kube-controller-manager runs again".into(),
            Err(_) if !finding.wait.on.is_empty() => {
                "it stays at least until what is named above is gone, and whether kube-controller-manager runs, which \
                 then has to act, is not known"
                    .into()
            }
            _ if !finding.wait.on.is_empty() => "it stays until what is named above is gone".into(),
            Ok(None) if !is_incomplete => "the namespace controller looks again within a minute".into(),
            _ => "it stays until what could not be seen is in order, if that is what holds it".into(),
        },
    });
}

/// Adds objects that were created after the deletion was requested.
///
/// Admission forbids that for every type that this API server stores
/// (`kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go`). It is possible if that plugin is
/// switched off, or if another API server serves the type. It is also possible for a moment, while one of several API
/// servers does not know of the deletion yet.
fn add_objects_created_later(finding: &mut Finding, content: &Content, namespace: &Object) {
    let Some(deletion) = namespace.deletion() else {
        return;
    };
    let is_newer = |seen: &&Seen| seen.created.is_some_and(|created| created > deletion.timestamp);
    let created_later: Vec<_> = content.kept.iter().filter(is_newer).collect();
    if let Some(first) = created_later.first() {
        finding.say(format!(
            "{} created after the deletion was asked for, such as {} {}: somebody may go on making them, and then it never \
             ends; an API server should forbid that (admission plugin NamespaceLifecycle)",
            match created_later.len() {
                1 => "1 object was".to_owned(),
                count => format!("{count} objects were"),
            },
            first.object.type_name,
            first.object.name
        ));
    }
}

/// Adds that the namespace controller has not reported on this deletion. A controller that works writes its
/// conditions after its first sync, which begins within five seconds.
fn add_missing_report(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    let has_no_conditions = Condition::all(namespace).next().is_none();
    let Some(deletion) = namespace.deletion().filter(|_| has_no_conditions) else {
        return;
    };
    // A blocker explains the missing conditions. Many blockers only exist because the controller has acted.
    let has_blocker = finding.wait.on.iter().any(|blocker| !blocker.rest);
    if has_blocker
        || timing::is_deletion_recent(namespace, view)
        || !matches!(controller_manager::stale_lease(view), Ok(None))
    {
        return;
    }
    let age = Age::between(deletion.requested_at(), view.now());
    finding.say(format!(
        "After {age} the namespace controller has not written a single condition: it does not run, or cannot finish its \
         first look"
    ));
    finding.steps.push(Step {
        when: When::Now,
        text: "see whether the namespace controller runs: its name in --controllers of kube-controller-manager, and its log"
            .into(),
        command: Some(Command::of(
            "kubectl -n kube-system get pods -l component=kube-controller-manager -o yaml | grep -e --controllers",
            [],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}

/// Whether the controller wrote a condition just now. Then it works, however old the deletion is.
fn wrote_condition_recently(namespace: &Object, view: &View<'_>) -> bool {
    Condition::all(namespace)
        .filter_map(Condition::changed)
        .any(|time| Age::between(time, view.now()).0.as_secs() < timing::SOON)
}

fn objects_in_words(count: u64) -> String {
    match count {
        0 => "no objects".into(),
        1 => "1 object".into(),
        _ => format!("{count} objects"),
    }
}

#[cfg(test)]
mod tests;
