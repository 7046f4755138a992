//! The Pods and neighbours of an object that no other rule explains.
//!
//! # Symptom
//!
//! An object of an operator was deleted minutes ago and stays. Its controller runs and does not complain. Pods or Jobs
//! beside it do not end, or something that it names is in trouble.
//!
//! ```text
//! $ kubectl finalizers explain nbresources.netbird.io/dashboard -n apps --from tests/stories/netbird-resource-while-service-exists/cluster.yaml
//! ```
//!
//! # Why
//!
//! Operators stop what they started, and many wait until nothing uses the object. References and finalizers have names
//! by convention, and the definition of a type describes its fields. So they can be read without knowing the product.
//!
//! # Before you act
//!
//! Look at each object that the explanation names. That a living object exists does not prove that the controller waits
//! for it.
//!
//! # If it was a mistake
//!
//! Save the object while it is there.
//!
//! # If it was intended
//!
//! End the pods and Jobs that do not end, or repair what does not start. Then the controller goes on.
//!
//! # Do not
//!
//! Do not remove the finalizer while pods of the object run. They would run on without their owner.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | pods do not end or do not start, clean-up Jobs do not end, or a neighbour is in deletion or not ready |
//! | failing | the controller lacks a right on other objects that the catalogue says it needs |
//! | stalled | after 35 minutes: the controller runs, all of this was read, and nothing was found |
//! | (of the finalizer) | a living object is only named |
//!
//! # What it reads
//!
//! - The objects and the settings that its own words name, and the volumes of its node.
//! - The pods, Jobs and claims in its namespace, with their events. For a pod, the others of its owner.
//! - The objects that its status lists or calls its users, that it marked with a label, or that its finalizer is named after.
//! - The objects that its spec or its labels name, and those that its spec selects.
//! - The objects that the spec of its owner names.
//! - The objects of its product whose names stand in its lists, and the Pods of those that are in trouble.
//! - The Deployments, StatefulSets and DaemonSets that it owns.
//! - The objects of its product that it owns and that are being deleted.
//! - The defaults that stand for what its spec leaves empty. The roles, where its entry names rights that the controller needs.
//! - The objects of its own group that name it, from any namespace.
//! - The PersistentVolume of its name, and the only object of another kind of its group.
//!
//! The explanation says what a limit left out.
//!
//! # Sources
//!
//! - `kubernetes/community:contributors/devel/sig-architecture/api-conventions.md` "Object references"

mod attachments;
mod described_fields;
mod empty_references;
mod finalizer_name;
mod inventory;
mod labelled_set;
mod listed_names;
mod mutating_policies;
mod named_in_labels;
mod named_in_words;
mod named_settings;
mod needed_rights;
mod neighbours;
mod owned_claims;
mod owned_jobs;
mod owned_objects;
mod owned_pods;
mod owned_workloads;
mod owner_references;
mod product_types;
mod references;
mod referrers;
mod selectors;
mod services;
mod sibling_pods;
mod status_users;
mod switches;
mod type_schema;
mod volume_of_name;

pub(super) use self::empty_references::field_that_means;
use crate::{
    command::Command,
    diagnose::{
        causes::{
            api_machinery::update_rejected,
            cause::{Cause, On, Reads, Stage, Subject, Tells},
        },
        complaint::{join, shortened},
        events::{Report, newest_event, newest_report},
        holder::{Liveness, author_and_last_change, is_silent},
        kinds::{Event, ManagedFields, generations},
        model::{Blocker, Evidence, Finding, Page, Step, StepKind, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::{Age, Deletion, ObjectRef, ResourceType, is_custom_group, pasteable},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Surroundings, add_surroundings),
};

fn add_surroundings(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let of_operators = &subject.of_operators;
    let Some(age) = object
        .deletion()
        .map(|deletion| Age::between(deletion.requested_at(), view.now()).0)
    else {
        return;
    };
    // Nothing more is asked about an object that was only listed.
    if !object.was_read() || age.as_secs() < timing::WORKING_CONTROLLER {
        return;
    }
    let is_of_operator = |finding: &Finding| finding.is_about(of_operators);
    let Some(first) = findings.iter().position(is_of_operator) else {
        return;
    };
    // Many controllers wait until theirs is the last finalizer.
    let mut is_last = true;
    let others = findings.iter_mut().skip(first + 1);
    for finding in others.filter(|finding| is_of_operator(finding)) {
        let runs = finding.liveness() == Some(Liveness::Running);
        finalizer_name::add_namesakes(object, finding, runs, view);
        is_last &= finding.wait.on.is_empty();
    }
    let Some(finding) = findings.get_mut(first) else {
        return;
    };
    let runs = match finding.liveness() {
        Some(Liveness::Running) => true,
        Some(Liveness::Unknown) => false,
        _ => return,
    };
    // The catalogue says what uses the objects that it describes, and what those wait for.
    let known = finding.wait.known.as_ref();
    let is_described = known.is_some();
    let are_users_known = known.is_some_and(|known| !known.is_only_told);
    let missed_before = view.missed();
    named_in_words::add_named(object, finding, runs, view);
    named_settings::add_settings(object, finding, view);
    owned_pods::add_pods(object, finding, runs, view);
    owned_jobs::add_jobs(object, finding, runs, view);
    if !is_described {
        owned_claims::add_claims(object, finding, runs, view);
    }
    attachments::add_attachments(object, finding, runs, view);
    inventory::add_listed(object, finding, runs, view);
    labelled_set::add_members(object, finding, runs, view);
    let is_in_use = status_users::add_users(object, finding);
    finalizer_name::add_namesakes(object, finding, runs, view);
    let troubled = add_named(object, finding, view);
    volume_of_name::add_volume(object, finding, view);
    empty_references::add_defaults(object, finding, view);
    selectors::add_empty(object, finding, view);
    services::add_services(object, finding, is_described, view);
    if !are_users_known {
        owned_objects::add_owned(object, finding, runs, view);
    }
    let is_no_object_named = finding.wait.on.iter().all(|blocker| blocker.object.is_none());
    let users = if is_no_object_named || !are_users_known {
        referrers::add_referrers(object, finding, are_users_known, view)
    } else {
        Vec::new()
    };
    let is_complete = view.missed() == missed_before;
    let is_free = finding.wait.on.is_empty() && users.is_empty() && !is_in_use && is_last;
    if runs && is_free && finding.wait.verdict == Verdict::Waiting && age >= timing::NOT_ACTED {
        mark_stalled(object, finding, is_described, view);
    }
    if finding.wait.verdict == Verdict::Stalled {
        weigh_stalled(finding, &troubled, is_complete);
    }
    if runs && is_free {
        add_visit(object, finding, view);
        add_generation(object, finding);
        put_log_first(&mut finding.steps);
    }
    if runs && is_free && troubled.is_empty() {
        add_where_nothing_was_found(object, finding, view);
    } else if runs && is_free && are_siblings_known(object, view) {
        let is_above = |one: &Troubled| {
            one.node
                .object
                .as_ref()
                .is_some_and(|one| view.leads_through(one))
        };
        let shown = troubled.into_iter().filter(|one| !is_above(one));
        finding.wait.on.extend(shown.map(|one| one.node));
    } else if runs && finding.wait.on.is_empty() {
        finding.wait.on.extend(users);
    }
    if runs && !are_users_known {
        let stopped = owned_workloads::add_stopped(object, finding, view);
        finding.wait.on.extend(stopped);
    }
    if runs && is_free && is_complete {
        let owned = owned_workloads::add_workloads(object, finding, view);
        finding.wait.on.extend(owned);
    }
    if runs && finding.wait.on.iter().all(|blocker| blocker.rest) {
        let policies = mutating_policies::add_policies(object, finding, view);
        finding.wait.on.extend(policies);
    }
}

/// Adds what a controller may trip over where nothing that it waits for was found.
fn add_where_nothing_was_found(object: &Object, finding: &mut Finding, view: &View<'_>) {
    needed_rights::add_lacking(object, finding, view);
    switches::add_switches(object, finding);
    neighbours::add_neighbours(object, finding, view);
}

/// Tells of the objects that its fields, labels and lists name, and returns those that are missing or in trouble.
fn add_named(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    let mut troubled = if object.is("", "pods") {
        // A Pod needs what it names to start, and not to end.
        sibling_pods::add_siblings(object, finding, view)
    } else {
        references::add_references(object, finding, view)
    };
    troubled.extend(owner_references::add_missing_of_owner(object, finding, view));
    troubled.extend(named_in_labels::add_named(object, finding, view));
    for listed in listed_names::add_listed_names(object, finding, view) {
        if !troubled
            .iter()
            .any(|known| known.node.object == listed.node.object)
        {
            troubled.push(listed);
        }
    }
    troubled
}

/// Weighs whether a controller that has not acted for long may still wait for something.
fn weigh_stalled(finding: &mut Finding, troubled: &[Troubled], is_complete: bool) {
    if troubled.iter().any(|one| one.exists) {
        // Its controller may wait for an object in trouble.
        finding.wait.verdict = Verdict::Waiting;
        return;
    }
    // A missing object does not come back by itself, so nobody can wait for it.
    if !troubled.is_empty() {
        refute_work(finding);
    }
    if is_complete {
        update_rejected::doubt_stalled(finding);
    } else {
        // It may wait for something that was not read.
        finding.wait.verdict = Verdict::Unknown;
    }
}

/// Takes back what the catalogue says a controller does once something is gone, where that is gone and the controller has not
/// done so. It may be true of other releases.
fn refute_work(finding: &mut Finding) {
    let Some(work) = finding.wait.said.work.take() else {
        return;
    };
    let is_refuted = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        lower.contains("lets go")
            && ["gone", "missing", "not exist"]
                .iter()
                .any(|word| lower.contains(word))
    };
    let sentences: Vec<_> = work.trim_end_matches('.').split(". ").collect();
    let kept: Vec<_> = sentences.iter().filter(|one| !is_refuted(one)).copied().collect();
    if kept.len() < sentences.len() {
        finding.say("Some releases let go once that is gone. This one has not");
    }
    finding.wait.said.work = (!kept.is_empty()).then(|| kept.join(". "));
}

/// Says that the controller has not recorded the deletion, where its status tells which generation it has seen. The API server
/// counts the request to delete as one (`kubernetes/apiserver:pkg/registry/rest/delete.go`). Some controllers write another part
/// of the status then.
fn add_generation(object: &Object, finding: &mut Finding) {
    let requested = object.deletion().as_ref().map(Deletion::requested_at);
    let is_written_since = ManagedFields::all(object)
        .filter(|fields| fields.below(&["f:status"]).is_some())
        .any(|fields| fields.time() > requested);
    if let Some((generation, seen)) = generations(object)
        && seen < generation
        && !is_written_since
    {
        finding.say(format!(
            "Its status.observedGeneration is {seen}, and its generation {generation}: the controller has not recorded the deletion"
        ));
    }
}

/// Whether the other objects of its type were read. One that works shows that it is well without what it names.
fn are_siblings_known(object: &Object, view: &View<'_>) -> bool {
    let resource = &object.resource;
    view.list(&resource.group, &resource.plural, object.namespace())
        .is_ok()
}

/// Where nothing is known that the controller waits for, its log tells most: also of an update that is refused.
fn put_log_first(steps: &mut [Step]) {
    let reads_log = |step: &Step| step.command.as_ref().is_some_and(Command::reads_log);
    let is_now = |step: &Step| step.when == When::Now;
    if let Some(at) = steps.iter().position(|step| is_now(step) && reads_log(step))
        && let Some(until) = steps.get_mut(..=at)
        && until.iter().all(is_now)
    {
        until.rotate_right(1);
    }
}

/// Says what was last reported on the object since its deletion, if that is no complaint. Whoever reported it sees the object,
/// and does something else with it than to let it go.
fn add_visit(object: &Object, finding: &mut Finding, view: &View<'_>) {
    if let Some(Report { event, by, ago }) = newest_report(object, view, |_| true) {
        let text = shortened(&join(event.reason(), event.message().trim()));
        finding.say(format!("{by} still reports on it, {ago} ago: {text}"));
    }
}

/// Marks that the controller has not acted for long, although nothing blocks it. A controller whose work the catalogue
/// describes may still do that work, unless it has left the object alone since the deletion.
fn mark_stalled(object: &Object, finding: &mut Finding, is_described: bool, view: &View<'_>) {
    let Some(finalizer) = &finding.wait.finalizer else {
        return;
    };
    if finalizer_name::is_hidden(&finalizer.name, view) {
        finding.wait.verdict = Verdict::Unknown;
        finding.say("which object the finalizer is named after is not known: names are redacted");
    } else if !is_described {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.verdict = Verdict::Stalled;
    } else if is_silent(object, finalizer)
        && let Some((author, last)) = author_and_last_change(object, finalizer)
    {
        let ago = Age::between(last, view.now());
        finding.tell_of(Page::of(module_path!()));
        finding.wait.verdict = Verdict::Stalled;
        finding.say(format!(
            "Field manager \"{author}\" put the finalizer on, and last wrote {ago} ago"
        ));
    }
}

/// Adds what a controller that runs waits for. Nothing is blamed if it is not known whether the controller runs: what
/// keeps the object may then be its absence.
fn add_blocker(finding: &mut Finding, blocker: Blocker, runs: bool) {
    if !runs {
        if let Some(object) = &blocker.object {
            finding.say(format!("{} {} {}", object.kind, object.name, blocker.says));
        }
        return;
    }
    if finding.wait.verdict == Verdict::Stalled {
        finding.wait.verdict = Verdict::Waiting;
    }
    // Touching the object has no effect while this stands in the way.
    finding.steps.retain(|step| step.kind() != StepKind::Nudge);
    // What a cause of the product has named is that cause's.
    if !finding.wait.on.iter().any(|known| known.object == blocker.object) {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(blocker);
    }
}

/// Tells what is so with a field or a mark of the object, in words and as evidence.
fn tell(object: &Object, finding: &mut Finding, says: String) {
    finding.say(format!("Its {says}"));
    finding.evidence.push(Evidence {
        source: format!("{} {}", object.kind, object.name()),
        value: says,
        strength: Strength::Moderate,
    });
}

/// Tells how an object is that a field or a mark names.
fn tell_of_named(object: &Object, finding: &mut Finding, named: &Named<'_>, state: &str) {
    let (field, ty, namespace, name) = named;
    let says = format!(
        "{field} names {}, which {state}",
        pasteable_of(ty, namespace, name)
    );
    tell(object, finding, says);
}

/// The state of an object that is named and missing.
const MISSING: &str = "does not exist";

/// An object that is named, and is missing or in trouble.
struct Troubled {
    /// The object, for the chain. Nothing shows that the controller waits for it, so it is no cause.
    node: Blocker,
    /// Whether it exists.
    exists: bool,
}

impl Troubled {
    /// The same, and tells of it.
    fn told(object: &Object, finding: &mut Finding, named: &Named<'_>, state: Option<&str>) -> Self {
        tell_of_named(object, finding, named, state.unwrap_or(MISSING));
        Troubled::of(named, state)
    }

    /// An object in this state; none if it does not exist.
    fn of((field, ty, namespace, name): &Named<'_>, state: Option<&str>) -> Self {
        let object = ObjectRef {
            type_name: ty.name(),
            kind: ty.kind.clone(),
            api_version: ty.api_version(),
            namespace: Some(namespace.clone()).filter(|namespace| !namespace.is_empty()),
            name: name.clone(),
            uid: String::new(),
        };
        let says = format!("{}; {field} names it", state.unwrap_or(MISSING));
        Troubled {
            node: only_named(object, says),
            exists: state.is_some(),
        }
    }
}

/// An object for the chain that is no cause.
fn only_named(object: ObjectRef, says: String) -> Blocker {
    Blocker {
        rest: true,
        ..Blocker::new(Some(object), says)
    }
}

/// An object that may not exist, as a word of a command. The namespace is empty for types without one.
fn pasteable_of(ty: &ResourceType, namespace: &str, name: &str) -> String {
    let place = Some(namespace).filter(|namespace| !namespace.is_empty());
    pasteable(&ty.name(), place, name)
}

/// A field, and the type, namespace and name of the object that it names.
type Named<'a> = (String, &'a ResourceType, String, String);

/// The newest warning about an object that was made for another, in literal words.
fn last_warning(object: &Object, view: &View<'_>) -> Option<String> {
    let event = newest_event(object, view, Event::is_warning).ok()??;
    let text = join(event.reason(), event.message().trim());
    (!text.is_empty()).then(|| shortened(&text))
}

/// The custom types of the groups that belong to this domain: the group itself, those above and those below it.
fn types_of_domain<'a>(domain: &str, view: &View<'a>) -> impl Iterator<Item = &'a ResourceType> {
    let is_below = |one: &str, other: &str| {
        one.strip_suffix(other)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let domain = domain.to_owned();
    view.types().iter().filter(move |ty| {
        is_custom_group(&ty.group) && (is_below(&ty.group, &domain) || is_below(&domain, &ty.group))
    })
}

#[cfg(test)]
mod tests;
