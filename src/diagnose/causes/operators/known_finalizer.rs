//! A finalizer that no other cause explains: what the catalogue knows about it, and whether its controller lives.
//!
//! # Symptom
//!
//! A custom resource or a Service stays in deletion, with the finalizer of an operator, such as
//! `finalizer.acme.cert-manager.io` or `service.kubernetes.io/load-balancer-cleanup`. Often the operator was
//! uninstalled before its objects.
//!
//! ```text
//! $ kubectl finalizers explain challenges.acme.cert-manager.io/api-cert -n pay --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! The controller that added the finalizer has work to do before the object is deleted. It removes a DNS record, a
//! disk, a bucket or a load balancer. The catalogue says which work. It is not done while the controller does not run.
//!
//! # Before you act
//!
//! Find out whether the controller runs, and what it would clean up. `kubectl finalizers explain FINALIZER` tells what
//! the catalogue knows.
//!
//! # If it was a mistake
//!
//! While the controller is stopped, nothing outside the cluster is deleted. Leave it stopped, and save the object.
//!
//! # If it was intended
//!
//! Bring the controller back; then it finishes. If it will never come back, clean up by hand what it would have cleaned
//! up. Then `kubectl finalizers remove --plan` shows what a removal costs.
//!
//! # Do not
//!
//! Do not remove the finalizer before the clean-up. Nobody would know of what is left.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | the controller runs, or was switched off |
//! | failing | the controller cannot run, may not do its work, or complains of a failure itself |
//! | orphaned | two independent signs show that the controller is gone, and nothing runs that may be it under another name |
//! | unknown | otherwise |
//!
//! # What it reads
//!
//! The signs of the controller: Lease, workload, account, webhooks, the definition of the type. Then the rights on the
//! object, and its events.
//!
//! # Sources
//!
//! - the entry's own: the `sources` of the finalizer in knowledge/

use std::collections::BTreeSet;

use crate::{
    command::{Command, Template, in_capitals, is_for_the_reader},
    diagnose::{
        causes::{
            cause::{Cause, Described, On, Reads, Tells, Turn},
            operators::{holder_report, pruned, unknown_finalizer},
            registry,
        },
        complaint::is_about,
        holder,
        holder::{Holder, Liveness},
        kinds::{
            PersistentVolume, PersistentVolumeClaim, VolumeAttachment, VolumeSnapshot, VolumeSnapshotContent,
        },
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Step, StepKind, Strength, Verdict, When},
        timing,
        view::View,
    },
    knowledge,
    knowledge::{
        Consequence, Entry, FoundBy, IfHolder, Label, Runs,
        schema::{fill, is_set},
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Finalizer(explain_by_entry),
};

pub(crate) fn explain_by_entry(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let Some(entry) = view.entry(object, finalizer) else {
        return unknown_finalizer::explain_without_entry(object, finalizer, view);
    };
    let filled = |text: &str| filled(text, object, finalizer, &entry);
    let holder = holder::described(object, finalizer, &entry, view);
    let who = filled(&entry.removed_by);
    let who = match named_controller(object, &entry).or_else(|| only_found(&entry, &holder)) {
        Some(name) => format!("{name}, {who}"),
        None => one_of_several(&who, object, finalizer, &entry).unwrap_or(who),
    };
    let mut finding = holder_report::finding(object, finalizer, (Some(&entry), &who), &holder, view);
    let reports: Vec<String> = match finding.wait.verdict {
        Verdict::Failing => quoted(&finding).collect(),
        _ => Vec::new(),
    };
    // The report may tell of a cause of its own already.
    finding.wait.page.get_or_insert(Page::of(module_path!()));
    if entry.thin {
        finding.evidence.push(Evidence {
            source: format!("catalogue entry {}", entry.name),
            value: "Little is known about this finalizer.".into(),
            strength: Strength::Hint,
        });
    }
    if entry.holder.runs == Runs::Nobody {
        finding.say("No released program removes it any more");
    }
    let waits_for_text = filled(&entry.waits_for.text);
    finding.wait.said.work = Some(waits_for_text);
    let described = Described {
        object,
        finalizer,
        entry: &entry,
        holder: &holder,
    };
    for turn in [Turn::Name, Turn::Product, Turn::Waits] {
        registry::add_described(turn, &described, &mut finding, view);
    }
    // What the controller reported lately may show that it runs, where its installation does not.
    let liveness = finding.liveness().unwrap_or(holder.liveness());
    let workload = match liveness {
        Liveness::Running => holder.workload().or_else(|| holder.able_namesake()),
        _ => holder.workload(),
    };
    let in_command = |template: &Template| {
        let command = template.fill(|word| {
            placeholder_value(word, object, finalizer, entry.matched(&finalizer.name))
                .or_else(|| controller_value(word, &entry, workload))
        });
        // An entry for any kind names a namespace, which not every object has.
        if object.namespace().is_empty() {
            command.without_namespace()
        } else {
            command
        }
    };
    let state = (&holder, liveness, &*reports);
    let steps = fitting_steps(object, &entry, state, &filled, &in_command, view);
    let reads_log = |step: &Step| step.command.as_ref().is_some_and(Command::reads_log);
    // Where nothing is known that it waits for, its log is the place to look.
    let is_open = finding.wait.on.is_empty() && holder.liveness() == Liveness::Running;
    if is_open && !timing::is_deletion_recent(object, view) && !steps.iter().any(reads_log) {
        finding.steps.extend(holder_report::log_step_of(object, &holder));
    }
    finding.steps.extend(steps);
    put_looks_first(&mut finding.steps);
    let cost = filled(&entry.if_removed.text);
    // Some texts of the catalogue begin with the same condition.
    let cost = if is_doubted(&finding) && !cost.starts_with("If ") {
        format!("If it still exists: {cost}")
    } else {
        cost
    };
    let removal =
        holder_report::removal_step(object, finalizer, &holder, (entry.if_removed.consequence, &cost));
    finding.steps.extend(removal);
    registry::add_described(Turn::Steps, &described, &mut finding, view);
    // The step that removes the finalizer already says what that costs.
    let is_offered = finding
        .steps
        .iter()
        .any(|step| step.kind() == StepKind::RemoveFinalizer);
    if !is_offered && entry.if_removed.consequence != Consequence::None {
        finding.do_not.push(not_by_hand(finalizer, &cost));
    }
    if let Some(done) = &entry.done_when {
        finding.outlook.push(Outlook {
            when: Moment::Done,
            then: filled(done),
        });
    }
    finding
}

/// Puts a harmless nudge behind the looks that follow it. Who looks first may see that it cannot help.
fn put_looks_first(steps: &mut [Step]) {
    let is_nudge = |step: &Step| step.kind() == StepKind::Nudge && step.safety == Safety::Safe;
    let nudge = steps.iter().enumerate().find(|(_, step)| is_nudge(step));
    let Some((at, when)) = nudge.map(|(at, step)| (at, step.when)) else {
        return;
    };
    let is_look = |step: &&Step| step.when == when && step.safety == Safety::ReadOnly;
    let looks = steps.iter().skip(at + 1).take_while(is_look).count();
    // A copy belongs to the step after it.
    let saves = steps
        .iter()
        .skip(at + 1)
        .take(looks)
        .rev()
        .take_while(|step| step.saves());
    let end = at + 1 + looks - saves.count();
    if let Some(moved) = steps.get_mut(at..end) {
        moved.rotate_left(1);
    }
}

/// The steps of the entry that fit the conditions of the object, the state of the controller and what it reports. If that
/// state is unknown, the steps for one state come last, as a question.
fn fitting_steps(
    object: &Object,
    entry: &Entry,
    (holder, liveness, reports): (&Holder, Liveness, &[String]),
    filled: &impl Fn(&str) -> String,
    in_command: &impl Fn(&Template) -> Command,
    view: &View<'_>,
) -> Vec<Step> {
    let when = |step: &knowledge::FixStep| match (step.if_holder, liveness) {
        (None, _)
        | (Some(IfHolder::Runs), Liveness::Running | Liveness::Failing)
        | (Some(IfHolder::Gone), Liveness::Gone)
        | (Some(IfHolder::Unknown), Liveness::Elsewhere | Liveness::Unknown) => Some(When::Now),
        (Some(IfHolder::Runs), Liveness::Elsewhere | Liveness::Unknown) => Some(When::HolderRuns),
        // A destructive step is not shown until the controller is certainly gone.
        (Some(IfHolder::Gone), Liveness::Elsewhere | Liveness::Unknown)
            if step.label != Label::Destructive =>
        {
            Some(When::HolderGone)
        }
        _ => None,
    };
    let mut steps: Vec<_> = entry
        .fix
        .iter()
        .filter(|step| fits_conditions(object, step) && has_field(object, step))
        .filter(|step| fits_reports(step, reports))
        .filter_map(|step| {
            let command = step.command.as_ref().map(in_command);
            // A command for a type that the server does not have only fails. The rest of the step stays.
            let able = command
                .clone()
                .and_then(|command| command.with_types(|ty| view.would_find_type(ty)));
            if command.is_some() && able.is_none() && step.label == Label::ReadOnly {
                return None;
            }
            if command
                .as_ref()
                .is_some_and(|command| pruned::would_be_pruned(command, object, view))
            {
                return None;
            }
            // A controller that is gone has no log, nor has a workload that does not exist.
            if has_no_log(holder) && able.as_ref().is_some_and(Command::reads_log) {
                return None;
            }
            let command = able;
            Some(Step {
                when: when(step)?,
                text: with_open_words(filled(&step.text), command.as_ref()),
                safety: step.label.into(),
                command,
                lets_go: Vec::new(),
            })
        })
        .collect();
    steps.sort_by_key(|step| {
        [When::Now, When::HolderRuns, When::HolderGone]
            .iter()
            .position(|when| *when == step.when)
    });
    steps
}

/// Whether the controller left no log here, as far as is known.
fn has_no_log(holder: &Holder) -> bool {
    let is_missing = || {
        let mut gone = holder.with(holder::Tells::Gone);
        gone.any(|sign| sign.trace == holder::Trace::Workload)
    };
    holder.liveness() == Liveness::Gone || is_missing() && holder.workload().is_none()
}

/// Whether no condition of the object rules the step out.
fn fits_conditions(object: &Object, step: &knowledge::FixStep) -> bool {
    step.if_condition.iter().all(|phase| {
        let status = object.condition(&phase.r#type).map(|(status, ..)| status);
        status.is_none_or(|status| phase.statuses.iter().any(|known| known == status))
    })
}

/// Whether the object has the field that the step is for.
fn has_field(object: &Object, step: &knowledge::FixStep) -> bool {
    let field = step.if_field.as_ref();
    field.is_none_or(|field| is_set(object.field(field)))
}

/// Whether the step makes sense with what the controller reports.
pub(super) fn fits_reports(step: &knowledge::FixStep, reports: &[String]) -> bool {
    let is_about = |topic| reports.iter().any(|report| is_about(topic, report));
    reports.is_empty() || step.if_message.is_none_or(is_about)
}

/// Names the words of the command that this object does not tell. Words in capitals are explained by the step itself.
fn with_open_words(text: String, command: Option<&Command>) -> String {
    let open: BTreeSet<_> = command
        .into_iter()
        .flat_map(Command::open)
        .filter(|name| !is_for_the_reader(name))
        .map(in_capitals)
        .collect();
    if open.is_empty() {
        return text;
    }
    let open: Vec<_> = open.into_iter().collect();
    format!("{}. Fill in {}.", text.trim_end_matches('.'), open.join(" and "))
}

/// The name that the object itself gives its controller, where the catalogue says that it names one.
fn named_controller<'a>(object: &'a Object, entry: &Entry) -> Option<&'a str> {
    entry
        .holder
        .found_by
        .contains(&FoundBy::ControllerName)
        .then(|| object.text("/spec/controllerName"))
        .filter(|name| !name.is_empty())
}

/// The program that put the finalizer on, where the catalogue names several that may be the controller.
fn one_of_several(who: &str, object: &Object, finalizer: &Finalizer, entry: &Entry) -> Option<String> {
    let (author, _) = holder::author_and_last_change(object, finalizer)?;
    let is_known = holder::is_telling(&author) && entry.holder.managers.contains(&author);
    (is_known && who.contains(" or ")).then_some(author)
}

/// The name of the only program that was found, where the catalogue describes a controller and knows no name of it.
fn only_found<'h>(entry: &Entry, holder: &'h Holder) -> Option<&'h str> {
    let found = holder.workload().filter(|_| entry.holder.workloads.is_empty());
    found.map(|workload| workload.name.as_str())
}

/// Whether the controller reports that what it protects is not found. A removal by hand may cost nothing then.
pub(crate) fn is_doubted(finding: &Finding) -> bool {
    let is_not_found = |text: &str| {
        let lower = text.to_lowercase();
        let is_missing = [
            "404",
            "notfound",
            "not found",
            "no longer exists",
            "not exist",
            "n't exist",
        ]
        .iter()
        .any(|word| lower.contains(word));
        // `secrets "aws" not found` is of the API server, and without credentials nobody asked the provider.
        let is_of_cluster = ["\" not found", "secret", "credential"]
            .iter()
            .any(|word| lower.contains(word));
        is_missing && !is_of_cluster
    };
    quoted(finding).any(|report| is_not_found(&report))
}

/// The reports that the finding quotes.
fn quoted(finding: &Finding) -> impl Iterator<Item = String> {
    let all = finding.wait.on.iter().filter(|blocker| blocker.report.is_some());
    all.map(|blocker| blocker.says.to_string())
}

/// The warning not to remove a finalizer by hand, and why.
pub(crate) fn not_by_hand(finalizer: &Finalizer, cost: &str) -> String {
    format!("remove {} by hand. {cost}", finalizer.name)
}

/// A text of an entry, with the names of this object filled in.
pub fn filled(text: &str, object: &Object, finalizer: &Finalizer, entry: &Entry) -> String {
    fill(text, |word| {
        placeholder_value(word, object, finalizer, entry.matched(&finalizer.name))
    })
}

fn placeholder_value(
    word: &str,
    object: &Object,
    finalizer: &Finalizer,
    matched: Option<&str>,
) -> Option<String> {
    let text = match word {
        "name" => object.name(),
        "namespace" => object.namespace(),
        "kind" => &object.kind,
        "group" => &object.resource.group,
        "type" => return Some(object.resource.name()),
        "uid" => object.uid(),
        "finalizer" => &finalizer.name,
        "matched" => matched.unwrap_or_default(),
        "claim" => PersistentVolume(object).claim_name(),
        "claim-namespace" => PersistentVolume(object).claim_namespace(),
        "volume" => PersistentVolumeClaim(object).volume(),
        "node" => VolumeAttachment(object).node(),
        "content" => VolumeSnapshot(object).content(),
        "driver" => [
            PersistentVolume(object).csi_driver(),
            VolumeAttachment(object).attacher(),
            VolumeSnapshotContent(object).driver(),
        ]
        .into_iter()
        .find(|driver| !driver.is_empty())
        .unwrap_or_default(),
        _ => "",
    };
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The words of a command about the controller. A command names the kind of its workload, so one of another kind than the
/// entry knows is not filled in.
fn controller_value(word: &str, entry: &Entry, found: Option<&ObjectRef>) -> Option<String> {
    match word {
        "holder" => {
            let kinds: Vec<_> = entry.holder.workloads.iter().map(|one| one.kind.name()).collect();
            found
                .filter(|workload| kinds.contains(&workload.kind.as_str()))
                .map(|workload| workload.name.clone())
        }
        "holder-namespace" => match (found, entry.holder.namespaces.as_slice()) {
            (Some(workload), _) => workload.namespace.clone(),
            // It is always installed there.
            (None, [only]) if !only.contains('*') => Some(only.clone()),
            _ => None,
        },
        _ => None,
    }
}
