//! The first lines of an explanation: where it stands, and what keeps the object, in one or two sentences each.

use unicode_width::UnicodeWidthStr;

use super::layout::{Layout, sentence};
use crate::{
    diagnose::Verdict,
    object::{Finalizer, List},
    output::safe::harmless,
    report::explain::{BlockerReport, ExplainReport, WaitReport},
};

/// How many clauses about the state of a wait are shown; all with `-o wide`.
const FACTS: usize = 3;

impl Layout<'_> {
    /// The verdict, the object, and for how long it is Terminating.
    pub(super) fn head(&self, report: &ExplainReport) -> String {
        let name = harmless(&report.target.pasteable()).into_owned();
        let (verdict, state) = match (&report.deletion, report.gone) {
            (_, true) => (
                Some(self.style.fine("GONE")),
                "it went while it was looked at".to_owned(),
            ),
            (Some(deletion), _) if deletion.in_grace_period => (
                Some(self.style.progress("SLOW")),
                "asked to stop. Its grace period still runs.".to_owned(),
            ),
            (Some(deletion), _) => (
                worst(&report.waits_for).map(|wait| self.verdict(wait.verdict)),
                format!("Terminating for {}", deletion.age),
            ),
            (None, _) => (None, "not being deleted".to_owned()),
        };
        // The longest verdict, the space behind it, and the comma.
        let used = if verdict.is_some() { 11 } else { 1 };
        let state = if used + name.width() + state.width() < self.width {
            format!(", {state}")
        } else {
            format!("\n  {state}")
        };
        let verdict = verdict.map_or_else(String::new, |verdict| format!("{verdict}  "));
        let mut head = format!("{verdict}{}{state}\n", self.style.heading(&name));
        if report.interrupted {
            head +=
                &self.warning("STOPPED before everything was read. What is missing is listed at the end.");
        }
        for note in &report.notes {
            head += &self.paragraph(&format!("Note: {}", sentence(note)), 0);
        }
        head
    }

    /// What keeps the object, the worst first.
    pub(super) fn answers(&self, report: &ExplainReport, wide: bool) -> String {
        let mut waits: Vec<_> = report.waits_for.iter().collect();
        waits.sort_by_key(|wait| wait.verdict.rank());
        let is_deleted = report.deletion.is_some();
        let mut text = String::new();
        for wait in waits {
            text += &self.answer(wait, is_deleted, wide);
        }
        for outlook in report.outlook.iter().filter(|outlook| !outlook.is_end()) {
            text += &self.paragraph(&sentence(&format!("{}: {}", outlook.when, outlook.then)), 0);
        }
        text
    }

    fn answer(&self, wait: &WaitReport, is_deleted: bool, wide: bool) -> String {
        let mut sentences = reason(wait, is_deleted);
        let facts = if wide { usize::MAX } else { FACTS };
        let shown = usize::from(says_first_fact(wait));
        sentences.extend(wait.now.iter().skip(shown).take(facts).map(|fact| sentence(fact)));
        let mut text = self.paragraph(&sentences.join(" "), 0);
        if let Some(work) = wait
            .work
            .as_ref()
            .filter(|_| wide || wait.verdict != Verdict::Orphaned)
        {
            text += &self.paragraph(&format!("It must do this first: {}", sentence(work)), 0);
        }
        if is_deleted && !matches!(wait.verdict, Verdict::InUse | Verdict::Waiting) {
            text += &self.cost(wait);
        }
        text
    }

    /// What a removal by hand costs.
    fn cost(&self, wait: &WaitReport) -> String {
        if wait.finalizer.is_none() {
            return String::new();
        }
        let Some(cost) = &wait.if_removed else {
            let text = "Removal by hand costs: unknown, so data-loss is assumed.";
            return self.paragraph(text, 0);
        };
        let protects = wait.protects.as_deref().unwrap_or_default();
        let text = match cost.consequence.as_str() {
            "none" => format!("Removal by hand loses nothing (it protects {protects})."),
            word => format!("Removal by hand costs: {word} (it protects {protects})."),
        };
        self.paragraph(&text, 0)
    }

    /// The verdict in capitals, in its colour.
    pub(super) fn verdict(&self, verdict: Verdict) -> String {
        let word = verdict.word().replace('-', " ").to_uppercase();
        match verdict {
            Verdict::Orphaned | Verdict::Failing | Verdict::Rejected => self.style.fault(&word),
            Verdict::Stalled | Verdict::Unknown => self.style.caution(&word),
            Verdict::Waiting => self.style.progress(&word),
            Verdict::InUse => self.style.fine(&word),
        }
    }

    pub(super) fn warning(&self, text: &str) -> String {
        self.lines(text, 0, 0)
            .iter()
            .flat_map(|line| [self.style.caution(line), "\n".to_owned()])
            .collect()
    }
}

/// Why the finalizer, or the object without one, is still there.
fn reason(wait: &WaitReport, is_deleted: bool) -> Vec<String> {
    let holder = wait
        .holder
        .as_ref()
        .map_or("its controller", |holder| &*holder.name);
    let finalizer = wait
        .finalizer
        .as_ref()
        .map_or_else(|| "it".to_owned(), finalizer_in_words);
    let is_removed = format!("{finalizer} is removed by {holder}.");
    let removes = wait
        .once
        .as_ref()
        .map(|once| sentence(&format!("{holder} removes {finalizer} once {once}")));
    let blocked = |by: &str| {
        let blocker = wait.blockers.iter().find(|blocker| !blocker.rest)?;
        let more = wait.blockers.len() - 1;
        let more = match more {
            0 => String::new(),
            more => format!(" The chain below names {more} more."),
        };
        Some(format!(
            "{by} {}.{}{more}",
            blocker_in_words(blocker),
            beyond(blocker)
        ))
    };
    let first_fact = || wait.now.first().map(|fact| sentence(fact));
    match wait.verdict {
        Verdict::InUse => {
            let by = if is_deleted {
                "No fault: it is used by"
            } else {
                "It is used by"
            };
            [blocked(by), removes].into_iter().flatten().collect()
        }
        Verdict::Waiting => {
            // What is no object is a statement: a report of the controller, or a state.
            let is_object = wait
                .blockers
                .iter()
                .find(|blocker| !blocker.rest)
                .is_none_or(|first| first.object.is_some());
            let by = match (is_deleted, is_object) {
                (true, true) => "It waits for",
                (true, false) => "It waits:",
                (false, true) => "It would wait for",
                (false, false) => "It would wait:",
            };
            [blocked(by), removes].into_iter().flatten().collect()
        }
        Verdict::Failing => {
            let fails = format!("{is_removed} It fails:");
            vec![match (blocked(&fails), first_fact()) {
                (Some(blocked), _) => blocked,
                (None, Some(fact)) => format!("{fails} {fact}"),
                (None, None) => format!("{is_removed} It fails."),
            }]
        }
        Verdict::Rejected => {
            let refused = "The API server would refuse the update that ends this.".to_owned();
            [Some(refused), blocked("It is refused by")]
                .into_iter()
                .flatten()
                .collect()
        }
        Verdict::Stalled if wait.holder.is_some() => {
            vec![format!(
                "Nothing blocks the removal of {finalizer}, and {holder} has not acted."
            )]
        }
        Verdict::Orphaned if wait.holder.is_some() => vec![format!("{is_removed} It is gone.")],
        Verdict::Unknown if wait.holder.is_some() => {
            let signs = wait.holder.iter().flat_map(|holder| &holder.signs);
            let why = signs.map(|sign| sentence(sign));
            let blocked = blocked("It may wait for");
            [is_removed].into_iter().chain(why).chain(blocked).collect()
        }
        Verdict::Stalled | Verdict::Orphaned | Verdict::Unknown => [first_fact(), blocked("It may wait for")]
            .into_iter()
            .flatten()
            .collect(),
    }
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
fn finalizer_in_words(finalizer: &Finalizer) -> String {
    match finalizer.list {
        List::Metadata => finalizer.name.clone(),
        List::Spec => format!("{} in spec.finalizers", finalizer.name),
    }
}

/// The worst verdict, and why.
pub(super) fn in_one_line(report: &ExplainReport) -> String {
    let Some(wait) = worst(&report.waits_for) else {
        return sentence(&report.headline);
    };
    let shown = usize::from(says_first_fact(wait));
    let mut sentences = vec![format!(
        "{}.",
        wait.verdict.word().replace('-', " ").to_uppercase()
    )];
    sentences.extend(reason(wait, report.deletion.is_some()));
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

/// What the blocker itself waits for in the end, if that is something else.
fn beyond(blocker: &BlockerReport) -> String {
    let Some(root) = root(blocker) else {
        return String::new();
    };
    format!(" That waits for {}.", blocker_in_words(root))
}

/// The first root cause below a blocker.
fn root(blocker: &BlockerReport) -> Option<&BlockerReport> {
    let below = blocker
        .blockers
        .iter()
        .chain(blocker.waits_for.iter().flat_map(|wait| &wait.blockers));
    below
        .filter(|below| !below.rest)
        .map(|below| root(below).unwrap_or(below))
        .next()
}
