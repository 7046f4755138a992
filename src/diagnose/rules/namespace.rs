//! `spec.finalizers: kubernetes`: a namespace goes when everything in it is gone and every API group has said so.
//!
//! **Recognises** that entry. **Why:** the namespace controller asks discovery for every namespaced type
//! ([`super::dead_api`]), deletes pods first and until they are gone (1.33 and later) asks nothing else to go, then
//! everything else, and counts what remains. Its conditions are what it saw last; while pods remain they may say
//! that all is gone. Source:
//! `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`. **Wants** the content,
//! listed, not believed, and one object of each of the largest groups in full. **Concludes** from what is really
//! there. **Advises** to resolve what is left, and never to empty `spec.finalizers`.

use std::{cmp::Reverse, collections::BTreeMap};

use jiff::Timestamp;

use super::{content_failure, dead_api};
use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::{Age, Finalizer},
    snapshot::{
        Seen, What,
        facts::{Content, Object},
    },
};

/// More groups of objects than this are summed up.
const SHOWN: usize = 8;
/// Of so many groups one object is explained in full: each costs a few requests.
const DEEP: usize = 3;
/// More types than this are summed up in a sentence.
const NAMED: usize = 4;

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

/// Objects of one type with the same finalizers.
struct Group<'a> {
    type_name: &'a str,
    held_by: String,
    objects: Vec<&'a Seen>,
}

/// What holds the namespace: with its own deletion asked for, objects on their way out; before that, all that have
/// finalizers. Pods first, because everything else waits for them, then the largest group.
fn groups(content: &Content, deleting: bool) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(&str, String), Vec<&Seen>> = BTreeMap::new();
    for seen in content
        .kept
        .iter()
        .filter(|seen| seen.deletion.is_some() || !deleting)
    {
        let held_by: Vec<_> = seen.finalizers.iter().map(ToString::to_string).collect();
        groups
            .entry((&seen.object.type_name, held_by.join(", ")))
            .or_default()
            .push(seen);
    }
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|((type_name, held_by), objects)| Group {
            type_name,
            held_by,
            objects,
        })
        .collect();
    groups.sort_by_key(|group| (group.type_name != "pods", Reverse(group.objects.len())));
    groups
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

fn one_group(finding: &mut Finding, group: &Group<'_>, deep: bool, deleting: bool, view: &View<'_>) {
    let Some(first) = group.objects.first() else {
        return;
    };
    let more = match group.objects.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    };
    let going = if first.deletion.is_some() {
        "being deleted"
    } else {
        "not being deleted"
    };
    let says = if group.held_by.is_empty() {
        format!("{going}, without a finalizer{more}")
    } else {
        format!("{going}, held by {}{more}", group.held_by)
    };
    let reference = &first.object;
    let plural = reference.type_name.split('.').next().unwrap_or_default();
    let whole = deep.then(|| {
        view.object(
            reference.group(),
            plural,
            reference.namespace.as_deref().unwrap_or_default(),
            &reference.name,
        )
    });
    let blocker = match whole {
        Some(Ok(Some(whole))) => super::as_blocker(whole, says, view),
        Some(Ok(None)) => Blocker::new(Some(reference.clone()), format!("{says}; it has gone since")),
        _ => Blocker::new(Some(reference.clone()), says),
    };
    finding.wait.on.push(blocker);
    if deleting {
        finding.steps.push(Step {
            when: "what to do",
            text: format!("see what holds {}{more}, and resolve that", reference.name),
            command: Some(format!(
                "kubectl finalizers explain {} {} -n {}",
                group.type_name,
                reference.name,
                reference.namespace.as_deref().unwrap_or_default()
            )),
            safety: Safety::Safe,
        });
    }
}

/// What has not been asked to go yet.
fn others(finding: &mut Finding, content: &Content, groups: &[Group<'_>]) {
    let mut rest = content.counts.clone();
    for group in groups {
        if let Some(count) = rest.get_mut(group.type_name) {
            *count = count.saturating_sub(group.objects.len() as u64);
        }
    }
    rest.retain(|_, count| *count > 0);
    if rest.is_empty() {
        return;
    }
    let unseen_pods = content
        .gaps
        .iter()
        .any(|gap| matches!(&gap.what, What::TypeIn { name, .. } if name == "pods"));
    let why = if content.counts.contains_key("pods") {
        "not being deleted yet: from Kubernetes 1.33 on everything else waits until the pods are gone"
    } else if unseen_pods {
        "not being deleted yet; whether pods are left, for which everything else waits, is not known"
    } else {
        "not being deleted yet"
    };
    finding
        .wait
        .on
        .push(Blocker::rest(format!("{}: {why}", counted(&rest))));
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
                What::TypeIn { name, .. } => Some(name.as_str()),
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

/// `3 pods, 1 configmaps` and so on, the most first.
pub(super) fn counted(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(**count));
    let mut named: Vec<_> = counts
        .iter()
        .take(NAMED)
        .map(|(type_name, count)| format!("{count} {type_name}"))
        .collect();
    let rest: u64 = counts.iter().skip(NAMED).map(|(_, count)| **count).sum();
    if rest > 0 {
        named.push(format!("{rest} of {} other types", counts.len() - NAMED));
    }
    named.join(", ")
}

/// The controller's own words, because people search for them; as evidence, because they may be old or wrong.
fn quote_conditions(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    let all = namespace.list("/status/conditions");
    if all.is_empty() && namespace.deletion().is_some() {
        finding.evidence.push(Evidence {
            source: format!("Namespace {} status.conditions", namespace.name()),
            value: "none yet: the namespace controller has not reported on this deletion".into(),
            strength: Strength::Moderate,
        });
    }
    for kind in [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ] {
        if let Some(("True", _, message)) = namespace.condition(kind) {
            finding.evidence.push(Evidence {
                source: format!("Namespace {} condition {kind}", namespace.name()),
                value: message.to_owned(),
                strength: Strength::Moderate,
            });
        }
    }
    if let Some(("True", _, message)) = namespace.condition("NamespaceDeletionDiscoveryFailure")
        && view.silent_groups().is_empty()
    {
        finding.say(format!(
            "; at its last try an API group did not answer, and now all do: {message}"
        ));
    }
    if let Some(("True", _, message)) = namespace.condition("NamespaceDeletionGroupVersionParsingFailure") {
        finding.wait.verdict = Verdict::Failing;
        finding.say(format!("; it fails: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{World, commands, object, said, verdict};
    use super::*;
    use crate::{
        object::{Deletion, List, ObjectRef},
        snapshot::{Gap, Why},
    };

    fn namespace(conditions: &serde_json::Value) -> Object {
        object(
            "",
            "namespaces",
            "Namespace",
            json!({
                "metadata": {"name": "n", "deletionTimestamp": "2026-01-01T11:00:00Z"},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"conditions": conditions},
            }),
        )
    }

    fn full(groups: usize, each: usize) -> Content {
        let mut content = Content::default();
        for group in 0..groups {
            for n in 0..each {
                content.kept.push(Seen {
                    object: ObjectRef {
                        type_name: "as.x.test".into(),
                        kind: "A".into(),
                        api_version: "x.test/v1".into(),
                        namespace: Some("n".into()),
                        name: format!("a-{group}-{n}"),
                        uid: String::new(),
                    },
                    created: None,
                    deletion: Some(Deletion {
                        timestamp: super::super::sample::NOW.parse().expect("a time"),
                        grace_seconds: 0,
                    }),
                    finalizers: vec![Finalizer {
                        list: List::Metadata,
                        name: format!("x.test/{group}"),
                    }],
                    conditions: Vec::new(),
                });
            }
        }
        content.counts.insert("as.x.test".into(), (groups * each) as u64);
        content
    }

    #[test]
    fn many_objects_are_summed_up() {
        let told = World::new()
            .content("n", full(12, 100))
            .explain(&namespace(&json!([])));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
        assert_eq!(told.waits[0].on.len(), SHOWN + 1);
        let said = said(&told);
        assert!(said.contains("(and 99 more like it)"), "{said}");
        assert!(said.contains("and 400 more objects in 4 more groups"), "{said}");
        assert_eq!(commands(&told).lines().count(), SHOWN);
    }

    #[test]
    fn nothing_found_is_not_nothing_left() {
        let gap = Gap {
            what: What::TypeIn {
                name: "secrets".into(),
                namespace: "n".into(),
                read: 0,
            },
            why: Why::Forbidden("no".into()),
        };
        let content = Content {
            gaps: vec![gap.clone()],
            ..Content::default()
        };
        let told = World::new().content("n", content).explain(&namespace(&json!([])));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Unknown));
        assert!(said(&told).contains("not everything could be read (secrets)"));
        assert!(told.gaps.contains(&gap));
    }

    #[test]
    fn a_controller_that_was_just_at_work_is_not_late() {
        let at = |time: &str| json!([{"type": "NamespaceContentRemaining", "status": "False", "message": "", "lastTransitionTime": time}]);
        for (time, expected) in [
            ("2026-01-01T11:59:40Z", Verdict::Waiting),
            ("2026-01-01T11:30:00Z", Verdict::Stalled),
        ] {
            let told = World::new()
                .content("n", Content::default())
                .explain(&namespace(&at(time)));
            assert_eq!(verdict(&told, "kubernetes"), Some(expected), "{time}");
        }
    }

    #[test]
    fn pods_that_their_kubelet_has_not_confirmed_are_no_failure() {
        let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
            "message": "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods"}]);
        let told = World::new()
            .content("n", full(1, 1))
            .explain(&namespace(&condition));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Waiting));
    }

    #[test]
    fn a_denial_is_quoted_and_its_webhook_is_left_alone() {
        let condition = json!([{"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
            "message": "Failed to delete all resource types, 1 remaining: admission webhook \"keep.x.test\" denied the request: no"}]);
        let told = World::new()
            .content("n", full(1, 1))
            .explain(&namespace(&condition));
        assert_eq!(verdict(&told, "kubernetes"), Some(Verdict::Failing));
        assert!(said(&told).contains("denied the request: no"));
        assert!(!commands(&told).contains("delete"), "{}", commands(&told));
    }
}
