//! `spec.finalizers: kubernetes`: a namespace goes when everything in it is gone and every API group has said so.
//!
//! **Recognises** that entry. **Why:** the namespace controller asks discovery for every namespaced type
//! ([`super::dead_api`]), deletes pods first and until they are gone (1.33 and later) asks nothing else to go, then
//! everything else, and counts what remains. Its conditions are what it saw last; while pods remain they may say
//! that all is gone. Source:
//! `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`. **Wants** the content,
//! listed, not believed, and one object of each of the largest groups in full. **Concludes** from what is really
//! there. **Advises** to resolve what is left, and never to empty `spec.finalizers`.

use jiff::Timestamp;

use super::{
    content_failure, dead_api,
    namespace_conditions::quote_conditions,
    namespace_content::{DEEP, Group, NAMED, SHOWN, counted, groups, one_group, others},
};
use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Strength, Verdict},
        view::View,
    },
    object::{Age, Finalizer},
    snapshot::facts::{Content, Object},
};

pub(super) fn content(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
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
    let dead = dead_api::look(&mut finding, view);
    match view.content(name) {
        Ok(Some(content)) => left(&mut finding, content, dead, namespace, view),
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
    content_failure::look(&mut finding, namespace, view);
    quote_conditions(&mut finding, namespace, view);
    finding.do_not.push(
        "empty spec.finalizers through /finalize: what is left stays in etcd in a namespace that no longer exists, and \
         its clean-up never runs"
            .into(),
    );
    finding
}

fn left(finding: &mut Finding, content: &Content, dead: bool, namespace: &Object, view: &View<'_>) {
    let name = namespace.name();
    let all: u64 = content.counts.values().sum();
    let blind = !content.gaps.is_empty() || dead_api::is_partly_blind(view.silent_groups());
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
    for (at, group) in groups.iter().take(SHOWN).enumerate() {
        one_group(finding, group, at < DEEP, deleting, view);
    }
    if groups.len() > SHOWN {
        let rest: usize = groups.iter().skip(SHOWN).map(|group| group.objects.len()).sum();
        let more = groups.len() - SHOWN;
        finding.wait.on.push(Blocker::rest(format!(
            "and {rest} more objects in {more} more groups"
        )));
    }
    if !deleting {
        not_deleted(finding, content, blind, &groups);
        return;
    }
    others(finding, content, &groups);
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
            finding.say(format!(
                ". Its own conditions say \"{message}\", which is not so: from Kubernetes 1.33 on they do while pods are left"
            ));
        }
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: match super::controller_manager::stale(view) {
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

fn not_deleted(finding: &mut Finding, content: &Content, blind: bool, groups: &[Group<'_>]) {
    let all: u64 = content.counts.values().sum();
    let held: usize = groups.iter().map(|group| group.objects.len()).sum();
    if blind && held == 0 {
        finding.wait.verdict = Verdict::Unknown;
    }
    finding.outlook.push(Outlook {
        when: "if it is deleted".into(),
        then: format!(
            "DATA LOSS: {} in it are deleted, and those that have finalizers ({held}) are waited for",
            objects(all)
        ),
    });
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
        let which = if unread.is_empty() || unread.len() > NAMED {
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
        super::nothing_blocks(namespace, view)
    };
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(super::nudge(namespace));
    }
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
        .any(|time| Age::between(time, view.now()).0.as_secs() < super::SOON)
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
