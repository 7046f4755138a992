//! What is left in a namespace, in groups that a person can take in.
//!
//! Objects of one type with the same finalizers are one group; one of each of the largest groups is explained in
//! full. **Why** the pods stand first: from Kubernetes 1.33 on the namespace controller asks nothing else to go until
//! they are gone (`kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`).

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    diagnose::{
        causes::namespaces::content_deletion_failure,
        limits,
        model::{Blocker, Finding, Safety, Step},
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

/// What holds the namespace: with its own deletion asked for, objects on their way out; before that, all that have
/// finalizers. Pods first, because everything else waits for them, then the largest group.
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

pub(crate) fn one_group(
    finding: &mut Finding,
    group: &Group<'_>,
    deep: bool,
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
        Some(Ok(Some(whole))) => view.blocker(whole, says),
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
pub(crate) fn others(
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
    let why = if content.counts.contains_key("pods") {
        "not being deleted yet: from Kubernetes 1.33 on everything else waits until the pods are gone"
    } else if unseen_pods {
        "not being deleted yet; whether pods are left, for which everything else waits, is not known"
    } else {
        slow(finding, &rest, namespace, view);
        return;
    };
    finding
        .wait
        .on
        .push(Blocker::rest(format!("{}: {why}", counted(&rest))));
}

/// `3 pods, 1 configmaps` and so on, the most first.
pub(crate) fn counted(counts: &BTreeMap<String, u64>) -> String {
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

/// What no finalizer holds goes one object after the other. A request to delete very many may end before it is done,
/// and the next begins again (`kubernetes/kubernetes#107948`). With a limit it ends after a page
/// (`kubernetes/apiserver:pkg/registry/generic/registry/store.go` `DeleteCollection`); kubectl has no word for that, and
/// object by object it allows itself five requests a second.
fn slow(finding: &mut Finding, rest: &BTreeMap<String, u64>, namespace: &Object, view: &View<'_>) {
    let ran_out = content_deletion_failure::ran_out_of_time(namespace);
    let many = ran_out
        || rest
            .values()
            .any(|count| *count >= limits::OBJECTS_IN_ONE_REQUEST);
    let pace = if many {
        "; slow, not stuck, as long as their number falls"
    } else {
        ""
    };
    finding.wait.on.push(Blocker::rest(format!(
        "{}: not being deleted yet, and no finalizer holds them{pace}",
        counted(rest)
    )));
    let Some((type_name, count)) = rest.iter().max_by_key(|(_, count)| **count) else {
        return;
    };
    let (plural, group) = type_name.split_once('.').unwrap_or((type_name, ""));
    let ty = view.resource_type(group, plural).filter(|ty| ty.namespaced);
    let Some(ty) = ty.filter(|_| many) else {
        return;
    };
    let (when, runs) = if ran_out {
        ("what to do", "run")
    } else {
        ("number does not fall?", "may run")
    };
    let page = limits::OBJECTS_IN_ONE_STEP;
    finding.steps.push(Step {
        when,
        text: format!(
            "DELETES what the deletion of the namespace deletes anyway, {page} at a time, and again if some are left: its own \
             requests {runs} out of time over {count} {type_name}"
        ),
        command: Some(format!(
            "for page in $(seq {}); do kubectl delete --raw '{}?limit={page}' > /dev/null; done",
            count.div_ceil(page),
            ty.path(&ty.version, Some(namespace.name()))
        )),
        safety: Safety::Destructive,
    });
}
