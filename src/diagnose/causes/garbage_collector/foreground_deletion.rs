//! `foregroundDeletion`: an owner that waits for its dependents.
//!
//! # Symptom
//!
//! An object was deleted with `--cascade=foreground`, as Argo CD does, and stays with the finalizer
//! `foregroundDeletion`.
//!
//! ```text
//! $ kubectl finalizers explain mariadbs.k8s.mariadb.com/mariadb -n crm --from tests/stories/mariadb-foreground-deletion/cluster.yaml
//! ```
//!
//! # Why
//!
//! The garbage collector removes it when no object names the uid of the owner with `blockOwnerDeletion: true`. Until
//! then it deletes each of those dependents, and one stuck dependent holds the owner, too. It compares only the uid. A
//! dependent without `blockOwnerDeletion` does not hold the owner.
//!
//! # Before you act
//!
//! Find the dependents that are left. Each may have a finalizer of its own, whose controller may be gone already.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn. Save the dependents that are still there.
//!
//! # If it was intended
//!
//! Resolve the dependent that is stuck. The owner then goes by itself. If none is left, delete the owner once more.
//!
//! # Do not
//!
//! Do not remove the finalizer instead. The dependents lose their owner and are deleted in the background, or stay
//! stuck.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | dependents block it; each is named with what holds it |
//! | stalled | none is left, or none is being deleted |
//! | failing | dependents cannot be listed by anybody |
//! | unknown | no dependent was found, and a type could not be listed |
//!
//! # What it reads
//!
//! The metadata of all objects with owners in the namespace of the owner, of every type, once for all owners there. For
//! an owner without a namespace, its dependents in all namespaces. Then each dependent that blocks. A dependent that
//! was made after the deletion is named with what makes it.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` processDeletingDependentsItem
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/graph.go` blockingDependents

use crate::{
    command::Command,
    diagnose::{
        causes::{
            api_machinery::{controller_manager, conversion_webhook},
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            operators::referenced_by::referencing_field,
        },
        events::{Report, newest_report},
        kinds::{Event, ManagedFields, OwnerReference},
        limits,
        model::{Blocker, Evidence, Finding, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::{Missing, View},
    },
    object::{Age, Finalizer, ObjectRef},
    snapshot::{
        Gap, Why,
        facts::{Object, Where},
    },
};
use jiff::Timestamp;

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Named("foregroundDeletion"),
    reads: Reads::Metadata,
    page: Page::of(module_path!()),
    tells: Tells::Finalizer(dependents_remain),
};

fn dependents_remain(owner: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(owner, finalizer, None, view);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        holder
            .removes("kube-controller-manager")
            .part("garbage collector")
            .once("no dependent with blockOwnerDeletion is left"),
    );
    finding.tell_of(Page::of(module_path!()));
    holder.add_evidence(&mut finding);
    let goes_round = match Dependents::of(owner, view, OwnerReference::blocks_deletion) {
        Ok(dependents) => add_dependents(&mut finding, owner, &dependents, view),
        Err(missing) => {
            add_unknown_dependents(&mut finding, owner, missing.in_words(), view);
            false
        }
    };
    if !goes_round {
        finding.do_not.push(format!(
            "take {} off by hand: the owner goes at once, and what it owns is deleted afterwards. What is stuck there \
             stays stuck and is harder to find",
            finalizer.name
        ));
    }
    finding
}

/// Adds which dependents are left, and returns whether somebody makes them again and again.
fn add_dependents(
    finding: &mut Finding,
    owner: &Object,
    dependents: &Dependents<'_>,
    view: &View<'_>,
) -> bool {
    let blockers = dependents.blockers(view, |dependent| match held_by(dependent) {
        _ if made_afterwards(dependent, owner).is_some() => "made after the deletion of its owner".to_owned(),
        _ if dependent.deletion().is_none() => "not being deleted yet".to_owned(),
        finalizer_names if finalizer_names.is_empty() => "being deleted".to_owned(),
        finalizer_names => format!("being deleted, held by {finalizer_names}"),
    });
    if blockers.is_empty() {
        add_no_dependents(finding, owner, dependents, view);
        return false;
    }
    in_use::settle(
        finding,
        owner,
        Users::Found(Verdict::Waiting, blockers.clone()),
        view,
    );
    let any_being_deleted = dependents
        .objects
        .iter()
        .any(|dependent| dependent.deletion().is_some());
    let is_made_again =
        |dependent: &&Object| made_afterwards(dependent, owner).is_some_and(|created| is_new(created, view));
    let made_again: Vec<_> = dependents.objects.iter().copied().filter(is_made_again).collect();
    // What runs costs more than an account or a role.
    let most_telling = made_again
        .iter()
        .find(|dependent| has_pods(dependent))
        .or(made_again.first());
    let mut goes_round = false;
    if let Some(dependent) = most_telling {
        goes_round = add_maker(finding, dependent, dependents, owner, view);
    } else if !any_being_deleted && !timing::is_deletion_recent(owner, view) {
        // It deletes all dependents that block at once. So those that it has not asked tell enough, whatever else there is.
        finding.wait.verdict = Verdict::Stalled;
        finding.say("none of its dependents is being deleted");
        add_late_garbage_collector(finding, dependents, view);
    }
    if let Some((dependent, field)) = user_of_owner(dependents, owner, view) {
        finding.say(format!(
            "{} {} names it in {field}: perhaps each waits for the other",
            dependent.kind,
            dependent.name()
        ));
    }
    for blocker in blockers.iter().take(limits::STEPS_FOR_EACH) {
        // Nothing holds an object that nobody deletes.
        let is_held = |object: &&ObjectRef| {
            let mut all = dependents.objects.iter();
            all.any(|one| one.deletion().is_some() && one.reference() == **object)
        };
        if let Some(object) = blocker.object.as_ref().filter(is_held) {
            finding.steps.push(Step {
                when: When::Now,
                text: format!("see what holds {} {}, and resolve that", object.kind, object.name),
                command: Some(Command::explain(&object.type_name, &object.name, object.place())),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            });
        }
    }
    goes_round
}

/// A dependent that is held, and names its owner in a field of its own. The owner waits for it, and it may wait for the owner.
fn user_of_owner<'a>(
    dependents: &Dependents<'_>,
    owner: &Object,
    view: &View<'a>,
) -> Option<(&'a Object, String)> {
    dependents
        .objects
        .iter()
        .take(limits::DEPENDENTS)
        .find_map(|dependent| {
            let whole = whole(dependent, view)?;
            let is_held = whole.deletion().is_some() && !whole.finalizers().is_empty();
            let field = is_held.then(|| referencing_field(whole, owner))??;
            Some((whole, field))
        })
}

/// All of a dependent, of which only the metadata was listed. None if it is gone or was not read.
fn whole<'a>(dependent: &Object, view: &View<'a>) -> Option<&'a Object> {
    let resource = &dependent.resource;
    let (namespace, name) = (dependent.namespace(), dependent.name());
    let found = view
        .object(&resource.group, &resource.plural, namespace, name)
        .ok()??;
    (found.uid() == dependent.uid()).then_some(found)
}

/// When a dependent was made, if that was long after the deletion of its owner.
fn made_afterwards(dependent: &Object, owner: &Object) -> Option<Timestamp> {
    let created: Timestamp = dependent.created()?;
    let deleted = owner.deletion()?.requested_at();
    (dependent.deletion().is_none()
        && Age::between(deleted, created).0.as_secs() > timing::WORKING_CONTROLLER)
        .then_some(created)
}

/// Whether it was made so recently that the garbage collector is not late.
fn is_new(created: Timestamp, view: &View<'_>) -> bool {
    Age::between(created, view.now()).0.as_secs() < timing::SOON
}

/// Whether it is a Pod, or makes Pods.
fn has_pods(dependent: &Object) -> bool {
    dependent.is("", "pods") || matches!(dependent.resource.group.as_str(), "apps" | "batch")
}

/// Who creates objects for this owner since its deletion, as an event about it says.
struct Maker {
    says: String,
    /// How often.
    times: i64,
}

fn maker(owner: &Object, dependent: &Object, view: &View<'_>) -> Option<Maker> {
    let is_of_maker = |event: Event<'_>| {
        let is_about =
            event.reason().ends_with(&dependent.kind) || event.message().contains(dependent.name());
        is_about && event.reason().contains("Creat")
    };
    let Report { event, by, ago } = newest_report(owner, view, is_of_maker)?;
    let times = event.count().unwrap_or(1);
    let often = if times > 1 {
        format!(" {times} times")
    } else {
        String::new()
    };
    Some(Maker {
        says: format!("{by} reported {}{often}, the last time {ago} ago", event.reason()),
        times,
    })
}

/// Whoever wrote the object first, by its field managers.
fn first_writer<'a>(dependent: &Object, view: &View<'a>) -> Option<&'a str> {
    let whole = whole(dependent, view)?;
    let all = ManagedFields::all(whole).filter(|fields| fields.time() == whole.created());
    let mut writers: Vec<_> = all.filter_map(ManagedFields::manager).collect();
    writers.dedup();
    match *writers {
        [writer] => Some(writer),
        _ => None,
    }
}

/// Adds that somebody makes dependents again, and returns whether it was seen more than once. That is the cause, and none of
/// those that were made is.
fn add_maker(
    finding: &mut Finding,
    dependent: &Object,
    dependents: &Dependents<'_>,
    owner: &Object,
    view: &View<'_>,
) -> bool {
    let reference = dependent.reference();
    let is_later = |object: &ObjectRef| {
        let mut later = dependents
            .objects
            .iter()
            .filter(|one| made_afterwards(one, owner).is_some());
        later.any(|one| one.reference() == *object)
    };
    let mut others = 0_usize;
    for blocker in &mut finding.wait.on {
        let Some(object) = blocker.object.as_ref().filter(|object| is_later(object)) else {
            continue;
        };
        blocker.rest = true;
        others += usize::from(*object != reference);
    }
    let says = format!(
        "{} was made a moment ago, so some controller creates or recreates it",
        reference.pasteable()
    );
    finding.wait.on.insert(0, Blocker::new(None, says));
    match others {
        0 => {}
        1 => finding.say("One more of its dependents was made after its deletion"),
        more => finding.say(format!(
            "{more} more of its dependents were made after its deletion"
        )),
    }
    let writer = first_writer(dependent, view);
    let maker = maker(owner, dependent, view);
    let is_again = others > 0 || maker.as_ref().is_some_and(|maker| maker.times > 1);
    if let Some(maker) = maker {
        finding.say(maker.says);
    }
    if let Some(writer) = writer {
        finding.say(format!("Its maker writes as field manager \"{writer}\""));
    } else {
        finding.steps.push(Step {
            when: When::Now,
            text: format!(
                "see which field manager makes {} {}. As long as it does, the owner stays",
                dependent.kind,
                dependent.name()
            ),
            command: Some(Command::of(
                "kubectl -n {} get {}/{} -o yaml --show-managed-fields",
                [dependent.namespace(), &reference.type_name, dependent.name()],
            )),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        });
    }
    if is_again {
        end_loop(finding, owner);
    }
    is_again
}

/// Says that it goes round, and how it ends. A second deletion in the background takes the finalizer off: the API server writes
/// the two finalizers of the garbage collector anew for each deletion
/// (`kubernetes/apiserver:pkg/registry/generic/registry/store.go` deletionFinalizersForGarbageCollection).
fn end_loop(finding: &mut Finding, owner: &Object) {
    // That tells more than who makes it.
    finding.wait.said.now.insert(
        0,
        "as often as the garbage collector deletes it, it is made again: this does not end by itself"
            .to_owned(),
    );
    let after = match *owner.finalizers() {
        [_] => "It then goes at once, and nobody makes more for it",
        _ => "It then no longer waits for what it owns",
    };
    finding.steps.push(Step {
        when: When::Now,
        text: format!(
            "WHAT IT OWNS IS DELETED, as the deletion asked for: to end it, delete the {} once more, in the background. \
             {after}",
            owner.kind
        ),
        command: Some(delete_in_background(owner)),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
}

fn delete_in_background(owner: &Object) -> Command {
    Command::of(
        "kubectl -n {} delete {}/{} --cascade=background --wait=false",
        [owner.namespace(), &owner.resource.name(), owner.name()],
    )
}

fn held_by(object: &Object) -> String {
    let finalizer_names: Vec<_> = object.finalizers().iter().map(ToString::to_string).collect();
    finalizer_names.join(", ")
}

/// Adds that no dependent was found: the garbage collector is late, or the dependents could not be listed.
pub(crate) fn add_no_dependents(
    finding: &mut Finding,
    owner: &Object,
    dependents: &Dependents<'_>,
    view: &View<'_>,
) {
    if !dependents.are_complete() {
        add_unknown_dependents(finding, owner, dependents.gaps_in_words(), view);
        if !timing::is_deletion_recent(owner, view) && dependents.only_unconvertible_are_missing() {
            conversion_webhook::add_conversion_failure(finding, dependents.server_errors(), view);
        }
        return;
    }
    let standing = in_use::settle(finding, owner, Users::Nobody("none is left"), view);
    finding.evidence.push(Evidence {
        source: match owner.namespace() {
            "" => "metadata of all types".to_owned(),
            namespace => format!("metadata of all types in {namespace}"),
        },
        value: format!("no such object names uid {}", owner.uid()),
        strength: Strength::Strong,
    });
    if standing == Standing::Late {
        add_late_garbage_collector(finding, dependents, view);
        finding.steps.push(Step {
            when: When::StillThere,
            text: "delete it once more, in the background: the API server itself then removes what the garbage collector \
                   has left, and nothing is left that this could touch"
                .into(),
            command: Some(delete_in_background(owner)),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        });
    }
}

fn add_unknown_dependents(finding: &mut Finding, owner: &Object, why: String, view: &View<'_>) {
    in_use::settle(finding, owner, Users::NotSeen("which are left", why), view);
}

/// Adds that the garbage collector is late. Up to Kubernetes 1.31, a type that nobody can list stops it.
pub(crate) fn add_late_garbage_collector(
    finding: &mut Finding,
    dependents: &Dependents<'_>,
    view: &View<'_>,
) {
    let (verdict, known) = (finding.wait.verdict, finding.wait.on.len());
    if dependents.server_errors().any(conversion_webhook::is_reported) {
        conversion_webhook::add_conversion_failure(finding, dependents.server_errors(), view);
    } else if !dependents.are_complete() {
        conversion_webhook::add_dead_webhooks(finding, view);
    }
    finding.wait.verdict = verdict;
    let mut added = finding.wait.on.iter().skip(known);
    if let Some(unlisted) = added.find_map(|blocker| blocker.object.clone()) {
        finding.say(format!(
            "a type that nobody can list may stop it: {}",
            unlisted.name
        ));
    }
    finding.steps.push(Step {
        when: When::Now,
        text: "the garbage collector is late: see what it complains of. Up to Kubernetes 1.31 a type that cannot be \
               listed keeps it from starting. Touching the object does not make it look again, a restart of \
               kube-controller-manager does"
            .into(),
        command: Some(Command::of(
            "kubectl -n kube-system logs -l component=kube-controller-manager --tail=-1 | grep -i garbage",
            [],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    finding.steps.push(Step {
        when: When::Now,
        text: "see which aggregated APIs do not answer, so that their types cannot be listed".into(),
        command: Some(Command::of("kubectl get apiservices | grep False", [])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}

/// The objects that name an owner, as far as they could be listed.
pub(crate) struct Dependents<'a> {
    /// The objects that are being deleted come first.
    pub(crate) objects: Vec<&'a Object>,
    gaps: Vec<&'a Gap>,
}

impl<'a> Dependents<'a> {
    /// The dependents with an owner reference that `counts`.
    pub(crate) fn of(
        owner: &'a Object,
        view: &View<'a>,
        counts: fn(OwnerReference<'a>) -> bool,
    ) -> Result<Self, Missing> {
        let everywhere = Where::Owner(owner.uid().to_owned());
        let mut dependents = match owner.namespace() {
            "" => Self::listed_in(everywhere, owner, view, counts)?,
            namespace => {
                let dependents =
                    Self::listed_in(Where::Namespace(namespace.to_owned()), owner, view, counts)?;
                let may_be_elsewhere =
                    dependents.objects.is_empty() && !timing::is_deletion_recent(owner, view);
                // A copy in another namespace that still names the uid counts too. Finding it needs all types in all
                // namespaces. It is not needed if a stopped controller manager explains the delay.
                if may_be_elsewhere && !matches!(controller_manager::stale_lease(view), Ok(Some(_))) {
                    Self::listed_in(everywhere, owner, view, counts)?
                } else {
                    dependents
                }
            }
        };
        for gap in view.silent_groups() {
            view.miss(gap);
            dependents.gaps.push(gap);
        }
        Ok(dependents)
    }

    fn listed_in(
        place: Where,
        owner: &'a Object,
        view: &View<'a>,
        counts: fn(OwnerReference<'a>) -> bool,
    ) -> Result<Self, Missing> {
        let listed = view.owned(place)?;
        let mut objects: Vec<_> = listed
            .objects
            .iter()
            .filter(|&object| {
                let mut references = OwnerReference::all(object).filter(|reference| reference.is_to(owner));
                references.any(counts)
            })
            .collect();
        objects.sort_by_key(|object| object.deletion().is_none());
        Ok(Dependents {
            objects,
            gaps: listed.gaps.iter().collect(),
        })
    }

    /// Whether all dependents are known.
    pub(crate) fn are_complete(&self) -> bool {
        self.gaps.is_empty()
    }

    fn gaps_in_words(&self) -> String {
        let first = self.gaps.first().copied().map(crate::snapshot::Gap::in_words);
        match self.gaps.len() {
            0 | 1 => first.unwrap_or_default(),
            all => format!(
                "{}, and {} more that could not be read",
                first.unwrap_or_default(),
                all - 1
            ),
        }
    }

    /// The error messages of the server for types that it cannot list for anybody.
    fn server_errors(&self) -> impl Iterator<Item = &'a str> {
        self.gaps.iter().filter_map(|gap| match &gap.why {
            Why::ServerError(text) | Why::Throttled(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether the garbage collector cannot list any of the unlisted types either.
    fn only_unconvertible_are_missing(&self) -> bool {
        self.server_errors()
            .filter(|text| conversion_webhook::is_reported(text))
            .count()
            == self.gaps.len()
    }

    /// Each dependent as a blocker.
    pub(crate) fn blockers(&self, view: &View<'_>, says: impl Fn(&Object) -> String) -> Vec<Blocker> {
        let mut blockers: Vec<_> = self
            .objects
            .iter()
            .take(limits::DEPENDENTS)
            .filter_map(|dependent| {
                let resource = &dependent.resource;
                let whole = view.object(
                    &resource.group,
                    &resource.plural,
                    dependent.namespace(),
                    dependent.name(),
                );
                let reference = Some(dependent.reference());
                match whole {
                    Ok(Some(whole)) if whole.uid() == dependent.uid() => {
                        Some(view.blocker(whole, says(dependent)))
                    }
                    // It was deleted in the meantime.
                    Ok(_) => None,
                    Err(Missing::NotYet) => Some(Blocker::new(reference, says(dependent))),
                    Err(missing) => Some(Blocker::new(
                        reference,
                        format!(
                            "{}; what it waits for is not known: {}",
                            says(dependent),
                            missing.in_words()
                        ),
                    )),
                }
            })
            .collect();
        if self.objects.len() > limits::DEPENDENTS {
            let more = self.objects.len() - limits::DEPENDENTS;
            blockers.push(Blocker::new(
                None,
                format!("and {more} more objects that it owns"),
            ));
        }
        blockers
    }
}

#[cfg(test)]
mod tests;
