//! What a known finalizer waits for: its own status, or other objects.
//!
//! # Symptom
//!
//! A custom resource stays in deletion although its controller runs. Its status or events may say `in use`, `still
//! has`, `DeletionIsBlocked` or `waiting for`.
//!
//! ```text
//! $ kubectl finalizers explain cephclusters.ceph.rook.io/af-rook-ceph-dev1 -n rook-ceph --from tests/stories/rook-cephcluster-blocked-by-pool/cluster.yaml
//! ```
//!
//! # Why
//!
//! Usages and references protect. A working controller keeps an `AppProject` while Applications name it. It keeps a
//! `ProviderConfig` while managed resources use it, and a cluster while it has machines. It keeps a backup until its
//! phase says that the backup ended. The catalogue has this in `waits-for`, from the sources of each product.
//!
//! # Before you act
//!
//! See which objects use it, and whether they are wanted.
//!
//! # If it was a mistake
//!
//! As long as something uses the object, it stays. Save it.
//!
//! # If it was intended
//!
//! Delete or move what uses it. The object then goes by itself.
//!
//! # Do not
//!
//! Do not remove the finalizer while it is used. What uses the object loses its credentials or its parent.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | other objects reference it |
//! | waiting | objects that were made for it are left, or its own status is not as it must be |
//! | failing | such an object is a failed Job |
//! | stalled | all conditions are met, and the controller runs and has not acted for ten minutes |
//! | (of the controller) | the controller is gone, switched off, failing, or could not be read |
//!
//! # What it reads
//!
//! Every word in `waits-for` of the entry that can be looked up. `phase`, `phase-not`, `condition` and `field-empty`
//! stand in the object itself. `used-by`, `child-objects`, `parent`, `instances`, `instances-of`, `instances-beside`
//! and `named` are other objects. An absent condition is not seen, and so is everything where only metadata was read.
//! Finding no object that uses it proves nothing, because not every product references others in the usual way. Nothing
//! is told of a wait that nobody read in the sources.
//!
//! # Sources
//!
//! - `kubernetes/community:contributors/devel/sig-architecture/api-conventions.md` "Typical status properties"
//! - the entry's own: the `sources` of the finalizer in knowledge/

mod objects;
mod state;
mod usage;

use self::{
    objects::Relation,
    state::{Answer, Met},
};
use crate::{
    diagnose::{
        causes::{
            cause::{Cause, Described, On, Reads, Tells, Turn},
            verdicts::set_unless_holder_is_at_fault,
        },
        holder::{Holder, Liveness},
        model::{Blocker, Evidence, Finding, Page, StepKind, Strength, Verdict},
        timing,
        view::View,
    },
    knowledge::schema::{Judged, Wait},
    object::{Age, ObjectRef},
    snapshot::facts::Object,
};

/// A search for what one finalizer waits for.
struct Search<'a, 'v> {
    object: &'a Object,
    holder: &'a Holder,
    finding: &'a mut Finding,
    view: &'a View<'v>,
    /// Whether each condition of the entry is met.
    met: Vec<Met>,
    /// The children that nobody deletes yet.
    children: Vec<ObjectRef>,
}

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Waits, add_waits),
};

fn add_waits(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described {
        object,
        entry,
        holder,
        ..
    } = *described;
    if entry.is_judged(Judged::WaitsFor) {
        add_hints(described, finding, view);
        return;
    }
    let mut search = Search {
        object,
        holder,
        finding,
        view,
        met: Vec::new(),
        children: Vec::new(),
    };
    for wait in &entry.waits_for.on {
        search.look_up(wait);
    }
    search.put_later_phases_last();
    search.conclude(&entry.waits_for.on);
}

/// Looks up what an entry concludes and no source shows. What is found is a hint, and keeps nothing.
fn add_hints(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let mut trial = finding.clone();
    trial.wait.on.clear();
    let mut search = Search {
        object: described.object,
        holder: described.holder,
        finding: &mut trial,
        view,
        met: Vec::new(),
        children: Vec::new(),
    };
    for wait in &described.entry.waits_for.on {
        search.look_up(wait);
    }
    let hints = trial.wait.on.iter().map(|blocker| Evidence {
        source: format!("catalogue entry {}", described.entry.name),
        value: format!(
            "no source shows what it waits for; it may be {}",
            blocker.in_words()
        ),
        strength: Strength::Hint,
    });
    finding.evidence.extend(hints);
}

impl Search<'_, '_> {
    /// Looks one word up. Each word of the catalogue has its place here.
    fn look_up(&mut self, wait: &Wait) {
        let object = self.object;
        match wait {
            Wait::UsedBy(kinds) => self.add_kinds(kinds, Relation::Uses, ""),
            Wait::ChildObjects(kinds) => self.add_kinds(kinds, Relation::MadeFor, ""),
            Wait::Parent(kinds) => self.add_kinds(kinds, Relation::Parent, object.namespace()),
            Wait::InstancesOf(kinds) => self.add_kinds(kinds, Relation::OfType, ""),
            Wait::InstancesBeside(kinds) => self.add_kinds(kinds, Relation::OfType, object.namespace()),
            Wait::Instances => self.add_instances(),
            Wait::Named(path) => self.add_object_in_field(path),
            Wait::FieldEmpty(path) => self.add_answer(state::field_empty(object, path)),
            Wait::Phase(words) => self.add_answer(state::phase(object, words, self.view.is_redacted())),
            Wait::PhaseNot(words) => {
                self.add_answer(state::phase_not(object, words, self.view.is_redacted()));
            }
            Wait::Condition { r#type, status } => self.add_answer(state::condition(object, r#type, status)),
            // A running controller acknowledges it at once, so there is nothing else to wait for.
            Wait::HolderOnly => {}
            // Nothing in this cluster shows the first five. The schema takes the others only for finalizers with a cause
            // of their own, which looks them up.
            Wait::External { .. }
            | Wait::OtherCluster(_)
            | Wait::Activity(_)
            | Wait::Person
            | Wait::Nothing
            | Wait::PodsThatMount
            | Wait::ClaimOfVolume
            | Wait::AttachmentsOf
            | Wait::ContentOfSnapshot
            | Wait::SnapshotOfContent
            | Wait::ClaimsFromSnapshot
            | Wait::SnapshotsOfClaim
            | Wait::ClonesOfClaim
            | Wait::Dependants
            | Wait::DependantsDetached
            | Wait::ContentOfNamespace => self.met.push(Met::Unseen),
        }
    }

    /// Adds what the object itself says of a condition.
    fn add_answer(&mut self, answer: Answer) {
        let object = self.object;
        self.met.push(answer.met);
        self.drop_complaint(&answer);
        self.finding
            .evidence
            .extend(answer.read.map(|(field, value)| Evidence {
                source: format!("{} {} {field}", object.kind, object.name()),
                value,
                strength: Strength::Strong,
            }));
        let is_last_word = matches!(
            self.holder.liveness(),
            Liveness::Gone | Liveness::Off | Liveness::Failing
        );
        if answer.met != Met::No || is_last_word {
            // Of a controller that does not work, these are old words, and not what keeps the object.
            self.finding.say(answer.says);
            return;
        }
        self.finding.tell_of(Page::of(module_path!()));
        // Words in a status do not show who wrote them, so they tell nothing of a controller that nobody knows.
        if self.finding.wait.verdict == Verdict::Stalled {
            self.finding.wait.verdict = Verdict::Waiting;
        }
        self.drop_nudges();
        self.finding.wait.on.push(Blocker::new(None, answer.says));
    }

    /// Drops a condition from the complaints. The entry tells what its status means, and the message is told with it.
    fn drop_complaint(&mut self, answer: &Answer) {
        let is_failure = self.finding.wait.verdict == Verdict::Failing && answer.met == Met::Yes;
        if let Some(condition) = answer.condition.as_ref().filter(|_| !is_failure) {
            self.finding.wait.on.retain(|on| !on.quotes(condition));
        }
    }

    /// Marks the finding as waiting for other objects. The controller is not at fault for what it waits for.
    fn mark_waiting(&mut self, verdict: Verdict) {
        self.finding.tell_of(Page::of(module_path!()));
        set_unless_holder_is_at_fault(self.finding, self.holder, verdict);
        self.drop_nudges();
    }

    /// Touching the object has no effect while a condition is not met.
    fn drop_nudges(&mut self) {
        self.finding.steps.retain(|step| step.kind() != StepKind::Nudge);
    }

    /// A controller that fails, or still waits for something that is Terminating, deletes the other children later. So they
    /// keep nothing, and nobody should be led to delete them by hand.
    fn put_later_phases_last(&mut self) {
        let children = &self.children;
        let is_later = |blocker: &Blocker| blocker.object.as_ref().is_some_and(|one| children.contains(one));
        let wait = &mut self.finding.wait;
        if wait.on.iter().all(is_later) {
            return;
        }
        for blocker in wait.on.iter_mut().filter(|blocker| is_later(blocker)) {
            blocker.rest = true;
        }
        wait.on.sort_by_key(|blocker| blocker.rest);
        let steps: Vec<_> = children.iter().map(objects::see_child_step).collect();
        self.finding.steps.retain(|step| !steps.contains(step));
    }

    /// If all that can be looked up is met, says what is left. If nothing is left, the controller is late after the time
    /// that a clean-up may take.
    fn conclude(&mut self, waits: &[Wait]) {
        let beyond: Vec<_> = waits.iter().filter_map(beyond_this_cluster).collect();
        let unseen = self.met.iter().filter(|met| **met == Met::Unseen).count();
        let is_any_met = self.met.contains(&Met::Yes);
        if !is_any_met || self.met.contains(&Met::No) || unseen > beyond.len() {
            return;
        }
        if !beyond.is_empty() {
            self.finding
                .say(format!("what is left cannot be looked up: {}", beyond.join(", ")));
            return;
        }
        let waits_in_vain = self.finding.wait.verdict == Verdict::Waiting && self.finding.wait.on.is_empty();
        if self.is_late() && waits_in_vain && self.holder.liveness() == Liveness::Running {
            self.finding.tell_of(Page::of(module_path!()));
            self.finding.wait.verdict = Verdict::Stalled;
            self.finding.say("so none of that blocks it");
        }
    }

    /// Whether the deletion takes longer than a clean-up may.
    fn is_late(&self) -> bool {
        let age = self
            .object
            .deletion()
            .map(|deletion| Age::between(deletion.requested_at(), self.view.now()).0.as_secs());
        age.is_some_and(|age| age >= timing::CLEAN_UP)
    }
}

/// What a condition is about, where nothing in this cluster can show whether it is met.
fn beyond_this_cluster(wait: &Wait) -> Option<&str> {
    match wait {
        Wait::External { what, .. } | Wait::OtherCluster(what) | Wait::Activity(what) => Some(what),
        _ => None,
    }
}
