//! What to do: blocks of steps, one for each situation. Each step has its label in front, and its command on a line of its
//! own, ready to paste.

use super::layout::{Layout, sentence};
use crate::{
    diagnose::{Safety, StepKind},
    object::capitalized,
    output::{paste, safe::harmless, when},
    report::explain::{ExplainReport, StepReport, WaitReport},
};

/// Indentation of a step's text and command.
const INDENT: usize = 5;
/// Situations of which a step is always shown. With several finalizers there are more of them.
const SITUATIONS: usize = 3;

impl Layout<'_> {
    /// All steps.
    pub(super) fn steps(&self, steps: &[StepReport]) -> String {
        let mut text = String::new();
        let mut number = 0_usize;
        for (heading, block) in blocks(steps) {
            text += &self.heading(&heading);
            for step in block {
                number += 1;
                text += &self.step(number, step);
            }
        }
        text
    }

    /// The first steps of each situation that fit into this many lines, and how many are left out. Those in front prepare
    /// those behind them, so none is left out between two of one situation. Nobody knows in which situation the reader is.
    /// So each of the first few has a step to paste, even if that takes some lines more. Steps that only show what is
    /// quoted above are left out before any other.
    pub(super) fn first_steps(&self, report: &ExplainReport, lines: usize) -> (String, usize) {
        let all = self.steps(&report.steps);
        if all.lines().count() <= lines {
            return (all, 0);
        }
        let shows_more = |step: &&StepReport| !shows_only_what_is_quoted(step, report);
        let telling: Vec<_> = report.steps.iter().filter(shows_more).cloned().collect();
        // A look stands before what costs something, even if it is at words that are quoted.
        let steps = if telling.first().is_none_or(costs) {
            &report.steps
        } else {
            &telling
        };
        let blocks: Vec<_> = blocks(steps).into_iter().map(|(_, block)| block).collect();
        let mut shown: Vec<usize> = blocks
            .iter()
            .enumerate()
            .map(|(at, block)| fewest(at, block))
            .collect();
        let first = |shown: &[usize]| -> Vec<StepReport> {
            let of_block = |(block, many): (&&[StepReport], &usize)| {
                block.iter().take(*many).cloned().collect::<Vec<_>>()
            };
            blocks.iter().zip(shown).flat_map(of_block).collect()
        };
        for (at, block) in blocks.iter().enumerate() {
            let fewest = shown.get(at).copied().unwrap_or_default();
            for many in (fewest + 1..=block.len()).rev() {
                let mut more = shown.clone();
                if let Some(count) = more.get_mut(at) {
                    *count = many;
                }
                // Nobody stops at what costs something while a safer step follows it.
                let is_cut = block.get(many - 1).is_some_and(costs)
                    && block.iter().skip(many).any(|step| !costs(step));
                if !is_cut && self.steps(&first(&more)).lines().count() <= lines {
                    shown = more;
                    break;
                }
            }
        }
        let first = first(&shown);
        (self.steps(&first), report.steps.len() - first.len())
    }

    fn step(&self, number: usize, step: &StepReport) -> String {
        let label = step.safety.word();
        let first = format!("{number:>3}. [{label}] {}", sentence(&step.text));
        let mut text = String::new();
        for (at, line) in self.lines(&first, 0, INDENT).iter().enumerate() {
            let line = if at == 0 {
                line.replacen(&format!("[{label}]"), &self.coloured(step.safety), 1)
            } else {
                line.clone()
            };
            text.extend([&*line, "\n"]);
        }
        for line in paste::lines(&step.command, INDENT, Some(self.width)) {
            text.extend([&*harmless(&line), "\n"]);
        }
        text
    }

    fn coloured(&self, safety: Safety) -> String {
        let label = format!("[{}]", safety.word());
        match safety {
            Safety::Destructive => self.style.fault(&label),
            Safety::Reversible => self.style.caution(&label),
            Safety::Safe => self.style.fine(&label),
            Safety::ReadOnly => self.style.faint(&label),
        }
    }
}

/// The steps of each situation, and its heading.
pub(in crate::output) fn blocks(steps: &[StepReport]) -> Vec<(String, &[StepReport])> {
    let is_of_several = steps
        .iter()
        .zip(steps.iter().skip(1))
        .any(|(one, next)| one.finalizer != next.finalizer);
    let heading = |step: &StepReport| {
        let when = capitalized(when::heading(step.when));
        match &step.finalizer {
            Some(finalizer) if is_of_several => format!("{when} ({finalizer})"),
            _ => when,
        }
    };
    steps
        .chunk_by(|a, b| a.when == b.when && a.finalizer == b.finalizer)
        .filter_map(|block| Some((heading(block.first()?), block)))
        .collect()
}

/// Whether a step only prints the object itself, whose own words the answer quotes.
fn shows_only_what_is_quoted(step: &StepReport, report: &ExplainReport) -> bool {
    let is_of_step = |wait: &&WaitReport| {
        let name = wait.finalizer.as_ref().map(|finalizer| &finalizer.name);
        step.finalizer.is_none() || name == step.finalizer.as_ref()
    };
    let mut waits = report.waits_for.iter().filter(is_of_step);
    let is_quoted = waits.any(|wait| wait.blockers.iter().any(|blocker| blocker.quotes));
    let target = format!("{}/{}", report.target.resource, report.target.name);
    let words = step.command.argv.as_deref().unwrap_or_default();
    let reads_status = match words.get(1).map(String::as_str) {
        Some("describe") => true,
        Some("get") => words.iter().any(|word| word.contains(".status")),
        _ => false,
    };
    is_quoted && reads_status && step.kind == StepKind::Look && words.contains(&target)
}

/// How many steps of a situation are shown however little room there is.
fn fewest(at: usize, block: &[StepReport]) -> usize {
    let is_ready_to_paste = |step: &StepReport| step.command.argv.is_some();
    let begins_well = at == 0
        || block
            .first()
            .is_some_and(|step| !costs(step) && is_ready_to_paste(step));
    // A copy is made for the step after it.
    let copies = block
        .iter()
        .take_while(|step| step.command.output.is_some())
        .count();
    if at < SITUATIONS && begins_well {
        (copies + 1).min(block.len())
    } else {
        0
    }
}

fn costs(step: &StepReport) -> bool {
    step.safety == Safety::Destructive
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        command::Command,
        diagnose::{Verdict, model::When},
        object::{Finalizer, List, ObjectRef},
        output::Style,
        report::explain::BlockerReport,
    };

    const FINALIZER: &str = "x.test/clean";

    fn step(command: &Command, safety: Safety) -> StepReport {
        StepReport {
            finalizer: Some(FINALIZER.to_owned()),
            when: When::Now,
            kind: if safety == Safety::ReadOnly {
                StepKind::Look
            } else {
                StepKind::Change
            },
            text: format!("step with {}", command.argv().join(" ")),
            command: command.into(),
            safety,
            read_only: safety == Safety::ReadOnly,
            needs_input: Vec::new(),
            lets_go: Vec::new(),
        }
    }

    /// A bucket whose own words are quoted, or not.
    fn report(quotes: bool, steps: Vec<StepReport>) -> ExplainReport {
        let target = ObjectRef {
            type_name: "buckets.x.test".into(),
            kind: "Bucket".into(),
            api_version: "x.test/v1".into(),
            namespace: Some("shop".into()),
            name: "b".into(),
            uid: "u".into(),
        };
        let quote = BlockerReport {
            object: None,
            says: "no such zone".into(),
            root_cause: true,
            rest: false,
            quotes,
            blockers: Vec::new(),
            waits_for: Vec::new(),
        };
        let wait = WaitReport {
            finalizer: Some(Finalizer {
                list: List::Metadata,
                name: FINALIZER.to_owned(),
            }),
            verdict: Verdict::Failing,
            says: String::new(),
            holder: None,
            once: None,
            work: None,
            now: Vec::new(),
            protects: None,
            if_removed: None,
            blockers: vec![quote],
            cause: None,
        };
        ExplainReport {
            gone: false,
            waits_for: vec![wait],
            steps,
            ..ExplainReport::gone(&target, Timestamp::UNIX_EPOCH)
        }
    }

    #[test]
    fn where_room_is_scarce_a_step_that_prints_what_is_quoted_is_left_out_first() {
        let describe = Command::describe("buckets.x.test", "b", "shop");
        let other = Command::describe("zones.x.test", "z", "shop");
        let keep = Command::merge_patch("buckets.x.test", "b", "shop", "{}");
        let steps = |second: Safety| {
            vec![
                step(&describe, Safety::ReadOnly),
                step(&other, second),
                step(&keep, Safety::Safe),
            ]
        };
        let style = Style::default();
        let layout = Layout::new(&style);
        let shown = |report: &ExplainReport, lines: usize| layout.first_steps(report, lines);
        let lines_of_two = 5;

        let (text, left_out) = shown(&report(true, steps(Safety::ReadOnly)), lines_of_two);
        assert!(
            !text.contains("describe buckets.x.test/b") && text.contains("patch"),
            "{text}"
        );
        assert_eq!(left_out, 1);
        // Without the quote it is the first thing to see.
        let (text, _) = shown(&report(false, steps(Safety::ReadOnly)), lines_of_two);
        assert!(
            text.contains("describe buckets.x.test/b") && !text.contains("patch"),
            "{text}"
        );
        // A look stands before what destroys.
        let (text, _) = shown(&report(true, steps(Safety::Destructive)), lines_of_two);
        assert!(text.contains("describe buckets.x.test/b"), "{text}");
        let (_, left_out) = shown(&report(true, steps(Safety::ReadOnly)), 100);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn each_situation_has_its_first_step_and_a_copy_is_never_the_last() {
        let of = |when: When, command: &Command, safety: Safety| StepReport {
            when,
            ..step(command, safety)
        };
        let look = Command::describe("zones.x.test", "z", "shop");
        let copy = Command::save("buckets.x.test", "b", "shop");
        let delete = Command::of("kubectl -n {} delete {}/{}", ["shop", "buckets.x.test", "b"]);
        let steps = vec![
            of(When::Now, &look, Safety::ReadOnly),
            of(
                When::Now,
                &Command::describe("zones.x.test", "y", "shop"),
                Safety::ReadOnly,
            ),
            of(When::Mistake, &copy, Safety::ReadOnly),
            of(
                When::Mistake,
                &Command::merge_patch("buckets.x.test", "b", "shop", "{}"),
                Safety::Reversible,
            ),
            of(
                When::Intended,
                &Command::describe("zones.x.test", "x", "shop"),
                Safety::ReadOnly,
            ),
            of(When::NeverBack, &delete, Safety::Destructive),
        ];
        let style = Style::default();
        let (text, left_out) = Layout::new(&style).first_steps(&report(false, steps), 1);
        for shown in ["zones.x.test/z", "> ", "patch", "zones.x.test/x"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        for hidden in ["zones.x.test/y", "delete"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
        assert_eq!(left_out, 2);
    }
}
