//! The first lines of an explanation: where it stands, and what keeps the object, in one or two sentences each.

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

use super::{
    first_sentences,
    layout::{Layout, sentence},
};
use crate::{
    diagnose::{
        Verdict,
        model::{CauseState, Liveness, Moment, StepKind},
    },
    object::List,
    output::{
        flow::{Look, look_of_state},
        safe::harmless,
        when,
    },
    report::{
        ObjectName,
        explain::{BlockerReport, ExplainReport, FaultReport, HolderReport, OutlookReport, WaitReport},
        gaps::first_names,
    },
};

/// How many clauses about the state of a wait are shown; all with `-o wide`.
const FACTS: usize = 2;
/// How many objects that wait for a fault are named; all with `-o wide`.
const HELD: usize = 3;
/// Words of a sentence that is read once.
const SENTENCE: usize = 20;
/// What stands before what a controller does in general.
const IN_GENERAL: &str = "In general: ";
/// What stands above an explanation that is not whole.
pub(in crate::output) const STOPPED: &str =
    "STOPPED before everything was read. What is missing is listed at the end.";

impl Layout<'_> {
    /// The verdict, the object, and for how long it is Terminating.
    pub(super) fn head(&self, report: &ExplainReport) -> String {
        let name = harmless(&report.target.pasteable()).into_owned();
        let (verdict, state) = standing(report);
        // A verdict, the space behind it, and the comma. Most verdicts have at most eight letters.
        let used = verdict.as_ref().map_or(1, |(word, _)| word.width().max(8) + 3);
        let verdict = verdict.map(|(word, look)| look.paint(&word, self.style));
        let state = if used + name.width() + state.width() < self.width {
            format!(", {state}")
        } else {
            format!("\n  {state}")
        };
        let verdict = verdict.map_or_else(String::new, |verdict| format!("{verdict}  "));
        let mut head = format!("{verdict}{}{state}\n", self.style.heading(&name));
        if report.is_recorded {
            head += &self.paragraph(&recorded_in_words(report.observed_at), 0);
        }
        if report.interrupted {
            head += &self.warning(STOPPED);
        }
        for note in &report.notes {
            head += &self.paragraph(&format!("Note: {}", sentence(note)), 0);
        }
        head
    }

    /// What keeps the object, the worst first.
    pub(super) fn answers(&self, report: &ExplainReport, wide: bool) -> String {
        self.answers_in_short(report, wide, usize::MAX)
    }

    /// The same, with so many sentences about what a controller does in general.
    pub(super) fn answers_in_short(&self, report: &ExplainReport, wide: bool, general: usize) -> String {
        let shortened = |text: &String| match text.strip_prefix(IN_GENERAL) {
            Some(rest) => format!("{IN_GENERAL}{}", first_sentences(rest, general)),
            None => text.clone(),
        };
        paragraphs(report, wide)
            .iter()
            .map(|text| self.paragraph(&shortened(text), 0))
            .collect()
    }

    pub(super) fn warning(&self, text: &str) -> String {
        self.lines(text, 0, 0)
            .iter()
            .flat_map(|line| [self.style.caution(line), "\n".to_owned()])
            .collect()
    }
}

/// From when a recording is.
pub(in crate::output) fn recorded_in_words(time: Timestamp) -> String {
    let time = time.strftime("%Y-%m-%d %H:%M");
    format!("Recorded {time} UTC; ages are from then.")
}

/// The verdict with its look, and the state of the object.
pub(in crate::output) fn standing(report: &ExplainReport) -> (Option<(String, Look)>, String) {
    let fixed = |word: &str, look| Some((word.to_owned(), look));
    match (&report.deletion, report.gone) {
        (_, true) => (
            fixed("GONE", Look::Fine),
            "it went while it was looked at".to_owned(),
        ),
        (Some(_), _) if report.at_risk.is_some() => (
            fixed("AT RISK", Look::Caution),
            "not late yet, and stuck soon".to_owned(),
        ),
        (Some(deletion), _) if deletion.in_grace_period => (
            fixed("SLOW", Look::Progress),
            "asked to stop. Its grace period still runs.".to_owned(),
        ),
        (Some(deletion), _) => (
            worst(&report.waits_for).map(state_of_wait),
            format!("Terminating for {}", deletion.age),
        ),
        (None, _) => {
            let fault = report.fault.as_ref();
            let state = fault.map(|fault| (fault.state.word().to_owned(), look_of_state(fault.state)));
            (state, "not being deleted".to_owned())
        }
    }
}

/// The verdict on a wait and its look, as the first word of an explanation. What waits for a controller that somebody switched off
/// waits for a person, which `waiting` does not tell.
pub(in crate::output) fn state_of_wait(wait: &WaitReport) -> (String, Look) {
    let is_off = wait
        .holder
        .as_ref()
        .is_some_and(|holder| holder.state == Liveness::Off);
    if is_off && wait.verdict == Verdict::Waiting {
        let state = CauseState::SwitchedOff;
        return (state.word().to_owned(), look_of_state(state));
    }
    verdict(wait.verdict)
}

/// The verdict in capitals, and its look.
pub(in crate::output) fn verdict(verdict: Verdict) -> (String, Look) {
    let look = match verdict {
        Verdict::Orphaned | Verdict::Failing | Verdict::Rejected => Look::Fault,
        Verdict::Stalled | Verdict::Unknown => Look::Caution,
        Verdict::Waiting => Look::Progress,
        Verdict::InUse => Look::Fine,
    };
    (verdict.word().replace('-', " ").to_uppercase(), look)
}

/// What keeps the object, the worst first, in paragraphs.
pub(in crate::output) fn paragraphs(report: &ExplainReport, wide: bool) -> Vec<String> {
    let mut waits: Vec<_> = report.waits_for.iter().collect();
    waits.sort_by_key(|wait| wait.verdict.rank());
    let is_deleted = report.deletion.is_some();
    let mut all: Vec<_> = report
        .fault
        .iter()
        .map(|fault| fault_in_words(fault, wide))
        .collect();
    for (at, wait) in waits.iter().enumerate() {
        let told = waits.iter().take(at).find(|other| have_one_fault(other, wait));
        all.extend(answer(wait, told.copied(), is_deleted, wide));
    }
    let outlook = report.outlook.iter().filter(|outlook| !outlook.is_end());
    // What a removal by hand meets and leaves matters where one is offered.
    let offers_removal = report
        .steps
        .iter()
        .any(|step| step.kind == StepKind::RemoveFinalizer);
    let matters = |outlook: &&OutlookReport| match outlook.when {
        Moment::Removal | Moment::RemovedByHand => offers_removal,
        _ => !outlook.is_meanwhile(),
    };
    let outlook = outlook.filter(|outlook| wide || matters(outlook));
    all.extend(
        outlook.map(|outlook| sentence(&format!("{}: {}", when::condition(outlook.when), outlook.then))),
    );
    all
}

/// What is wrong, and who waits for it.
fn fault_in_words(fault: &FaultReport, wide: bool) -> String {
    let mut sentences: Vec<_> = fault.says.iter().map(|says| sentence(says)).collect();
    if let Some(what) = fault.holds_type {
        let names: Vec<_> = fault.holds.iter().map(ObjectName::pasteable).collect();
        let most = if wide { usize::MAX } else { HELD };
        let first = first_names(&names, most);
        sentences.push(match names.len() {
            0 => format!("No {what} in deletion waits for it."),
            1 => format!("1 {what} waits for it: {first}."),
            many => format!("{many} {what}s wait for it: {first}."),
        });
    }
    sentences.join(" ")
}

/// The blockers of one finalizer, in paragraphs. `told` is another finalizer that waits for the same.
fn answer(wait: &WaitReport, told: Option<&WaitReport>, is_deleted: bool, wide: bool) -> Vec<String> {
    let mut sentences = if let Some(told) = told {
        // That report may be about the work of one controller only.
        let same = if holder_in_words(told) == holder_in_words(wait) {
            "The reason is the same"
        } else {
            "The object shows the same report"
        };
        vec![format!("{} {same}.", is_removed(wait))]
    } else {
        reason(wait, is_deleted, wide)
    };
    let work = wait.work.as_ref().filter(|_| wide || is_work_the_answer(wait));
    let facts = match (wide, work) {
        (true, _) => usize::MAX,
        (false, Some(_)) => usize::from(is_running(wait)),
        // The answer is the object that it waits for, and the end of that wait.
        (false, None) if wait.verdict == Verdict::Waiting => {
            usize::from(wait.blockers.len() != 1 || wait.once.is_none())
        }
        // The state of the object that it waits for stands above.
        (false, None) if wait.verdict == Verdict::Failing && wait.holder.is_none() => 1,
        (false, None) => FACTS,
    };
    let shown = usize::from(says_first_fact(wait));
    sentences.extend(wait.now.iter().skip(shown).take(facts).map(|fact| sentence(fact)));
    let mut all = vec![sentences.join(" ")];
    all.extend(work.map(|work| work_in_words(work, wait)));
    let costs_the_same = told.is_some_and(|told| consequence(told) == consequence(wait));
    if is_deleted && !costs_the_same && !matches!(wait.verdict, Verdict::InUse | Verdict::Waiting) {
        all.extend(cost(wait));
    }
    all
}

/// What the controller does before it removes the finalizer, as the catalogue tells it. The catalogue was read in other
/// releases than the one that runs here, perhaps.
fn work_in_words(work: &str, wait: &WaitReport) -> String {
    let version = wait.holder.as_ref().and_then(|holder| holder.version.as_ref());
    let here = version.map_or_else(String::new, |version| {
        format!(" {version} runs here, and releases differ.")
    });
    format!("{IN_GENERAL}{}{here}", sentence(work))
}

/// What a removal by hand costs; none if there is no finalizer.
fn cost(wait: &WaitReport) -> Option<String> {
    wait.finalizer.as_ref()?;
    let Some(cost) = &wait.if_removed else {
        return Some("Removal by hand costs: unknown, so data-loss is assumed.".to_owned());
    };
    let protects = wait.protects.as_deref().unwrap_or_default();
    Some(match cost.consequence.as_str() {
        "none" => format!("Removal by hand loses nothing (it protects {protects})."),
        word if cost.is_doubted => {
            format!("Removal by hand costs: {word}, if what it protects still exists: {protects}.")
        }
        word => format!("Removal by hand costs: {word} (it protects {protects})."),
    })
}

/// Whether what the controller must do is the best that is known: nothing else is in its way.
fn is_work_the_answer(wait: &WaitReport) -> bool {
    wait.blockers.iter().all(|blocker| blocker.rest)
        && match wait.verdict {
            Verdict::Stalled | Verdict::Unknown => true,
            Verdict::Waiting => wait.once.is_none(),
            _ => false,
        }
}

/// Whether both wait for the same fault.
fn have_one_fault(one: &WaitReport, other: &WaitReport) -> bool {
    let blocks = |wait: &WaitReport| wait.blockers.iter().map(blocker_in_words).collect::<Vec<_>>();
    one.verdict == Verdict::Failing
        && other.verdict == one.verdict
        && !one.blockers.is_empty()
        && blocks(one) == blocks(other)
}

fn consequence(wait: &WaitReport) -> Option<&str> {
    wait.if_removed.as_ref().map(|cost| cost.consequence.as_str())
}

fn is_running(wait: &WaitReport) -> bool {
    let state = wait.holder.as_ref().map(|holder| holder.state);
    state == Some(Liveness::Running)
}

/// Whether the state of the controller is likely only.
fn is_likely(wait: &WaitReport) -> bool {
    wait.holder.as_ref().is_some_and(|holder| holder.likely)
}

fn holder_in_words(wait: &WaitReport) -> String {
    let holder = wait.holder.as_ref();
    holder.map_or_else(|| "its controller".to_owned(), HolderReport::in_words)
}

/// Who removes the finalizer, as the beginning of a sentence.
fn removed_by(wait: &WaitReport) -> String {
    let probably = if is_likely(wait) { "probably " } else { "" };
    format!(
        "{} is {probably}removed by {}",
        finalizer_in_words(wait),
        holder_in_words(wait)
    )
}

/// Who removes the finalizer.
fn is_removed(wait: &WaitReport) -> String {
    format!("{}.", removed_by(wait))
}

/// Why the finalizer, or the object without one, is still there, in sentences.
fn reason(wait: &WaitReport, is_deleted: bool, wide: bool) -> Vec<String> {
    let (holder, finalizer) = (holder_in_words(wait), finalizer_in_words(wait));
    let removes = wait
        .once
        .as_ref()
        .map(|once| sentence(&format!("{holder} removes {finalizer} when {once}")));
    let first_fact = || wait.now.first().map(|fact| sentence(fact));
    match wait.verdict {
        // The kind of protection is enough to decide about a deletion.
        Verdict::InUse if !is_deleted && !wide => blocked(wait, "It is used by", "It is used"),
        Verdict::InUse => {
            let (no_fault, by) = if is_deleted {
                ("No fault", "No fault: it is used by")
            } else {
                ("It is used", "It is used by")
            };
            blocked(wait, by, no_fault).into_iter().chain(removes).collect()
        }
        Verdict::Waiting => {
            let (by, waits) = if is_deleted {
                ("It waits for", "It waits")
            } else {
                ("It would wait for", "It would wait")
            };
            let said: Vec<_> = blocked(wait, by, waits).into_iter().chain(removes).collect();
            // Nothing is known then but the controller.
            if said.is_empty() && is_deleted && is_running(wait) {
                vec![format!("{}, which runs.", removed_by(wait))]
            } else {
                said
            }
        }
        Verdict::Failing if wait.holder.is_none() => blocked(wait, "It waits for", "It fails"),
        Verdict::Failing => {
            let fails = format!("{}, which fails", removed_by(wait));
            let mut said = blocked(wait, "The fault is in", &fails);
            // A blocker without an object is told with these words already.
            if first(wait).is_none_or(|blocker| blocker.object.is_some()) {
                said.insert(0, format!("{fails}."));
            }
            // What it failed in is the answer, if no object is.
            said.extend(first_fact().filter(|_| wait.blockers.is_empty()));
            said
        }
        Verdict::Rejected => blocked(wait, "The removal would be refused by", "The removal is refused"),
        Verdict::Stalled if wait.holder.is_some() => {
            let runs = if is_running(wait) { "runs and " } else { "" };
            // What is told next may be the reason.
            let is_open = wait.blockers.is_empty() && wait.now.is_empty();
            let although = if is_open {
                ", although nothing that was read blocks it"
            } else {
                ""
            };
            vec![format!(
                "{}, which {runs}has not done so{although}.",
                removed_by(wait)
            )]
        }
        Verdict::Orphaned if wait.holder.is_some() => {
            vec![format!("{finalizer} is removed by {holder}, which is gone.")]
        }
        Verdict::Unknown if wait.holder.is_some() => {
            let is_certain = is_running(wait) && !is_likely(wait);
            let lead = if is_certain && !wide {
                format!("{}, which runs.", removed_by(wait))
            } else {
                is_removed(wait)
            };
            let holder = wait.holder.as_ref().filter(|_| wide || !is_certain);
            let signs = holder.into_iter().flat_map(|holder| &holder.signs);
            [lead]
                .into_iter()
                .chain(signs.map(|sign| sentence(sign)))
                .chain(blocked(wait, "It may wait for", "It may wait"))
                .collect()
        }
        Verdict::Stalled | Verdict::Orphaned | Verdict::Unknown => first_fact()
            .into_iter()
            .chain(blocked(wait, "It may wait for", "It may wait"))
            .collect(),
    }
}

/// The first blocker, and what it waits for in the end. The chain has the others. `by` leads to an object, `words` to a
/// report in words.
fn blocked(wait: &WaitReport, by: &str, words: &str) -> Vec<String> {
    let Some(first) = first(wait) else {
        return Vec::new();
    };
    let mut said = blocker_in_sentences(first, by, words);
    said.extend(root(first).into_iter().flat_map(|root| match &root.object {
        // That it is in use is enough.
        Some(object) if wait.verdict == Verdict::InUse => {
            vec![format!("That waits for {}.", object.pasteable())]
        }
        _ => blocker_in_sentences(root, "That waits for", "That waits"),
    }));
    said.extend(gone_below(first));
    said
}

/// Tells that nobody is left who could end the wait for a blocker.
fn gone_below(blocker: &BlockerReport) -> Option<String> {
    let orphaned = |wait: &&WaitReport| wait.verdict == Verdict::Orphaned && wait.holder.is_some();
    if let Some(wait) = blocker.waits_for.iter().find(orphaned) {
        let who = holder_in_words(wait);
        return Some(sentence(&format!(
            "{who} must end that, and is gone: it will not end by itself"
        )));
    }
    let below = blocker.waits_for.iter().flat_map(|wait| &wait.blockers);
    let mut below = blocker.blockers.iter().chain(below).filter(|below| !below.rest);
    below.next().and_then(gone_below)
}

/// The blocker as one sentence, or as two where one would be long.
fn blocker_in_sentences(blocker: &BlockerReport, by: &str, words: &str) -> Vec<String> {
    let says = blocker.says.trim_end_matches('.');
    let Some(object) = &blocker.object else {
        return vec![format!("{words}: {says}.")];
    };
    let name = object.pasteable();
    let whole = format!("{by} {name}: {says}.");
    if whole.split_whitespace().count() <= SENTENCE {
        vec![whole]
    } else {
        vec![format!("{by} {name}."), sentence(says)]
    }
}

/// The blocker that the answer tells.
pub(super) fn first(wait: &WaitReport) -> Option<&BlockerReport> {
    let mut all = wait.blockers.iter().filter(|blocker| !blocker.rest);
    // Who uses it tells more than a message about that.
    let is_user = |blocker: &&BlockerReport| wait.verdict == Verdict::InUse && blocker.object.is_some();
    all.clone().find(is_user).or_else(|| all.next())
}

/// Whether the first clause about the state stands in the reason already.
fn says_first_fact(wait: &WaitReport) -> bool {
    match wait.verdict {
        Verdict::Failing => wait.blockers.is_empty(),
        Verdict::Stalled | Verdict::Orphaned | Verdict::Unknown => wait.holder.is_none(),
        _ => false,
    }
}

/// `kubernetes.io/pv-protection`, `kubernetes in spec.finalizers`.
fn finalizer_in_words(wait: &WaitReport) -> String {
    match &wait.finalizer {
        None => "it".to_owned(),
        Some(finalizer) if finalizer.list == List::Spec => format!("{} in spec.finalizers", finalizer.name),
        Some(finalizer) => finalizer.name.clone(),
    }
}

/// The worst verdict, and why.
pub(super) fn in_one_line(report: &ExplainReport) -> String {
    let Some(wait) = worst(&report.waits_for) else {
        return sentence(&report.headline);
    };
    let shown = usize::from(says_first_fact(wait));
    let mut sentences = vec![format!("{}.", state_of_wait(wait).0)];
    sentences.extend(reason(wait, report.deletion.is_some(), false));
    sentences.extend(wait.now.iter().skip(shown).take(1).map(|fact| sentence(fact)));
    sentences.join(" ")
}

fn worst(waits: &[WaitReport]) -> Option<&WaitReport> {
    waits.iter().min_by_key(|wait| wait.verdict.rank())
}

fn blocker_in_words(blocker: &BlockerReport) -> String {
    match &blocker.object {
        Some(object) => format!("{}: {}", object.pasteable(), blocker.says.trim_end_matches('.')),
        None => blocker.says.trim_end_matches('.').to_owned(),
    }
}

/// The first root cause below a blocker. An object tells more than the words of somebody who waits for it.
fn root(blocker: &BlockerReport) -> Option<&BlockerReport> {
    let below = blocker
        .blockers
        .iter()
        .chain(blocker.waits_for.iter().flat_map(|wait| &wait.blockers));
    let below = below.filter(|below| !below.rest);
    let first = below.clone().find(|below| below.object.is_some());
    first
        .or_else(|| below.clone().next())
        .map(|below| root(below).unwrap_or(below))
}
