//! The content that remains in a namespace, in groups that a person can read.
//!
//! Objects of one type with the same finalizers form one group. One object of each of the largest groups is explained
//! in full. **Why** Pods come first: from Kubernetes 1.33 on, the namespace controller deletes nothing else until
//! they are gone (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`).

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    command::Command,
    diagnose::{
        causes::namespaces::content_deletion_failure,
        limits,
        model::{Blocker, Finding, Safety, Step, When},
        view::View,
    },
    snapshot::{
        Seen, What,
        facts::{Content, Object},
    },
};

/// Objects of one type with the same finalizers.
pub(crate) struct Group<'a> {
    type_name: &'a str,
    held_by: String,
    pub(crate) objects: Vec<&'a Seen>,
}

/// The groups that hold the namespace. If the namespace is being deleted, these are the objects that are being
/// deleted; otherwise all objects with finalizers. Pods come first, because everything else waits for them, then the
/// largest group.
pub(crate) fn groups(content: &Content, deleting: bool) -> Vec<Group<'_>> {
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

pub(crate) fn add_group(
    finding: &mut Finding,
    group: &Group<'_>,
    in_full: bool,
    deleting: bool,
    view: &View<'_>,
) {
    let Some(first) = group.objects.first() else {
        return;
    };
    let more = match group.objects.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    };
    let deletion_state = if first.deletion.is_some() {
        "being deleted"
    } else {
        "not being deleted"
    };
    let says = if group.held_by.is_empty() {
        format!("{deletion_state}, without a finalizer{more}")
    } else {
        format!("{deletion_state}, held by {}{more}", group.held_by)
    };
    let reference = &first.object;
    let plural = reference.type_name.split('.').next().unwrap_or_default();
    let whole = in_full.then(|| {
        view.object(
            reference.group(),
            plural,
            reference.namespace.as_deref().unwrap_or_default(),
            &reference.name,
        )
    });
    let blocker = match whole {
        Some(Ok(Some(whole))) => view.blocker(whole, says),
        Some(Ok(None)) => Blocker::new(Some(reference.clone()), format!("{says}; it has gone since")),
        _ => Blocker::new(Some(reference.clone()), says),
    };
    finding.wait.on.push(blocker);
    if deleting {
        finding.steps.push(Step {
            when: When::Now,
            text: format!("see what holds {}{more}, and resolve that", reference.name),
            command: Some(Command::explain(
                group.type_name,
                &reference.name,
                reference.place(),
            )),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
    }
}

/// Adds the objects that the namespace controller has not deleted yet.
pub(crate) fn add_content_not_deleted_yet(
    finding: &mut Finding,
    content: &Content,
    groups: &[Group<'_>],
    namespace: &Object,
    view: &View<'_>,
) {
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
    if let Some(pods) = rest.remove("pods") {
        let s = if pods == 1 { "" } else { "s" };
        let says = format!("{pods} pod{s}: not being deleted yet");
        finding.wait.on.push(Blocker::rest(says));
    }
    if rest.is_empty() {
        return;
    }
    let is_refused = matches!(
        namespace.condition("NamespaceDeletionContentFailure"),
        Some(("True", ..))
    );
    let why = if content.counts.contains_key("pods") && is_refused {
        // That is reason enough, whatever the version is.
        "not being deleted yet"
    } else if content.counts.contains_key("pods") {
        "not being deleted yet: from Kubernetes 1.33 on everything else waits until the pods are gone"
    } else if unseen_pods {
        "not being deleted yet; whether pods are left, for which everything else waits, is not known"
    } else {
        add_unheld_content(finding, &rest, namespace, view);
        return;
    };
    finding
        .wait
        .on
        .push(Blocker::rest(format!("{}: {why}", counts_in_words(&rest))));
}

/// `3 pods, 1 configmaps` and so on, the largest number first.
pub(crate) fn counts_in_words(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(**count));
    let mut named: Vec<_> = counts
        .iter()
        .take(limits::TYPES_IN_SENTENCE)
        .map(|(type_name, count)| format!("{count} {type_name}"))
        .collect();
    let rest: u64 = counts
        .iter()
        .skip(limits::TYPES_IN_SENTENCE)
        .map(|(_, count)| **count)
        .sum();
    if rest > 0 {
        named.push(format!(
            "{rest} of {} other types",
            counts.len() - limits::TYPES_IN_SENTENCE
        ));
    }
    named.join(", ")
}

/// Adds the objects that no finalizer holds. They are deleted one after the other.
///
/// A request to delete very many objects may end before it is done, and the next request begins again
/// (`kubernetes/kubernetes#107948`). A request with a limit ends after one page
/// (`kubernetes/apiserver:pkg/registry/generic/registry/store.go` `DeleteCollection`). kubectl has no flag for that,
/// and limits itself to five requests a second when it deletes object by object.
fn add_unheld_content(
    finding: &mut Finding,
    rest: &BTreeMap<String, u64>,
    namespace: &Object,
    view: &View<'_>,
) {
    let timed_out = content_deletion_failure::timed_out(namespace);
    let is_slow = timed_out
        || rest
            .values()
            .any(|count| *count >= limits::OBJECTS_IN_ONE_REQUEST);
    let slow_note = if is_slow {
        "; slow, not stuck, as long as their number falls"
    } else {
        ""
    };
    finding.wait.on.push(Blocker::rest(format!(
        "{}: not being deleted yet, and no finalizer holds them{slow_note}",
        counts_in_words(rest)
    )));
    let Some((type_name, count)) = rest.iter().max_by_key(|(_, count)| **count) else {
        return;
    };
    let (plural, group) = type_name.split_once('.').unwrap_or((type_name, ""));
    let ty = view.resource_type(group, plural).filter(|ty| ty.namespaced);
    let Some(ty) = ty.filter(|_| is_slow) else {
        return;
    };
    let (when, runs) = if timed_out {
        (When::Now, "run")
    } else {
        (When::NoProgress, "may run")
    };
    let page = limits::OBJECTS_IN_ONE_STEP;
    finding.steps.push(Step {
        when,
        text: format!(
            "DELETES what the deletion of the namespace deletes anyway, {page} at a time: run it {} times, and again if some \
             are left. Its own requests {runs} out of time over {count} {type_name}",
            count.div_ceil(page)
        ),
        command: Some(Command::of(
            "kubectl delete --raw {}?limit={} > deleted.json",
            [
                &ty.path(&ty.version, Some(namespace.name())),
                &page.to_string(),
            ],
        )),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
}
