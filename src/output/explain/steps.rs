//! What to do: blocks of steps, one for each situation. Each step has its label in front, and its command on a line of its
//! own, ready to paste.

use super::layout::{Layout, sentence};
use crate::{
    diagnose::Safety,
    output::{paste, safe::harmless},
    report::explain::StepReport,
};

/// Indentation of a step's text and command.
const INDENT: usize = 5;

impl Layout<'_> {
    pub(super) fn steps(&self, steps: &[StepReport]) -> String {
        let mut text = String::new();
        let mut number = 0_usize;
        for block in steps.chunk_by(|a, b| a.when == b.when) {
            let when = block.first().map_or("", |step| &*step.when);
            text += &self.heading(&capitalized(when));
            for step in block {
                number += 1;
                text += &self.step(number, step);
            }
        }
        text
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

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
