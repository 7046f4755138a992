//! The state of the controller that must remove a finalizer, in words and steps.

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        causes::{advice, operators::resumed, products::olm_subscription, stopped_controller, verdicts},
        complaint::{Complaint, DeniedRight, complaints, lost, own_failures, says_denied},
        holder,
        holder::{Holder, Liveness, Names, Sign, Tells, Trace, paused},
        model::{Blocker, CauseState, Evidence, Finding, Safety, Said, Step, Strength, Verdict, When},
        removal::Unable,
        view::View,
    },
    knowledge::{Consequence, Entry, schema::Meaning},
    object::{Deletion, Finalizer, List, capitalized, short_type},
    snapshot::facts::Object,
};

/// The end of the refusal to create an object in a namespace that is being deleted
/// (`kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go`).
const CREATES_IN_VAIN: &str = "because it is being terminated";

/// The finding about a finalizer and its controller, without what only the catalogue knows. `entry` is the entry of
/// the catalogue, if there is one.
pub(crate) fn finding(
    object: &Object,
    finalizer: &Finalizer,
    (entry, who): (Option<&Entry>, &str),
    holder: &Holder,
    view: &View<'_>,
) -> Finding {
    let names = Names::of(object, finalizer, entry, holder);
    let liveness = match holder.liveness() {
        Liveness::Failing if gives_another_reason(object, &names, holder, view) => Liveness::Running,
        other => other,
    };
    // Nobody looked for this name in the program.
    let is_of_form = entry.is_some_and(Entry::is_of_form);
    let is_likely = liveness == Liveness::Running && (is_of_form || is_likely(holder, Tells::Alive));
    let said = Said::removed_by(who, liveness, signs_in_words(holder))
        .likely(is_likely)
        .version(holder.version());
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Unknown, said);
    finding.evidence.extend(holder.signs.iter().map(Sign::evidence));
    finding.wait.may_be.extend(holder.candidates());
    match liveness {
        Liveness::Running => {
            finding.wait.verdict = Verdict::Waiting;
            add_pause_marks(object, &mut finding, view);
            add_complaints(object, &names, true, &mut finding, view);
            if finding.wait.on.is_empty() && verdicts::nothing_blocks(object, view) == Verdict::Stalled {
                finding.steps.push(advice::nudge(object));
            }
        }
        Liveness::Off => {
            finding.wait.verdict = Verdict::Waiting;
            stopped_controller::add_blockers(&mut finding, holder, Tells::Off);
            quote_words(object, &mut finding, view);
        }
        Liveness::Failing => {
            finding.wait.verdict = Verdict::Failing;
            // A controller that runs without its rights works once it has them. One that is not ready may be starting.
            let runs = holder.with(Tells::Alive).next().is_some();
            let lasts = holder.with(Tells::Failing).all(|sign| sign.lasts);
            let is_unable = !runs && lasts && !holder::may_be_another(object, finalizer, entry, holder, view);
            finding.wait.unable = is_unable.then_some(Unable::CannotRun);
            stopped_controller::add_blockers(&mut finding, holder, Tells::Failing);
            quote_words(object, &mut finding, view);
        }
        Liveness::Gone => {
            finding.wait.verdict = Verdict::Orphaned;
            finding.steps.extend(reinstall_step(object, view));
            olm_subscription::add_subscription(object, &mut finding, view);
            quote_words(object, &mut finding, view);
        }
        Liveness::Elsewhere | Liveness::Unknown => {
            add_pause_marks(object, &mut finding, view);
            add_complaints(object, &names, false, &mut finding, view);
        }
    }
    resumed::label_waking_steps(object, finalizer, &mut finding, view);
    finding
}

/// Whether a controller that lacks a right tells why it waits, and does not complain of that right. Its roles may be read
/// wrongly here, and what it says itself is the better evidence.
fn gives_another_reason(object: &Object, names: &Names, holder: &Holder, view: &View<'_>) -> bool {
    let lacks_only_rights = holder
        .with(Tells::Failing)
        .all(|sign| sign.trace == Trace::Account);
    let complaints = complaints(object, view);
    let mut own = complaints
        .iter()
        .filter(|complaint| complaint.is_of(names, true, view.now()))
        .peekable();
    lacks_only_rights && own.peek().is_some() && !own.any(|complaint| says_denied(&complaint.text))
}

/// The state of the controller, in one text.
pub(crate) fn in_words(holder: &Holder) -> String {
    signs_in_words(holder).join(". ")
}

/// The state of the controller, in sentences: where it runs, whether it lives, and what shows that.
fn signs_in_words(holder: &Holder) -> Vec<String> {
    let values_of = |tells: Tells| {
        let signs = holder.with(tells);
        let all: Vec<_> = signs
            .map(|sign| format!("{}: {}", sign.source, sign.value))
            .collect();
        all.join("; ")
    };
    let state = |tells: Tells, does: &str| {
        if is_likely(holder, tells) {
            vec![format!("This {does}, and is probably it: {}", values_of(tells))]
        } else {
            vec![format!("It {does}"), values_of(tells)]
        }
    };
    let mut said: Vec<String> = holder
        .elsewhere
        .iter()
        .map(|place| format!("It is one that runs {place}"))
        .collect();
    said.extend(match holder.liveness() {
        Liveness::Running => state(Tells::Alive, "runs"),
        Liveness::Off if holder.with(Tells::Off).all(|sign| sign.trace == Trace::Home) => {
            state(Tells::Off, "has nowhere to run")
        }
        Liveness::Off => state(Tells::Off, "was switched off"),
        Liveness::Failing if holder.with(Tells::Alive).next().is_some() => {
            let mut all = state(Tells::Alive, "runs");
            all.extend(["But it may not do its work".to_owned(), values_of(Tells::Failing)]);
            all
        }
        Liveness::Failing => state(Tells::Failing, "cannot run"),
        Liveness::Gone => vec!["It is gone".to_owned(), capitalized(&values_of(Tells::Gone))],
        Liveness::Elsewhere => vec!["It cannot be seen from here".to_owned()],
        Liveness::Unknown => vec![why_unknown(holder)],
    });
    said
}

/// Whether only weak signs tell this.
fn is_likely(holder: &Holder, tells: Tells) -> bool {
    holder.with(tells).all(|sign| sign.strength > Strength::Strong)
}

/// Why nothing is known of the controller.
fn why_unknown(holder: &Holder) -> String {
    // One is enough here: the diagnosis lists all its gaps.
    let why = match holder.unseen.first() {
        Some(first) if holder.with(Tells::Gone).next().is_some() => {
            return format!("No trace of it was found, but not everything was looked at: {first}");
        }
        Some(first) => first.clone(),
        None if holder.with(Tells::Possible).next().is_some() => holder.possible_in_words(),
        None => holder
            .unproved_in_words()
            .unwrap_or_else(|| "not found (inconclusive)".to_owned()),
    };
    format!("Whether it is alive is not known: {why}")
}

/// Adds the marks that pause the controller for this object, or for the one that it names in a label.
fn add_pause_marks(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let mut found: Vec<_> = paused::marks(object, view)
        .into_iter()
        .map(|mark| (object, mark))
        .collect();
    match paused::of_owner(object, view) {
        Ok(owner) => found.extend(owner),
        Err(missing) => finding.say(format!(
            "Whether its owner is paused is not known: {}",
            missing.in_words()
        )),
    }
    for (marked, mark) in found {
        let mut says = mark.says();
        match mark.means {
            // It keeps nothing by itself.
            Meaning::Step => finding.say(format!("It {says}")),
            Meaning::Hook => {
                says.extend(mark.setter(marked, view).map(|setter| format!(". {setter}")));
                let blocker = Blocker::new(Some(marked.reference()), says);
                finding.wait.on.push(blocker.in_state(CauseState::Waiting));
            }
            Meaning::Paused | Meaning::Shard => {
                let blocker = Blocker::new(Some(marked.reference()), says);
                finding.wait.on.push(blocker.in_state(CauseState::SwitchedOff));
            }
        }
        finding.evidence.push(Evidence {
            source: format!("{} {}", marked.kind, marked.name()),
            value: mark.to_string(),
            strength: Strength::Moderate,
        });
        if mark.means != Meaning::Step {
            finding.steps.push(remove_mark_step(marked, &mark));
        }
    }
}

/// The step that removes a mark. Whoever paused the object may have wanted to keep what the deletion would destroy.
fn remove_mark_step(marked: &Object, mark: &paused::PauseMark) -> Step {
    let (text, command, safety) = match mark.undo(marked) {
        Some(undo) => (
            "DELETES WHAT IT STANDS FOR, if the object goes on being deleted: ask who marked it, and why; then take the mark \
             away, and its controller goes on",
            undo,
            Safety::Destructive,
        ),
        None if mark.means == Meaning::Hook => (
            "see who set the hook, and whether that program still runs. It does something first that must not be skipped, \
             such as to back up or to move a member, and takes the hook away itself",
            Command::get_yaml(&marked.resource.name(), marked.name(), marked.namespace()),
            Safety::ReadOnly,
        ),
        None => (
            "see that the controller for it runs: the value is one of its flags, as a rule. The label is not to be changed \
             before it is clear that it will not run again",
            Command::of(
                "kubectl get deployments,statefulsets -A -o yaml | grep -nF {}",
                [mark.value()],
            ),
            Safety::Safe,
        ),
    };
    Step {
        when: When::Now,
        text: text.into(),
        command: Some(command),
        safety,
        lets_go: Vec::new(),
    }
}

/// Adds the complaints about the object, in words. The controller fails only if it says so itself: anybody may write
/// an event, and other controllers write conditions of their own.
fn add_complaints(object: &Object, names: &Names, is_running: bool, finding: &mut Finding, view: &View<'_>) {
    let since = object.deletion().as_ref().map(Deletion::requested_at);
    let is_old = |complaint: &Complaint| since.is_some_and(|since| !complaint.is_since(since));
    let own = own_failures(object, names, is_running, view);
    if !own.iter().all(is_old) {
        finding.wait.verdict = Verdict::Failing;
        add_life(&own, finding, view);
        // A condition of long ago may be about what has come back since. One that nobody signed allows no removal.
        finding.wait.unable = own
            .iter()
            .filter(|complaint| complaint.is_recent(view.now()) && complaint.is_signed())
            .find_map(|complaint| lost(&complaint.text))
            .map(Unable::Without);
    }
    let denied = own
        .iter()
        .filter(|complaint| !is_old(complaint))
        .find_map(|complaint| DeniedRight::in_words(&complaint.text));
    finding.steps.extend(denied.map(|right| right.check()));
    let mut complaints = complaints(object, view);
    let newest = own.into_iter().max_by_key(|complaint| complaint.time);
    complaints.extend(newest.filter(|newest| !complaints.contains(newest)));
    // A controller often writes the same into a condition and an event.
    let mut told = BTreeSet::new();
    for complaint in &complaints {
        // What was wrong before may be why it is stuck. That is a fact, and nothing that it waits for.
        if is_old(complaint) {
            finding.say(format!("Before the deletion it reported: {}", complaint.text));
        } else if told.insert(complaint.words()) {
            if complaint.text.contains(CREATES_IN_VAIN) {
                finding
                    .say("This cannot succeed: nothing can be created in a namespace that is being deleted");
            }
            finding.wait.on.push(Blocker::quoting(
                &complaint.source,
                &complaint.told(since, view.now()),
            ));
        }
    }
    finding
        .evidence
        .extend(complaints.iter().map(|complaint| complaint.evidence(view.now())));
}

/// A controller that reported on the object minutes ago runs, wherever it was looked for.
fn add_life(own: &[Complaint], finding: &mut Finding, view: &View<'_>) {
    let mut signed = own.iter().filter(|complaint| complaint.is_signed());
    let controller = finding.wait.said.controller.as_mut();
    let unseen = controller.filter(|actor| actor.state == Liveness::Unknown);
    if let Some(actor) = unseen.filter(|_| signed.any(|complaint| complaint.is_recent(view.now()))) {
        actor.state = Liveness::Running;
        actor.signs.clear();
    }
}

/// Quotes what the object and its events say, where the state of the controller is the reason. People search for it.
fn quote_words(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let since = object.deletion().as_ref().map(Deletion::requested_at);
    for complaint in complaints(object, view) {
        finding.say(format!("It reports: {}", complaint.told(since, view.now())));
        finding.evidence.push(complaint.evidence(view.now()));
    }
}

/// The step that installs the controller again, by the installer of the type.
fn reinstall_step(object: &Object, view: &View<'_>) -> Option<Step> {
    let name = object.resource.name();
    if object.resource.group.is_empty() {
        return None;
    }
    let definition = view.definition(&name).ok()??;
    let installer = crate::diagnose::holder::installer(definition)?;
    Some(Step {
        when: When::Now,
        text: format!(
            "install its controller again, in the version that was there before, and let it finish. Its type was installed by {installer}"
        ),
        command: None,
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    })
}

/// What the only program that is taken for the controller logs about the object. Nobody else knows it, and a look does no harm.
pub(crate) fn log_step_of(object: &Object, holder: &Holder) -> Option<Step> {
    let running: Vec<_> = holder.running().into_iter().collect();
    let [only] = running.as_slice() else {
        return None;
    };
    let program = format!("{}/{}", short_type(&only.type_name), only.name);
    Some(log_step(object, only.place(), &program))
}

/// What this program logs about the object.
pub(crate) fn log_step(object: &Object, namespace: &str, program: &str) -> Step {
    Step {
        when: When::Now,
        text: "read what its controller logs about it".into(),
        command: Some(Command::of(
            "kubectl -n {} logs {} --all-containers --since=1h | grep {}",
            [namespace, program, object.name()],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The step that removes the finalizer by hand, with its cost in front. Only if the controller is proved gone, and
/// always the last step.
pub(crate) fn removal_step(
    object: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    (consequence, text): (Consequence, &str),
) -> Option<Step> {
    let is_in_spec = finalizer.list != List::Metadata;
    if holder.liveness() != Liveness::Gone || object.deletion().is_none() || is_in_spec {
        return None;
    }
    let costs = match consequence {
        Consequence::None => "nothing is lost".to_owned(),
        other => other.word().to_uppercase(),
    };
    Some(Step {
        when: When::HolderNeverBack,
        text: format!(
            "{costs}: {}. Then, and only then, remove this one finalizer",
            text.trim_end_matches('.')
        ),
        command: Some(advice::removal_command(object, finalizer)),
        safety: if consequence == Consequence::None {
            Safety::Reversible
        } else {
            Safety::Destructive
        },
        lets_go: Vec::new(),
    })
}
