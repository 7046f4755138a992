//! A finalizer whose removal is somebody else's work: how it stands with that somebody, in words and steps.

use crate::{
    diagnose::{
        complaint::complaints,
        holder::{Holder, Sign, State, Tells, paused},
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        view::View,
    },
    knowledge::Consequence,
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// What is said of a finalizer and its holder, before anything that only the catalogue knows.
pub(super) fn finding(
    object: &Object,
    finalizer: &Finalizer,
    who: &str,
    holder: &Holder,
    view: &View<'_>,
) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Unknown,
        format!("removed by {who}{}", in_words(holder)),
    );
    finding.evidence.extend(holder.signs.iter().map(Sign::evidence));
    match holder.state() {
        State::Running => runs(object, &mut finding, view),
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
        }
        State::Elsewhere | State::Unknown => complain(object, &mut finding, view),
    }
    finding
}

/// How it stands with the holder, as the rest of a sentence about it.
fn in_words(holder: &Holder) -> String {
    let told = |tells: Tells| {
        let all: Vec<_> = holder
            .with(tells)
            .map(|sign| format!("{}: {}", sign.source, sign.value))
            .collect();
        all.join("; ")
    };
    match holder.state() {
        State::Running => format!(", which runs ({})", told(Tells::Alive)),
        State::Off => format!(", which was switched off ({})", told(Tells::Off)),
        State::Failing => format!(", which is there and cannot do it ({})", told(Tells::Failing)),
        State::Gone => format!(", which is gone ({})", told(Tells::Gone)),
        State::Elsewhere => format!(
            ", which runs {} and cannot be seen from here",
            holder.elsewhere.unwrap_or_default()
        ),
        State::Unknown if !holder.unseen.is_empty() => {
            format!(
                "; whether that is alive is not known: {}",
                holder.unseen.join("; ")
            )
        }
        State::Unknown => match told(Tells::Gone) {
            one if one.is_empty() => {
                "; whether that is alive is not known: nothing shows it, which proves nothing".into()
            }
            one => format!("; whether that is alive is not known: {one}, which is one sign and no proof"),
        },
    }
}

/// It runs: what does it say, and was it told to leave this object alone?
fn runs(object: &Object, finding: &mut Finding, view: &View<'_>) {
    finding.wait.verdict = Verdict::Waiting;
    let marks = paused::marks(object);
    for mark in &marks {
        finding.wait.on.push(Blocker::new(
            Some(object.reference()),
            format!("is marked to be left alone ({mark}): its controller may do nothing while that is there"),
        ));
        finding.evidence.push(Evidence {
            source: format!("{} {}", object.kind, object.name()),
            value: mark.clone(),
            strength: Strength::Moderate,
        });
    }
    complain(object, finding, view);
    let is_late = super::nothing_blocks(object, view) == Verdict::Stalled;
    if finding.wait.verdict == Verdict::Waiting && marks.is_empty() && is_late {
        finding.steps.push(super::nudge(object));
    }
}

/// What is said to go wrong makes it fail, whoever says so.
fn complain(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let said = complaints(object, view);
    if let Some(newest) = said.first() {
        finding.wait.verdict = Verdict::Failing;
        finding.wait.on.push(Blocker::new(None, newest.text.clone()));
    }
    finding
        .evidence
        .extend(said.iter().map(|complaint| complaint.evidence(view.now())));
}

fn in_the_way(finding: &mut Finding, holder: &Holder, tells: Tells) {
    for sign in holder.with(tells) {
        finding.wait.on.push(sign.blocker());
        if let Some(object) = &sign.object {
            finding.steps.push(match tells {
                Tells::Off => switch_on(object),
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

fn switch_on(workload: &ObjectRef) -> Step {
    let scalable = matches!(
        workload.type_name.as_str(),
        "deployments.apps" | "statefulsets.apps"
    );
    Step {
        when: "what to do",
        text: if scalable {
            format!(
                "let {} run again, with as many replicas as it had before; one is enough to clean up",
                workload.name
            )
        } else {
            format!("let {} run again: see why no Pod of it is wanted", workload.name)
        },
        command: Some(if scalable {
            format!(
                "kubectl{} scale {} {} --replicas=1",
                place(workload),
                workload.type_name,
                workload.name
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
    let definition = view
        .object("apiextensions.k8s.io", "customresourcedefinitions", "", &name)
        .ok()??;
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
pub(super) fn last_line(
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
        text: format!("{costs}: {text}. Then, and only then, take out this one finalizer"),
        command: Some(super::take_out(object, finalizer)),
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
