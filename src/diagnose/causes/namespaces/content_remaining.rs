//! `spec.finalizers: kubernetes`: a namespace goes when everything in it is gone and every API group has said so.
//!
//! **Recognises** that entry. **Why:** the namespace controller asks discovery for every namespaced type
//! ([`crate::diagnose::causes::namespaces::discovery_failure`]), deletes pods first and until they are gone (1.33 and later) asks nothing else to go, then
//! everything else, and counts what remains. Its conditions are what it saw last; while pods remain they may say
//! that all is gone. Source:
//! `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`. **Wants** the content,
//! listed, not believed, and one object of each of the largest groups in full. **Concludes** from what is really
//! there. **Advises** to resolve what is left, and never to empty `spec.finalizers`.

use jiff::Timestamp;

use crate::{
    diagnose::{
        causes::{
            advice,
            api_machinery::controller_manager,
            namespaces::{
                conditions::quote_conditions,
                content_deletion_failure,
                content_groups::{counted, groups, one_group, others},
                discovery_failure,
            },
            verdicts,
        },
        holder, limits,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        timing,
        view::View,
    },
    object::{Age, Finalizer},
    snapshot::{
        Seen,
        facts::{Content, Object},
    },
};

pub(crate) fn content(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&namespace.reference()).into()),
    );
    let life = entry.map(|entry| holder::life(&entry, None, view));
    let alive = life
        .as_ref()
        .map(|life| format!(", {}", life.in_words()))
        .unwrap_or_default();
    let says = format!(
        "removed by kube-controller-manager (namespace){alive}, once every API group answers and nothing is left in it"
    );
    let name = namespace.name();
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, says);
    let dead = discovery_failure::add_discovery_failures(&mut finding, view);
    let mut blind = true;
    match view.content(name) {
        Ok(Some(content)) => {
            blind = is_blind(content, view);
            left(&mut finding, content, (dead, blind), namespace, view);
        }
        Ok(None) => {}
        Err(missing) => {
            if !dead {
                finding.wait.verdict = Verdict::Unknown;
            }
            finding.say(format!(
                "; what is left in it is not known: {}",
                missing.in_words()
            ));
        }
    }
    finding
        .evidence
        .extend(life.iter().filter_map(holder::Life::evidence));
    content_deletion_failure::add_content_failures(&mut finding, namespace, view);
    unreported(&mut finding, namespace, view);
    if namespace.deletion().is_some() {
        outlook(&mut finding, name, blind, view);
    }
    quote_conditions(&mut finding, namespace, view);
    finding.do_not.push(
        "empty spec.finalizers through /finalize: what is left stays in etcd in a namespace that no longer exists, and \
         its clean-up never runs"
            .into(),
    );
    finding
}

/// Whether some of it could not be seen.
fn is_blind(content: &Content, view: &View<'_>) -> bool {
    !content.gaps.is_empty() || discovery_failure::is_partly_blind(view.silent_groups())
}

fn left(
    finding: &mut Finding,
    content: &Content,
    (dead, blind): (bool, bool),
    namespace: &Object,
    view: &View<'_>,
) {
    let name = namespace.name();
    let all: u64 = content.counts.values().sum();
    finding.evidence.push(Evidence {
        source: format!("a list of every type in {name}"),
        value: if blind {
            format!("{}, and some types could not be listed", objects(all))
        } else {
            objects(all)
        },
        strength: if blind || dead {
            Strength::Moderate
        } else {
            Strength::Proof
        },
    });
    let deleting = namespace.deletion().is_some();
    let groups = groups(content, deleting);
    for (at, group) in groups.iter().take(limits::CONTENT_GROUPS).enumerate() {
        one_group(finding, group, at < limits::EXPLAINED_IN_FULL, deleting, view);
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
        // What becomes of it all is said elsewhere.
        if blind && groups.is_empty() {
            finding.wait.verdict = Verdict::Unknown;
        }
        return;
    }
    others(finding, content, &groups, namespace, view);
    made_again(finding, content, namespace);
    if all == 0 {
        nothing_left(finding, content, dead, blind, namespace, view);
    } else {
        let and = if blind {
            ", and some types could not be listed"
        } else {
            ""
        };
        finding.say(format!(". Left now: {}{and}", counted(&content.counts)));
        if let Some(("False", _, message)) = namespace.condition("NamespaceContentRemaining") {
            let why = if content.counts.contains_key("pods") {
                "from Kubernetes 1.33 on they do while pods are left"
            } else if blind {
                "why is not known, as not everything could be listed"
            } else {
                "what the controller could not delete or list it does not count"
            };
            finding.say(format!(
                ". Its own conditions say \"{message}\", which is not so: {why}"
            ));
        }
    }
}

fn nothing_left(
    finding: &mut Finding,
    content: &Content,
    dead: bool,
    blind: bool,
    namespace: &Object,
    view: &View<'_>,
) {
    if blind {
        if !dead {
            finding.wait.verdict = Verdict::Unknown;
        }
        let unread: Vec<_> = content
            .gaps
            .iter()
            .filter_map(|gap| match &gap.what {
                crate::snapshot::What::TypeIn { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let which = if unread.is_empty() || unread.len() > limits::TYPES_IN_SENTENCE {
            String::new()
        } else {
            format!(" ({})", unread.join(", "))
        };
        finding.say(format!(
            "; nothing was found in it, but not everything could be read{which}"
        ));
        return;
    }
    if dead {
        finding.say("; nothing is left in it, and only the API groups below are in the way");
        return;
    }
    finding.say("; nothing is left in it");
    finding.wait.verdict = if moved_recently(namespace, view) {
        Verdict::Waiting
    } else {
        verdicts::nothing_blocks(namespace, view)
    };
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(namespace));
    }
}

/// The first is what people search for: it is what stands in the log of the restore or the pipeline that failed.
fn outlook(finding: &mut Finding, name: &str, blind: bool, view: &View<'_>) {
    finding.outlook.push(Outlook {
        when: "until it is gone".into(),
        then: format!(
            "nothing can be created in it: unable to create new content in namespace {name} because it is being terminated"
        ),
    });
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: match controller_manager::stale(view) {
            Ok(Some(_)) => "it stays at least until kube-controller-manager runs again".into(),
            Err(_) if !finding.wait.on.is_empty() => {
                "it stays at least until what is named above is gone, and whether kube-controller-manager runs, which \
                 then has to act, is not known"
                    .into()
            }
            _ if !finding.wait.on.is_empty() => "it stays until what is named above is gone".into(),
            Ok(None) if !blind => "the namespace controller looks again within a minute".into(),
            _ => "it stays until what could not be seen is in order, if that is what holds it".into(),
        },
    });
}

/// Nothing can be created in a namespace that is being deleted, as admission forbids that on every type that this
/// server stores (`kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go`). It is possible where
/// that plugin is switched off, where another API server serves the type, and for a moment while one of several API
/// servers has not heard of the deletion.
fn made_again(finding: &mut Finding, content: &Content, namespace: &Object) {
    let Some(deletion) = namespace.deletion() else {
        return;
    };
    let newer = |seen: &&Seen| seen.created.is_some_and(|created| created > deletion.timestamp);
    let made: Vec<_> = content.kept.iter().filter(newer).collect();
    if let Some(first) = made.first() {
        finding.say(format!(
            ". {} created after the deletion was asked for, such as {} {}: somebody may go on making them, and then it never \
             ends; an API server should forbid that (admission plugin NamespaceLifecycle)",
            match made.len() {
                1 => "1 object was".to_owned(),
                count => format!("{count} objects were"),
            },
            first.object.type_name,
            first.object.name
        ));
    }
}

/// A controller that is at work writes its conditions after the first look, which begins within five seconds.
fn unreported(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    let silent = namespace.list("/status/conditions").is_empty();
    let Some(deletion) = namespace.deletion().filter(|_| silent) else {
        return;
    };
    // Where something is in the way, that is why; much of it is only there because the controller has acted.
    let blocked = finding.wait.on.iter().any(|blocker| !blocker.rest);
    if blocked
        || timing::is_deletion_recent(namespace, view)
        || !matches!(controller_manager::stale(view), Ok(None))
    {
        return;
    }
    let age = Age::between(deletion.requested_at(), view.now());
    finding.say(format!(
        ". After {age} the namespace controller has not written a single condition: it does not run, or cannot finish its \
         first look"
    ));
    finding.steps.push(Step {
        when: "what to do",
        text: "see whether the namespace controller runs: its name in --controllers of kube-controller-manager, and its log"
            .into(),
        command: Some(
            "kubectl -n kube-system get pods -l component=kube-controller-manager -o yaml | grep -e --controllers".into(),
        ),
        safety: Safety::Safe,
    });
}

/// Whether the controller wrote a condition just now: then it is at work, however old the deletion is.
fn moved_recently(namespace: &Object, view: &View<'_>) -> bool {
    namespace
        .list("/status/conditions")
        .iter()
        .filter_map(|condition| {
            condition
                .get("lastTransitionTime")?
                .as_str()?
                .parse::<Timestamp>()
                .ok()
        })
        .any(|time| Age::between(time, view.now()).0.as_secs() < timing::SOON)
}

fn objects(count: u64) -> String {
    match count {
        0 => "no objects".into(),
        1 => "1 object".into(),
        _ => format!("{count} objects"),
    }
}

#[cfg(test)]
mod tests;
