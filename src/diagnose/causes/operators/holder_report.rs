//! A finalizer whose removal is somebody else's work: how it stands with that somebody, in words and steps.

use crate::{
    diagnose::{
        causes::{advice, products::olm_subscription, verdicts},
        complaint::complaints,
        holder,
        holder::{Holder, Sign, State, Tells, Trace, paused},
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        view::View,
    },
    knowledge::Consequence,
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// What is said of a finalizer and its holder, before anything that only the catalogue knows.
pub(crate) fn finding(
    object: &Object,
    finalizer: &Finalizer,
    who: &str,
    holder: &Holder,
    view: &View<'_>,
) -> Finding {
    let says = format!("removed by {who}. {}", in_words(holder));
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Unknown, says);
    finding.evidence.extend(holder.signs.iter().map(Sign::evidence));
    match holder.state() {
        State::Running => {
            finding.wait.verdict = Verdict::Waiting;
            marked(object, &mut finding, view);
            complain(object, &mut finding, view);
            if finding.wait.on.is_empty() && verdicts::nothing_blocks(object, view) == Verdict::Stalled {
                finding.steps.push(advice::nudge(object));
            }
        }
        State::Off => {
            finding.wait.verdict = Verdict::Waiting;
            in_the_way(&mut finding, holder, Tells::Off);
        }
        State::Failing => {
            finding.wait.verdict = Verdict::Failing;
            in_the_way(&mut finding, holder, Tells::Failing);
        }
        State::Gone => {
            finding.wait.verdict = Verdict::Orphaned;
            finding.steps.extend(bring_back(object, view));
            olm_subscription::add_subscription(object, &mut finding, view);
        }
        State::Elsewhere | State::Unknown => {
            marked(object, &mut finding, view);
            complain(object, &mut finding, view);
        }
    }
    finding
}

/// Names the holder of a finalizer with a rule of its own as what is in the way, if it was switched off, cannot run, or may
/// not do its work. The verdict stays the rule's: who sees less of the holder hears the same.
pub(crate) fn blame(finding: &mut Finding, object: &Object, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    let reference = object.reference();
    let entry = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
    let Some(entry) = entry else { return };
    let found = holder::described(object, &finalizer, &entry, view);
    finding.evidence.extend(found.signs.iter().map(Sign::evidence));
    let tells = match found.state() {
        State::Off => Tells::Off,
        State::Failing => Tells::Failing,
        _ => return,
    };
    // Nobody looks, however often it is touched, or cannot act on what it sees.
    finding.steps.retain(|step| !advice::is_nudge(step));
    in_the_way(finding, &found, tells);
}

/// How it stands with the holder, in sentences of their own: each sign is one.
pub(crate) fn in_words(holder: &Holder) -> String {
    let told = |tells: Tells| {
        let signs = holder.with(tells);
        let all: Vec<_> = signs
            .map(|sign| format!("{}: {}", sign.source, sign.value))
            .collect();
        all.join("; ")
    };
    let likely = |tells: Tells| {
        let known = holder.with(tells).any(|sign| sign.strength <= Strength::Strong);
        if known { "" } else { "likely " }
    };
    let hidden = holder
        .elsewhere
        .map_or_else(String::new, |place| format!("It is one that runs {place}. "));
    let state = match holder.state() {
        State::Running => format!("It {}runs. {}", likely(Tells::Alive), told(Tells::Alive)),
        State::Off => format!("It was {}switched off. {}", likely(Tells::Off), told(Tells::Off)),
        State::Failing if holder.with(Tells::Alive).next().is_some() => format!(
            "It {}runs. {}. But it may not do its work. {}",
            likely(Tells::Alive),
            told(Tells::Alive),
            told(Tells::Failing)
        ),
        State::Failing => format!(
            "It {}cannot run. {}",
            likely(Tells::Failing),
            told(Tells::Failing)
        ),
        State::Gone => format!("It is gone. {}", sentence(&told(Tells::Gone))),
        State::Elsewhere => "It cannot be seen from here".to_owned(),
        State::Unknown if !holder.unseen.is_empty() => {
            format!("Whether it is alive is not known: {}", holder.unseen.join("; "))
        }
        State::Unknown => match told(Tells::Gone) {
            one if one.is_empty() => {
                "Whether it is alive is not known: no sign of it was found, which proves nothing".into()
            }
            one => format!("Whether it is alive is not known: {one}, which is one sign and no proof"),
        },
    };
    format!("{hidden}{state}")
}

/// With a capital in front.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether its controller was told to leave this object alone, or the Cluster that it is of.
fn marked(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let mut found: Vec<_> = paused::marks(object)
        .into_iter()
        .map(|mark| (object, mark))
        .collect();
    match paused::cluster(object, view) {
        Ok(cluster) => found.extend(cluster),
        Err(missing) => finding.say(format!(
            ". Whether its Cluster is paused is not known: {}",
            missing.in_words()
        )),
    }
    for (on, mark) in found {
        finding
            .wait
            .on
            .push(Blocker::new(Some(on.reference()), mark.says()));
        finding.evidence.push(Evidence {
            source: format!("{} {}", on.kind, on.name()),
            value: mark.to_string(),
            strength: Strength::Moderate,
        });
        finding.steps.push(unmark(on, &mark));
    }
}

/// What to do about a mark. Who paused something may have wanted to keep what the deletion would take.
fn unmark(on: &Object, mark: &paused::Found) -> Step {
    let (text, command, safety) = match mark.undo(on) {
        Some(undo) => (
            "DELETES WHAT IT STANDS FOR, if the object goes on being deleted: ask who marked it, and why; then take the mark \
             away, and its controller goes on",
            undo,
            Safety::Destructive,
        ),
        None => (
            "see that the controller for it runs: the value is one of its flags, as a rule. The label is not to be changed \
             before it is clear that it will not run again",
            format!(
                "kubectl get deployments,statefulsets -A -o yaml | grep -nF -- {}",
                advice::word(mark.value())
            ),
            Safety::Safe,
        ),
    };
    Step {
        when: "what to do",
        text: text.into(),
        command: Some(command),
        safety,
    }
}

/// What is said of it is quoted; what is said to go wrong makes it fail, whoever says so.
fn complain(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let said = complaints(object, view);
    for one in &said {
        if one.is_failure {
            finding.wait.verdict = Verdict::Failing;
        }
        finding.wait.on.push(Blocker::new(None, one.text.clone()));
    }
    finding
        .evidence
        .extend(said.iter().map(|complaint| complaint.evidence(view.now())));
}

fn in_the_way(finding: &mut Finding, holder: &Holder, tells: Tells) {
    // What only tells of another, as an event does, is in the way of nothing.
    for sign in holder.with(tells).filter(|sign| sign.object.is_some()) {
        finding.wait.on.push(sign.blocker());
        if let Some(object) = &sign.object {
            finding.steps.push(match tells {
                Tells::Off => switch_on(object, sign.before),
                _ if sign.trace == Trace::Home => Step {
                    when: "what to do",
                    text: format!(
                        "let {} go first, then install the holder again: nothing in it can be started any more",
                        object.name
                    ),
                    command: Some(format!("kubectl finalizers explain {} {}", object.type_name, object.name)),
                    safety: Safety::Safe,
                },
                _ => Step {
                    when: "what to do",
                    text: format!("repair it: {}", sign.value),
                    command: Some(format!(
                        "kubectl{} describe {} {}",
                        place(object),
                        object.type_name,
                        object.name
                    )),
                    safety: Safety::Safe,
                },
            });
        }
    }
}

fn switch_on(workload: &ObjectRef, before: Option<(i64, &str)>) -> Step {
    let scalable = matches!(
        workload.type_name.as_str(),
        "deployments.apps" | "statefulsets.apps"
    );
    Step {
        when: "what to do",
        text: match before {
            Some((count, why)) if scalable => {
                format!("let {} run again, with {count} replicas, {why}", workload.name)
            }
            None if scalable => format!(
                "let {} run again, with as many replicas as it had before; one is enough to clean up",
                workload.name
            ),
            _ => format!("let {} run again: see why no Pod of it is wanted", workload.name),
        },
        command: Some(if scalable {
            format!(
                "kubectl{} scale {} {} --replicas={}",
                place(workload),
                workload.type_name,
                workload.name,
                before.map_or(1, |(count, _)| count)
            )
        } else {
            format!(
                "kubectl{} get {} {} -o yaml",
                place(workload),
                workload.type_name,
                workload.name
            )
        }),
        safety: Safety::Reversible,
    }
}

/// Whoever installed the type knows how to install its controller again.
fn bring_back(object: &Object, view: &View<'_>) -> Option<Step> {
    let name = object.resource.name();
    if object.resource.group.is_empty() {
        return None;
    }
    let definition = view.definition(&name).ok()??;
    let installer = crate::diagnose::holder::installer(definition)?;
    Some(Step {
        when: "what to do",
        text: format!(
            "install its controller again, in the version that was there before, and let it finish. Its type was installed by {installer}"
        ),
        command: None,
        safety: Safety::Reversible,
    })
}

/// Taking the finalizer out by hand: only where its holder is proved gone, last of all, and with what it costs in
/// front.
pub(crate) fn last_line(
    object: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    (consequence, text): (Consequence, &str),
) -> Option<Step> {
    let of_namespace = finalizer.list != crate::object::List::Metadata;
    if holder.state() != State::Gone || object.deletion().is_none() || of_namespace {
        return None;
    }
    let costs = match consequence {
        Consequence::None => "nothing is lost".to_owned(),
        other => other.word().to_uppercase(),
    };
    Some(Step {
        when: "will it never come back?",
        text: format!(
            "{costs}: {}. Then, and only then, take out this one finalizer",
            text.trim_end_matches('.')
        ),
        command: Some(advice::removal_command(object, finalizer)),
        safety: if consequence == Consequence::None {
            Safety::Reversible
        } else {
            Safety::Destructive
        },
    })
}

fn place(object: &ObjectRef) -> String {
    object
        .namespace
        .as_ref()
        .map_or_else(String::new, |namespace| format!(" -n {namespace}"))
}
