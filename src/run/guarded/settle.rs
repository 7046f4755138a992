//! Finds out the result: reads the object again until it is gone, or until it is clear what blocks it.
//!
//! If the response was lost, this is the only way to know what happened. The request requires a version of
//! the object. If the object has another version and still has the finalizer, the request failed and can
//! never succeed. Without that proof, the report says that it may still arrive.

mod retained;

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{
    act::{After, ReadBack, added_by},
    exit::Exit,
    object::{Finalizer, ObjectRef},
    plan::{Action, Plan},
    report::outcome::OutcomeResult,
    run::{target::watch::Watch, terminal},
    snapshot::facts::Object,
};

/// Time between two reads.
const READ_INTERVAL: Duration = Duration::from_millis(300);
/// An object without finalizers disappears within this time, or there is another problem.
const MAX_WAIT_FOR_DELETION: Duration = Duration::from_secs(10);
/// A controller reacts to a nudge within this time.
const MAX_WAIT_FOR_CONTROLLER: Duration = Duration::from_secs(30);
/// A server that became unreachable is back within this time, or a person has to check.
const MAX_WAIT_FOR_SERVER: Duration = Duration::from_secs(60);
/// A request that was sent before its connection broke has most likely arrived within this time.
const MAX_REQUEST_DELAY: Duration = Duration::from_secs(5);
/// Whoever adds a finalizer again, or sets a policy back, does so within this time.
const RE_ADD_WINDOW: Duration = Duration::from_secs(1);

/// How the change of one object ended.
pub(super) struct Settled {
    pub(super) end: OutcomeResult,
    pub(super) says: String,
    pub(super) held_by: Vec<Finalizer>,
    /// How an object that was made again differs from before, a line each.
    pub(super) differences: Vec<String>,
    pub(super) exit: Exit,
    /// Who made the change, if there is one.
    pub(super) by: DoneBy,
}

/// Who made a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DoneBy {
    /// This request: the server confirmed it.
    Us,
    /// Somebody else: the server refused this request.
    Others,
    /// This request or somebody else: the response was lost.
    Perhaps,
    /// A dry run, which the server has stored.
    Trial,
}

impl Settled {
    pub(super) fn new(end: OutcomeResult, says: impl Into<String>, exit: Exit) -> Self {
        Settled {
            end,
            says: says.into(),
            held_by: Vec::new(),
            differences: Vec::new(),
            exit,
            by: DoneBy::Others,
        }
    }

    /// Says these sentences as well.
    pub(super) fn adds(&mut self, sentences: impl IntoIterator<Item = String>) {
        for sentence in sentences {
            self.says.push(' ');
            self.says.push_str(&sentence);
        }
    }

    /// The change failed.
    pub(super) fn failed(says: impl Into<String>) -> Self {
        Settled::new(OutcomeResult::NotDone, says, Exit::Failed)
    }

    /// The change is no longer allowed.
    pub(super) fn refused(says: impl Into<String>) -> Self {
        Settled::new(OutcomeResult::NotDone, says, Exit::Refused)
    }

    /// The user stopped the run before the request was sent.
    pub(super) fn stopped() -> Self {
        let says = "Stopped with Ctrl-C. Nothing was sent.";
        Settled::new(OutcomeResult::NotDone, says, Exit::Interrupted)
    }

    /// A new object has the name now.
    pub(super) fn replaced() -> Self {
        let says = "The confirmed object is gone. A new object has its name, and was not changed.";
        Settled::new(OutcomeResult::NotDone, says, Exit::Refused)
    }

    /// The state after a dry run that changed an object, or made one. It is a failure, whatever the state is: nobody asked
    /// for it yet.
    pub(super) fn by_trial(mut self, proved: bool, made: Option<&ObjectRef>) -> Self {
        let who = if proved {
            "This API server stored a dry run, which it must not do."
        } else {
            "The change was made during a dry run: by this API server, or by somebody else."
        };
        let made = made.map_or_else(String::new, made_in_words);
        self.says = format!("{who}{made} Now: {}", self.says);
        self.by = DoneBy::Trial;
        self.exit = Exit::Failed;
        self
    }

    /// The word in the receipt.
    pub(super) fn receipt_word(&self) -> &'static str {
        match self.end {
            _ if self.by == DoneBy::Trial => "dry-run-stored",
            OutcomeResult::NotDone if self.exit == Exit::Refused => "refused",
            OutcomeResult::NotDone | OutcomeResult::CameBack => "failed",
            OutcomeResult::Unknown => "unknown",
            OutcomeResult::Unfinished => "unfinished",
            _ => match self.by {
                DoneBy::Us => "done",
                DoneBy::Others => "done-by-others",
                DoneBy::Perhaps | DoneBy::Trial => "done-answer-lost",
            },
        }
    }
}

/// What a dry run left behind.
fn made_in_words(made: &ObjectRef) -> String {
    format!(
        " It made {}, which nothing uses, and which is to be deleted.",
        made.pasteable()
    )
}

/// That a dry run was stored, and what it made.
pub(super) fn stored_in_words(made: Option<&ObjectRef>) -> String {
    let made = made.map_or_else(String::new, made_in_words);
    format!("this API server stored a dry run, which it must not do.{made}")
}

/// The object was gone before this run changed it.
pub(super) fn gone_before(plan: &Plan) -> Settled {
    if plan.action == Action::Retain {
        return retained::gone_before();
    }
    let says = "Deleted before this run changed anything.";
    Settled::new(OutcomeResult::Gone, says, Exit::Done)
}

/// Somebody else made the change.
pub(super) fn out_before(plan: &Plan, object: &Object) -> Settled {
    if let Some(retention) = &plan.retention {
        return retained::set(object, retention);
    }
    let mut settled = Settled::new(
        OutcomeResult::Held,
        "Somebody else removed it before this run changed anything.",
        Exit::Done,
    );
    settled.held_by = object.finalizers();
    if settled.held_by.is_empty() {
        settled.end = OutcomeResult::Going;
    }
    settled
}

/// Finds out the result of a request that succeeded, or whose response was `lost`.
pub(super) async fn settle(
    read_back: &mut ReadBack<'_>,
    plan: &Plan,
    lost: Option<&str>,
    watch: &mut Watch,
) -> Settled {
    let mut newest = None;
    let doing = || {
        let limit = longest_wait(plan, lost.is_some()).as_secs();
        let ellipsis = terminal::plain().ellipsis();
        format!(
            "Checking the result of {} (up to {limit}s){ellipsis}",
            plan.target.pasteable()
        )
    };
    let waiting = async {
        let began = Instant::now();
        let mut since = None;
        loop {
            let after = read_back.state().await;
            // The object counts as unchanged only while every read succeeds.
            since = match &after {
                After::NotKnown(_) => None,
                _ => since.or(Some(Instant::now())),
            };
            let unchanged_for = since.map_or(Duration::ZERO, |since| since.elapsed());
            let is_final_state = is_final(&after, plan, lost.is_some(), unchanged_for, began.elapsed());
            newest = Some(after);
            if is_final_state {
                break;
            }
            sleep(READ_INTERVAL).await;
        }
    };
    watch.show_progress(doing, waiting).await;
    let mut settled = match newest {
        Some(after) => settled_from(&after, plan, lost.is_some()),
        // The user stopped the run before the first read. A server that has just responded will answer this
        // too.
        None if lost.is_none() => settled_from(&read_back.state().await, plan, false),
        None => unknown_result("Nobody checked the result.", true),
    };
    if let Some(why) = lost {
        settled.says = format!(
            "The answer to the request was lost ({why}). Now: {}",
            settled.says
        );
    }
    settled
}

/// How long the result is checked at most.
fn longest_wait(plan: &Plan, lost: bool) -> Duration {
    match plan.action {
        _ if lost => MAX_WAIT_FOR_SERVER,
        Action::Nudge => MAX_WAIT_FOR_CONTROLLER,
        Action::Remove | Action::Finalize | Action::Retain | Action::Rescue | Action::Unmark => {
            MAX_WAIT_FOR_DELETION
        }
    }
}

/// Whether waiting longer cannot change the result.
fn is_final(after: &After, plan: &Plan, lost: bool, unchanged_for: Duration, all: Duration) -> bool {
    match after {
        After::Gone | After::Another(_) => true,
        After::NotKnown(_) => {
            all >= if lost {
                MAX_WAIT_FOR_SERVER
            } else {
                MAX_WAIT_FOR_DELETION
            }
        }
        After::StillOn(object) => !lost || is_newer(object, plan) || unchanged_for >= MAX_REQUEST_DELAY,
        After::Out(object) if plan.action == Action::Nudge => {
            object.finalizers() != plan.stays || unchanged_for >= MAX_WAIT_FOR_CONTROLLER
        }
        After::Out(_) if plan.action == Action::Retain => unchanged_for >= RE_ADD_WINDOW,
        After::Out(object) if object.finalizers().is_empty() => unchanged_for >= MAX_WAIT_FOR_DELETION,
        After::Out(_) => unchanged_for >= RE_ADD_WINDOW,
    }
}

fn is_newer(object: &Object, plan: &Plan) -> bool {
    object.resource_version() != plan.resource_version
}

fn settled_from(after: &After, plan: &Plan, lost: bool) -> Settled {
    if let Some(retention) = &plan.retention {
        let mut settled = retained::settled_from(after, plan, retention, lost);
        settled.by = if lost { DoneBy::Perhaps } else { DoneBy::Us };
        return settled;
    }
    let name = plan
        .finalizer
        .as_ref()
        .map_or("the annotation", |finalizer| finalizer.name.as_str());
    let nudge = plan.action == Action::Nudge;
    let mut settled = match after {
        After::Gone if nudge => {
            Settled::new(OutcomeResult::Woke, "Deleted: its controller acted.", Exit::Done)
        }
        After::Gone => Settled::new(OutcomeResult::Gone, "Deleted.", Exit::Done),
        After::Another(other) => {
            let by = match added_by(other, name) {
                Some((manager, _)) => format!(", and {manager} added {name}"),
                None if other.has_finalizer(name) => {
                    format!(", and it has {name}")
                }
                None => String::new(),
            };
            Settled::new(
                OutcomeResult::ReCreated,
                format!("Deleted. A new object has its name (uid {}){by}.", other.uid()),
                Exit::Done,
            )
        }
        After::StillOn(object) if lost && is_newer(object, plan) => Settled::failed(
            "The object has changed since, so the request was not carried out and never will be.",
        ),
        After::StillOn(_) if lost => unknown_result(
            "Nothing has changed so far, so the request most likely did not arrive. If it did, the API server can still carry \
             it out, in most clusters for a minute.",
            true,
        ),
        After::StillOn(object) => {
            let by = match added_by(object, name) {
                Some((manager, time)) => format!("{manager} added it, at {time} or before"),
                None => "no manager is recorded, so a webhook may put it back".into(),
            };
            Settled::new(
                OutcomeResult::CameBack,
                format!("{name} is on it again: {by}."),
                Exit::Failed,
            )
        }
        After::Out(object) if nudge => settled_nudge(object, plan),
        After::Out(object) if object.finalizers().is_empty() => {
            Settled::new(OutcomeResult::Going, still_there(name, plan), Exit::Done)
        }
        After::Out(_) => Settled::new(
            OutcomeResult::Held,
            format!("{name} was removed. Other finalizers still hold the object."),
            Exit::Done,
        ),
        After::NotKnown(why) => {
            unknown_result(&format!("The object cannot be read: {}", why.message()), lost)
        }
    };
    if let After::Out(object) | After::StillOn(object) = after {
        settled.held_by = object.finalizers();
    }
    settled.by = if lost { DoneBy::Perhaps } else { DoneBy::Us };
    settled
}

/// The last finalizer was removed, and the object still exists.
fn still_there(finalizer: &str, plan: &Plan) -> String {
    match &plan.kubelet {
        Some(node) => format!(
            "{finalizer} was removed. The pod stays until the kubelet of {node} confirms that it has stopped."
        ),
        None => format!("{finalizer} was removed and no finalizer is left, but the object still exists."),
    }
}

fn settled_nudge(object: &Object, plan: &Plan) -> Settled {
    let now = object.finalizers();
    let out: Vec<_> = plan
        .stays
        .iter()
        .filter(|one| !now.contains(one))
        .map(ToString::to_string)
        .collect();
    if out.is_empty() {
        let says = format!(
            "No controller reacted within {}s.",
            MAX_WAIT_FOR_CONTROLLER.as_secs()
        );
        Settled::new(OutcomeResult::Asleep, says, Exit::Done)
    } else {
        let says = format!("Its controller acted and removed {}.", out.join(", "));
        Settled::new(OutcomeResult::Woke, says, Exit::Done)
    }
}

fn unknown_result(why: &str, lost: bool) -> Settled {
    if lost {
        return Settled::new(OutcomeResult::Unknown, why, Exit::Failed);
    }
    Settled::new(
        OutcomeResult::Unknown,
        format!("The server confirmed the change. {why}"),
        Exit::Failed,
    )
}
