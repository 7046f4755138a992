//! Errors that an object and its events report, in the literal words, because people search for them.
//!
//! Anybody may write an event, and many controllers write conditions. So every report is evidence in words, and only
//! a recent report about this very object that the controller itself made changes the verdict ([`Complaint::is_of`]).
//!
//! Events expire after about an hour: an event that exists counts, a missing one proves nothing. Only reports
//! from after the deletion count, and conditions that mention it. A product may also write its words anywhere else below
//! `status`. Conditions of built-in types report what
//! Kubernetes' own controllers do, not what another controller does for its finalizer. The same holds for
//! events of a kubelet, of a scheduler, or of the controller that finds a volume for a claim.

mod author;
mod condition;
mod denied;
mod lost;
mod rank;
mod status;

pub(crate) use self::condition::{failing as failing_condition, source as condition_source};
pub(crate) use self::denied::DeniedRight;
pub(crate) use self::lost::has_word;
pub use self::lost::lost;
pub(crate) use self::rank::{tells_of_use, waits_for_end};
pub(crate) use self::status::failing as failing_state;
use jiff::Timestamp;

use self::author::Author;
use crate::{
    diagnose::{
        holder::Names,
        kinds::{Event, OwnerReference},
        limits,
        model::{Evidence, Strength},
        timing,
        view::View,
    },
    knowledge::{self, Topic},
    object::{Age, is_custom_group},
    snapshot::facts::Object,
};

/// A reported error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The source of the report.
    pub source: String,
    /// The text.
    pub text: String,
    /// The time.
    pub time: Option<Timestamp>,
    /// Whether it reports a failure, and not only that something is not done yet.
    pub is_failure: bool,
    /// Who made it.
    author: Author,
    /// Whether whoever put the object's finalizers on wrote it, as far as `managedFields` tell.
    is_of_holder: bool,
    /// When its author wrote there last, which may be after the time of the report.
    written: Option<Timestamp>,
    /// The words of a repeated event, without how often. None if it was not repeated.
    once: Option<String>,
}

/// Words that report a failure; `kubernetes/apimachinery:pkg/api/errors/errors.go` has most of them.
const FAILURE_WORDS: [&str; 14] = [
    "error",
    "fail",
    "denied",
    "forbidden",
    "unauthorized",
    "cannot",
    "unable",
    "not found",
    "invalid",
    "timed out",
    "timeout",
    "refused",
    "exceeded",
    "conflict",
];

/// Components that report on running Pods, and on finding a volume for a claim, which is unrelated to a
/// deletion.
const UNRELATED_COMPONENTS: [&str; 3] = ["kubelet", "default-scheduler", "persistentvolume-controller"];

impl Complaint {
    /// Whether the controller with these names made it. `is_running` says that this controller runs now: it then
    /// stands by its conditions, however old they are, and those that nobody signed are its own if the type is.
    pub fn is_of(&self, names: &Names, is_running: bool, now: Timestamp) -> bool {
        let is_recent = self.is_recent(now);
        // A protection that works says so, often as a warning.
        if waits_for_end(&self.text) {
            return false;
        }
        match &self.author {
            Author::Unknown => false,
            // Words about a use are those of a protection that works.
            Author::OfType => is_running && names.are_of_type() && !tells_of_use(&self.text),
            Author::Reporters(all) => is_recent && all.iter().all(|name| names.has_reporter(name)),
            Author::Managers(all) => {
                (is_recent || is_running) && all.iter().all(|name| names.has_manager(name))
            }
        }
    }

    /// The text without how often an event was repeated.
    pub fn words(&self) -> &str {
        self.once.as_deref().unwrap_or(&self.text)
    }

    /// Whether the cluster recorded who made it.
    pub fn is_signed(&self) -> bool {
        self.author != Author::OfType
    }

    /// Whether a program that put a finalizer on the object reports a failure. It may write under a name that many programs
    /// have, such as `manager`.
    pub fn is_failure_of_holder(&self) -> bool {
        self.is_failure && self.is_of_holder
    }

    /// Whether it is so recent that its author still tries.
    pub fn is_recent(&self, now: Timestamp) -> bool {
        self.last_said()
            .is_some_and(|time| timing::is_recent_complaint(time, now))
    }

    /// Whether it was made at this time or later.
    pub fn is_since(&self, since: Timestamp) -> bool {
        self.last_said().is_some_and(|time| time >= since)
    }

    /// When its author said so for the last time, as far as is known.
    fn last_said(&self) -> Option<Timestamp> {
        self.time.max(self.written)
    }

    /// The text to quote, and when it was written if that is long ago. Only `managedFields` tell: a condition keeps its time
    /// while its message changes.
    pub fn told(&self, deletion: Option<Timestamp>, now: Timestamp) -> String {
        let Some(written) = self.written else {
            return self.text.clone();
        };
        let text = self.text.trim_end_matches('.');
        if deletion.is_some_and(|deletion| written < deletion) {
            format!("{text} (reported before the deletion)")
        } else if now.duration_since(written) > timing::LONG_AGO {
            format!("{text} (reported {} ago)", Age::between(written, now))
        } else {
            self.text.clone()
        }
    }

    /// The report as evidence.
    pub fn evidence(&self, now: Timestamp) -> Evidence {
        let ago = self
            .time
            .map_or_else(String::new, |time| format!(", {} ago", Age::between(time, now)));
        Evidence {
            source: self.source.clone(),
            value: format!("{}{ago}", self.text),
            strength: Strength::Strong,
        }
    }
}

/// The most telling words of the object itself, and those of the events about it since its deletion.
pub fn complaints(object: &Object, view: &View<'_>) -> Vec<Complaint> {
    let (of_object, warnings) = all(object, view);
    let [own, warning] = [of_object, warnings].map(rank::most_telling);
    let mut told: Vec<_> = own.into_iter().collect();
    // A condition often repeats the event, or the event the condition.
    let is_new = |warning: &Complaint| !told.iter().any(|own| own.text.contains(warning.words()));
    if let Some(warning) = warning.filter(is_new) {
        // What fails again and again since the condition was written tells of the act that fails, and not of a state.
        let is_later = warning.once.is_some() && told.iter().all(|own| own.time < warning.time);
        told.insert(if is_later { 0 } else { told.len() }, warning);
    }
    told
}

/// The warnings about the controlling owner of this object that name the object, since its deletion. The controller of the
/// owner often writes there what it could not do: the Job controller tells of a Pod in an event of the Job.
pub fn complaints_of_owner(object: &Object, view: &View<'_>) -> Vec<Complaint> {
    let (Some(deletion), Some(owner)) = (object.deletion(), OwnerReference::to_controller(object)) else {
        return Vec::new();
    };
    let place = object.namespace();
    let Some(found) = view.object_of_kind(owner.group(), owner.kind(), place, owner.name()) else {
        return Vec::new();
    };
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let names_it = |message: &str| {
        let mut words = message.split(|c| !is_in_name(c));
        words.any(|word| word.trim_end_matches('.') == object.name())
    };
    let events = view.events(found).unwrap_or_default();
    events
        .iter()
        .filter(|event| names_it(Event(event).message()))
        .filter_map(|event| warning(event, found, deletion.requested_at()))
        .collect()
}

/// The reports of failures that the controller with these names made since the deletion of this object.
pub fn own_failures(object: &Object, names: &Names, is_running: bool, view: &View<'_>) -> Vec<Complaint> {
    let (of_object, warnings) = all(object, view);
    of_object
        .into_iter()
        .chain(warnings)
        .filter(|complaint| complaint.is_failure && complaint.is_of(names, is_running, view.now()))
        .collect()
}

/// The conditions and the warnings since the deletion of this object. Queries events only if the object itself was
/// read: nothing more is queried for an object that a scan only listed.
fn all(object: &Object, view: &View<'_>) -> (Vec<Complaint>, Vec<Complaint>) {
    let Some(deletion) = object.deletion() else {
        return (Vec::new(), Vec::new());
    };
    let since = deletion.requested_at();
    let events = if object.was_read() {
        view.events(object).unwrap_or_default()
    } else {
        &[]
    };
    let warnings: Vec<_> = events
        .iter()
        .filter_map(|event| warning(event, object, since))
        .collect();
    if !is_custom_group(&object.resource.group) {
        return (Vec::new(), warnings);
    }
    // Many causes ask for the words of the same object.
    let name = format!("words of {:?}, read: {}", object.reference(), object.was_read());
    let own = view.once(&name, || OwnWords::of(object, since));
    let of_object = if own.since.is_empty() && warnings.is_empty() {
        &own.open
    } else {
        &own.since
    };
    (of_object.clone(), warnings)
}

/// What the conditions and the status of an object say.
struct OwnWords {
    /// Since its deletion.
    since: Vec<Complaint>,
    /// Errors of before then that nobody took back.
    open: Vec<Complaint>,
}

impl OwnWords {
    fn of(object: &Object, since: Timestamp) -> Self {
        let holders = author::of_finalizers(object);
        let with_author = |mut complaint: Complaint| {
            complaint.is_of_holder = complaint.author.is_one_of(&holders);
            complaint
        };
        let now = condition::complaints(object, since).chain(status::complaints(object, since));
        let open = condition::open_errors(object, since).chain(status::open_errors(object, since));
        OwnWords {
            since: now.map(with_author).collect(),
            open: open.map(with_author).collect(),
        }
    }
}

/// Phrases that deny a failure with one of its words.
const DENIED_FAILURES: [&str; 7] = [
    " no error",
    " without error",
    " 0 error",
    " no fail",
    " without fail",
    " 0 fail",
    " not failed",
];

/// Whether a text tells of a failure, or of something that is waited for.
pub(crate) fn complains(text: &str) -> bool {
    reports_failure(text) || rank::tells_of_a_wait(text)
}

fn reports_failure(text: &str) -> bool {
    let text = format!(" {}", text.to_lowercase());
    let text = DENIED_FAILURES
        .iter()
        .fold(text, |text, phrase| text.replace(phrase, ""));
    FAILURE_WORDS.iter().any(|word| text.contains(word))
}

fn warning(event: &Object, object: &Object, since: Timestamp) -> Option<Complaint> {
    let event = Event(event);
    if !event.is_warning() || !event.may_be_about(object) {
        return None;
    }
    let time = event.last_time().or_else(|| event.0.created());
    // Some controllers give every event the reason of their success.
    let reason =
        Some(event.reason()).filter(|reason| !(reason.contains("Succe") && reports_failure(event.message())));
    let words = shortened(&join(reason.unwrap_or_default(), event.message()));
    let repeated = event
        .count()
        .filter(|count| *count > 1)
        .map(|count| format!("{words} ({count} times)"));
    let by = |name: &&str| event.reporters().contains(name);
    if time.is_none_or(|time| time < since) || UNRELATED_COMPONENTS.iter().any(by) {
        return None;
    }
    let from = match event.reporters() {
        ["", ""] => String::new(),
        ["", from] | [from, _] => format!(" from {from}"),
    };
    Some(Complaint {
        is_of_holder: false,
        source: format!("Event of {} {}{from}", object.kind, object.name()),
        once: repeated.as_ref().map(|_| words.clone()),
        text: repeated.unwrap_or(words),
        time,
        is_failure: true,
        author: if event.about_uid().is_empty() {
            Author::Unknown
        } else {
            author::of_event(event)
        },
        written: None,
    })
}

pub(crate) fn join(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", message) => message.to_owned(),
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

/// A text that ends with the same error again and again, with that error once. The namespace controller joins the errors of
/// all types with ", " (`kubernetes/kubernetes:pkg/controller/namespace/deletion/status_condition_utils.go`).
pub(crate) fn with_repeats_counted(text: &str) -> String {
    let whole = text.trim_end_matches(['.', ']']);
    let starts = whole.match_indices(": ").map(|(at, colon)| at + colon.len());
    for start in std::iter::once(0).chain(starts) {
        let Some((before, rest)) = whole.split_at_checked(start) else {
            continue;
        };
        let ends = rest.match_indices(", ").map(|(end, _)| end);
        for one in ends.filter_map(|end| rest.get(..end)) {
            let parts = rest.split(one);
            // Nothing stands before the first and behind the last, and only the comma between two of them.
            let between: Vec<_> = parts.collect();
            let [first, middle @ .., last] = between.as_slice() else {
                continue;
            };
            if first.is_empty() && last.is_empty() && middle.iter().all(|part| *part == ", ") {
                return format!("{before}{one} (for {} types)", middle.len() + 1);
            }
        }
    }
    text.to_owned()
}

pub(crate) fn shortened(text: &str) -> String {
    let cut = text.char_indices().nth(limits::COMPLAINT);
    match cut.and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => format!("{beginning}…"),
        None => text.to_owned(),
    }
}

/// Whether a message complains that something was refused for want of a right, or by an admission control.
pub fn says_denied(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["forbidden", "denied", "unauthorized", "not allowed"]
        .iter()
        .any(|sign| lower.contains(sign))
}

/// Whether a message may be about this topic.
pub fn is_about(topic: Topic, text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut topics = knowledge::topics().iter().filter(|one| one.topic == topic);
    topics.any(|one| one.words.iter().any(|word| lower.contains(word)))
}

/// Whether a message has the words of the API server that this very name is not found: `secrets "aws" not found`. A name
/// that only stands beside "not found" may be of something else.
pub fn says_not_found(text: &str, name: &str) -> bool {
    text.contains(&format!("\"{name}\" not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_repeated_to_the_end_is_told_once() {
        for (text, expected) in [
            (
                "Failed to delete: Internal error: a webhook, b, Internal error: a webhook, b, Internal error: a webhook, b.",
                "Failed to delete: Internal error: a webhook, b (for 3 types)",
            ),
            ("no, no", "no (for 2 types)"),
            (
                "Failed: one error, another error",
                "Failed: one error, another error",
            ),
            ("Failed: one, one, two", "Failed: one, one, two"),
            ("", ""),
        ] {
            assert_eq!(with_repeats_counted(text), expected);
        }
    }

    #[test]
    fn a_report_of_long_ago_is_quoted_with_its_age() {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        let told = |written: Option<&str>| {
            let complaint = Complaint {
                source: "Widget w status.message".into(),
                text: "no such zone.".into(),
                time: None,
                is_failure: true,
                author: Author::Unknown,
                is_of_holder: false,
                written: written.map(time),
                once: None,
            };
            complaint.told(Some(time("2026-01-01T10:00:00Z")), time("2026-01-01T14:00:00Z"))
        };
        for (written, expected) in [
            (
                Some("2026-01-01T09:59:00Z"),
                "no such zone (reported before the deletion)",
            ),
            (Some("2026-01-01T11:00:00Z"), "no such zone (reported 3h ago)"),
            (Some("2026-01-01T13:30:00Z"), "no such zone."),
            (None, "no such zone."),
        ] {
            assert_eq!(told(written), expected);
        }
    }
}
