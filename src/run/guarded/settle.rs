//! What became of the object: read back until it is gone or it is clear what holds it.
//!
//! Where the answer to the request was lost, this is the only way to know what happened. A request tests the version of
//! the object, so once the object has another version with the finalizer still on it, the request was not carried out and
//! never will be. Without that proof it is said that it may still come.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{
    act::{After, Look, added_by},
    exit::Exit,
    object::Finalizer,
    plan::{Action, Plan},
    report::outcome::Result as End,
    run::target::watch::Watch,
    snapshot::facts::Object,
};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(300);
/// An object without finalizers goes within this, or something else is the matter.
const PATIENCE: Duration = Duration::from_secs(10);
/// A controller that was woken acts within this.
const WAKING: Duration = Duration::from_secs(30);
/// A server that went away in the middle is back within this, or somebody else has to look.
const AWAY: Duration = Duration::from_secs(60);
/// A request that was under way when its connection broke has arrived within this, most likely.
const UNDER_WAY: Duration = Duration::from_secs(5);
/// One that takes the place of a finalizer again does so within this.
const BACK: Duration = Duration::from_secs(1);

/// How it ended with one object.
pub(super) struct Settled {
    pub(super) end: End,
    pub(super) says: String,
    pub(super) held_by: Vec<Finalizer>,
    pub(super) exit: Exit,
    /// Who did it, where something was done.
    pub(super) by: By,
}

/// Who did what was found done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// This request: the server said so.
    Us,
    /// Somebody else: the server refused this request.
    Others,
    /// This request or somebody else: its answer was lost.
    Perhaps,
}

impl Settled {
    fn new(end: End, says: impl Into<String>, exit: Exit) -> Self {
        Settled {
            end,
            says: says.into(),
            held_by: Vec::new(),
            exit,
            by: By::Others,
        }
    }

    /// It could not be done.
    pub(super) fn failed(says: impl Into<String>) -> Self {
        Settled::new(End::NotDone, says, Exit::Failed)
    }

    /// It is not to be done any more.
    pub(super) fn refused(says: impl Into<String>) -> Self {
        Settled::new(End::NotDone, says, Exit::Refused)
    }

    /// Somebody was quicker.
    pub(super) fn gone_before() -> Self {
        let says = "it was gone before the request arrived, which changed nothing";
        Settled::new(End::Gone, says, Exit::Done)
    }

    /// There is another one now.
    pub(super) fn replaced() -> Self {
        let says = "the object that was confirmed is gone, and another one of its name is there; the request changed nothing";
        Settled::new(End::NotDone, says, Exit::Refused)
    }

    /// Somebody else has taken the finalizer out.
    pub(super) fn out_before(object: &Object) -> Self {
        let mut settled = Settled::new(
            End::Held,
            "it was done already when the request arrived, which changed nothing",
            Exit::Done,
        );
        settled.held_by = object.finalizers();
        if settled.held_by.is_empty() {
            settled.end = End::Going;
        }
        settled
    }

    /// The word of the receipt.
    pub(super) fn receipt(&self) -> &'static str {
        match self.end {
            End::NotDone if self.exit == Exit::Refused => "refused",
            End::NotDone | End::CameBack => "failed",
            End::Unknown => "unknown",
            _ => match self.by {
                By::Us => "done",
                By::Others => "done-by-others",
                By::Perhaps => "done-answer-lost",
            },
        }
    }
}

/// What became of the object after a request that was carried out, or whose answer was `lost`.
pub(super) async fn settle(
    look: &mut Look<'_>,
    plan: &Plan,
    lost: Option<&str>,
    watch: &mut Watch,
) -> Settled {
    let mut newest = None;
    let doing = || format!("{}: looking what became of it", plan.target.name);
    let waiting = async {
        let began = Instant::now();
        let mut since = None;
        loop {
            let after = look.now().await;
            // Only what is seen without a break counts as standing still.
            since = match &after {
                After::NotKnown(_) => None,
                _ => since.or(Some(Instant::now())),
            };
            let still = since.map_or(Duration::ZERO, |since| since.elapsed());
            let enough = is_enough(&after, plan, lost.is_some(), still, began.elapsed());
            newest = Some(after);
            if enough {
                break;
            }
            sleep(PAUSE).await;
        }
    };
    watch.over(doing, waiting).await;
    let mut settled = match newest {
        Some(after) => told(&after, plan, lost.is_some()),
        // Stopped before the first look. A server that has just answered answers this, too.
        None if lost.is_none() => told(&look.now().await, plan, false),
        None => not_known("nobody looked", true),
    };
    if let Some(why) = lost {
        settled.says = format!(
            "the answer to the request was lost ({why}); looked at again: {}",
            settled.says
        );
    }
    settled
}

/// Whether there is nothing more to wait for.
fn is_enough(after: &After, plan: &Plan, lost: bool, still: Duration, all: Duration) -> bool {
    match after {
        After::Gone | After::Another(_) => true,
        After::NotKnown(_) => all >= if lost { AWAY } else { PATIENCE },
        After::StillOn(object) => !lost || is_newer(object, plan) || still >= UNDER_WAY,
        After::Out(object) if plan.action == Action::Nudge => {
            object.finalizers() != plan.stays || still >= WAKING
        }
        After::Out(object) if object.finalizers().is_empty() => still >= PATIENCE,
        After::Out(_) => still >= BACK,
    }
}

fn is_newer(object: &Object, plan: &Plan) -> bool {
    object.text("/metadata/resourceVersion") != plan.resource_version
}

fn told(after: &After, plan: &Plan, lost: bool) -> Settled {
    let name = plan
        .finalizer
        .as_ref()
        .map_or("the annotation", |finalizer| finalizer.name.as_str());
    let nudge = plan.action == Action::Nudge;
    let mut settled = match after {
        After::Gone if nudge => Settled::new(End::Woke, "it is gone: its controller has acted", Exit::Done),
        After::Gone => Settled::new(End::Gone, "it is gone", Exit::Done),
        After::Another(other) => {
            let by = match added_by(other, name) {
                Some((manager, _)) => format!(", and {manager} has put {name} on it"),
                None if other.finalizers().iter().any(|one| one.name == name) => {
                    format!(", and {name} is on it")
                }
                None => String::new(),
            };
            Settled::new(
                End::ReCreated,
                format!(
                    "it is gone, and another one of its name has been made since (uid {}){by}",
                    other.uid()
                ),
                Exit::Done,
            )
        }
        After::StillOn(object) if lost && is_newer(object, plan) => Settled::failed(
            "the object has changed since, so the request was not carried out, and will not be",
        ),
        After::StillOn(_) if lost => not_known(
            "nothing has changed so far, and the request has most likely not arrived; an API server that still has it could \
             carry it out within its own time limit, a minute in most clusters",
            true,
        ),
        After::StillOn(object) => {
            let by = match added_by(object, name) {
                Some((manager, time)) => format!("{manager} put it there, at {time} or before"),
                None => "nobody is on record for it, as where a webhook puts it back".into(),
            };
            Settled::new(
                End::CameBack,
                format!("{name} is on it again: {by}"),
                Exit::Failed,
            )
        }
        After::Out(object) if nudge => nudged(object, plan),
        After::Out(object) if object.finalizers().is_empty() => Settled::new(
            End::Going,
            format!(
                "{name} is out and no finalizer is left, but it is still there; see why: kubectl finalizers explain"
            ),
            Exit::Done,
        ),
        After::Out(_) => Settled::new(
            End::Held,
            format!(
                "{name} is out; others hold it now, and what they wait for tells: kubectl finalizers explain"
            ),
            Exit::Done,
        ),
        After::NotKnown(why) => not_known(&format!("the object cannot be read: {}", why.message()), lost),
    };
    if let After::Out(object) | After::StillOn(object) = after {
        settled.held_by = object.finalizers();
    }
    settled.by = if lost { By::Perhaps } else { By::Us };
    settled
}

fn nudged(object: &Object, plan: &Plan) -> Settled {
    let now = object.finalizers();
    let out: Vec<_> = plan
        .stays
        .iter()
        .filter(|one| !now.contains(one))
        .map(ToString::to_string)
        .collect();
    if out.is_empty() {
        let says = format!(
            "it was touched, and in {} seconds nobody has acted on it",
            WAKING.as_secs()
        );
        Settled::new(End::Asleep, says, Exit::Done)
    } else {
        let says = format!("its controller has acted: {} is out", out.join(", "));
        Settled::new(End::Woke, says, Exit::Done)
    }
}

fn not_known(why: &str, lost: bool) -> Settled {
    if lost {
        return Settled::new(End::Unknown, why, Exit::Failed);
    }
    Settled::new(
        End::Unknown,
        format!("the server says that it was done, but {why}"),
        Exit::Failed,
    )
}
