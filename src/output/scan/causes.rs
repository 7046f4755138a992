//! The part of a scan about what is stuck: causes, worst first, each with its objects and the next command.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    Scan, count,
    rows::{Line, from_namespace},
};
use crate::{
    command::Shown,
    diagnose::{CauseState, Fate},
    knowledge::Consequence,
    output::{
        flow::{Flow, Look, look_of_state},
        paste,
        table::truncate,
        together::together_in_words,
    },
    report::{GapReport, ObjectReport, root_causes::RootCauseReport},
};

/// What stands above the command that makes a controller look again.
const NUDGE: &str = "Nothing blocks it any more? [safe] Make its controller look again:";
/// So many causes are shown, unless the user asks for all.
pub(super) const SHOWN: usize = 10;
/// Columns of a state, so that the texts behind it are below each other.
const STATE: usize = 10;
/// A terminal narrower than this has no room for that.
const NARROW: usize = 70;
/// Columns before the further lines of a text on it.
const BELOW: usize = 5;
/// So many lines of a text are shown; `explain` has the rest.
const LINES: usize = 3;
/// How many objects a cause names that a worse cause lists.
const ELSEWHERE: usize = 3;

impl Scan<'_> {
    pub(super) fn causes(&self, out: &mut impl Write) -> io::Result<()> {
        let causes = &self.report.root_causes;
        let shown = if self.options.wide || self.report.objects.is_some() {
            causes.len()
        } else {
            causes.len().min(SHOWN)
        };
        let (first, hidden) = causes.split_at(shown);
        let blocks: Vec<_> = first
            .iter()
            .enumerate()
            .map(|(number, cause)| self.lines(cause.rows.iter().filter(|row| cause.lists(row, number))))
            .collect();
        let column = self.column(blocks.iter().flatten());
        for (number, (cause, lines)) in causes.iter().zip(&blocks).enumerate() {
            writeln!(out)?;
            let sentences = self.elsewhere(number, cause, self.sentences(number, cause));
            self.head(number, cause.state, &sentences, out)?;
            self.body(cause, lines, column, out)?;
        }
        self.hidden(hidden.iter().map(|cause| cause.state), out)?;
        self.slow(out)
    }

    /// The objects of a cause, and what to type next.
    pub(super) fn body(
        &self,
        cause: &RootCauseReport,
        lines: &[Line],
        column: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for line in lines.iter().flat_map(|line| line.fit(column, &self.style)) {
            writeln!(out, "{line}")?;
        }
        for line in cause
            .next
            .iter()
            .flat_map(|next| paste::lines(&Shown::from(next), 3, self.style.width))
        {
            writeln!(out, "{line}")?;
        }
        if let Some(nudge) = &cause.nudge {
            for line in self.wrap(NUDGE, 3).lines() {
                writeln!(out, "{line}")?;
            }
            for line in paste::lines(&Shown::from(nudge), 3, self.style.width) {
                writeln!(out, "{line}")?;
            }
        }
        self.together(cause, out)
    }

    /// The number, the state and what it is.
    pub(super) fn head(
        &self,
        number: usize,
        state: CauseState,
        sentences: &Flow,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let label = format!("{}. ", number + 1);
        let (look, state) = (look_of_state(state), state.word());
        let width = self.style.width.unwrap_or(usize::MAX);
        let space = STATE.saturating_sub(state.len()).max(1);
        let lead = label.len() + state.len() + space;
        let indent = if width < NARROW {
            BELOW
        } else {
            label.len() + STATE
        };
        let (first, others) = (width.saturating_sub(lead), width.saturating_sub(indent));
        let lines = sentences.lines_behind(first.max(1), others.max(1), &self.style);
        let coloured = look.paint(state, &self.style);
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                writeln!(out, "{label}{coloured}{}{line}", " ".repeat(space))?;
            } else {
                writeln!(out, "{}{line}", " ".repeat(indent))?;
            }
        }
        Ok(())
    }

    /// What the cause is, what a removal by hand costs, and what it holds besides.
    pub(super) fn sentences(&self, number: usize, cause: &RootCauseReport) -> Flow {
        let mut flow = if cause.is_own {
            self.held(cause)
        } else {
            self.blocker(number, cause)
        };
        for lost in &cause.lets_go {
            flow = flow.text(&format!(" After that, {} ", lost.what));
            flow = match lost.fate {
                Fate::Leaked => flow.styled(Look::Fault, "LEAKS"),
                _ => flow.text("is ").styled(Look::Fault, "DESTROYED"),
            };
            flow = flow.text(".");
        }
        if let Some(cost) = cause.if_removed {
            flow = flow.text(" Removal by hand costs: ");
            if !cost.known {
                flow = flow.text("unknown, so ");
            }
            let is_loss = cost.consequence >= Consequence::LeakedInfrastructure;
            flow = flow.styled(
                if is_loss { Look::Fault } else { Look::Plain },
                &cost.consequence.typed(),
            );
            flow = flow.text(if cost.known { "." } else { " is assumed." });
        }
        flow
    }

    /// An object or a backend that blocks others.
    fn blocker(&self, number: usize, cause: &RootCauseReport) -> Flow {
        let mut flow = Flow::default();
        let is_used = cause.state == CauseState::InUse;
        if is_used {
            flow = flow.styled(Look::Fine, "No fault:").text(" ");
        }
        let Some(object) = &cause.object else {
            return flow.text(&self.sentence(&cause.says));
        };
        flow = flow.styled(Look::Name, &object.pasteable());
        let used = cause
            .rows
            .iter()
            .find(|row| row.through.is_none() && cause.lists(row, number));
        let used = used.filter(|_| is_used);
        if let Some(used) = used.and_then(|row| self.report.terminating.get(row.at)) {
            let used = from_namespace(object.namespace.as_deref(), &used.object);
            flow = flow.text(" uses ").styled(Look::Name, &used);
        }
        flow.text(": ").text(&self.sentence(&cause.says))
    }

    /// The objects that wait for it and that a worse cause lists.
    pub(super) fn elsewhere(&self, number: usize, cause: &RootCauseReport, flow: Flow) -> Flow {
        let others: Vec<_> = cause
            .rows
            .iter()
            .filter(|row| !cause.lists(row, number))
            .filter_map(|row| Some((row, row.also.first()? + 1)))
            .collect();
        let shown = others.len().min(ELSEWHERE);
        let mut flow = flow;
        let named = others
            .iter()
            .take(shown)
            .filter_map(|(row, worse)| Some((self.report.terminating.get(row.at)?, worse)));
        for (at, (object, worse)) in named.enumerate() {
            let object = object.object.pasteable();
            flow = flow
                .text(if at == 0 { " Also holds " } else { ", " })
                .text(&format!("{object} (cause {worse})"));
        }
        match others.len() - shown {
            _ if others.is_empty() => flow,
            0 => flow.text("."),
            more => flow.text(&format!(" and {more} more.")),
        }
    }

    /// A finalizer that nobody removes although nothing blocks it, or an object without finalizers.
    pub(super) fn held(&self, cause: &RootCauseReport) -> Flow {
        let flow = Flow::default();
        let Some(_) = &cause.finalizer else {
            let flow = match cause.state {
                CauseState::InUse => flow.styled(Look::Fine, "No fault:").text(" "),
                _ => flow,
            };
            return flow.text(&self.sentence(&cause.says));
        };
        let who = |flow: Flow| match &cause.controller {
            Some(name) => flow.styled(Look::Name, name).text(", the controller,"),
            None => flow.text("the controller"),
        };
        match cause.state {
            _ if !cause.is_known => match &cause.controller {
                Some(name) => flow
                    .text("Not looked into. ")
                    .styled(Look::Name, name)
                    .text(" removes the finalizer."),
                None => flow.text("Not looked into. No controller is known."),
            },
            CauseState::Gone => match &cause.controller {
                Some(name) => flow.styled(Look::Name, name).text(", the controller."),
                None => flow.text("the controller."),
            },
            CauseState::Stalled => who(flow).text(" has not acted, although nothing blocks it."),
            CauseState::Unknown if cause.controller.is_none() => flow.text("No controller is known."),
            CauseState::Unknown => who(flow.text("Not known why ")).text(" has not acted."),
            CauseState::InUse => flow
                .styled(Look::Fine, "No fault:")
                .text(" ")
                .text(&self.sentence(&cause.says)),
            _ => flow.text(&self.sentence(&cause.says)),
        }
    }

    /// The text as a whole sentence. Somebody else's may be long, and `explain` has all of it.
    fn sentence(&self, says: &str) -> String {
        let most = self.style.width.map_or(usize::MAX, |width| width * LINES);
        let says = says.trim_end_matches('.');
        let shown = truncate(says, most, &self.style);
        let is_cut = shown != says;
        format!("{shown}{}", if is_cut { "" } else { "." })
    }

    /// The one plan for all objects of a cause.
    fn together(&self, cause: &RootCauseReport, out: &mut impl Write) -> io::Result<()> {
        let Some(together) = &cause.together else {
            return Ok(());
        };
        let text = together_in_words(together);
        for line in self.wrap(&text, 3).lines() {
            writeln!(out, "{line}")?;
        }
        for command in together.commands() {
            for line in paste::lines(&Shown::from(command), 3, self.style.width) {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }

    /// How many causes are not shown, by state.
    pub(super) fn hidden(
        &self,
        causes: impl Iterator<Item = CauseState>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Some(hidden) = hidden_in_words(causes) else {
            return Ok(());
        };
        let text = format!("{hidden} All of them: --all");
        writeln!(out, "\n{}", self.wrap(&text, 0))
    }

    /// The objects in their grace period.
    pub(super) fn slow(&self, out: &mut impl Write) -> io::Result<()> {
        let all = self.report.terminating.iter();
        let is_slow = |object: &&ObjectReport| {
            let deletion = object.deletion.as_ref();
            deletion.is_some_and(|deletion| deletion.in_grace_period)
        };
        let (at_risk, slow): (Vec<_>, Vec<_>) =
            all.filter(is_slow).partition(|object| object.at_risk.is_some());
        self.in_grace(("AT RISK", Look::Caution), "and stuck soon", &at_risk, out)?;
        self.in_grace(("SLOW", Look::Progress), "not stuck", &slow, out)
    }

    /// The objects in their grace period for which the same is to be expected.
    fn in_grace(
        &self,
        (word, look): (&str, Look),
        prospect: &str,
        objects: &[&ObjectReport],
        out: &mut impl Write,
    ) -> io::Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> = objects
            .iter()
            .map(|object| self.line(object, object.reason.as_deref().unwrap_or_default()))
            .collect();
        let objects = count(objects.len() as u64, "object");
        let (label, space) = (look.paint(word, &self.style), " ".repeat(STATE - word.len()));
        writeln!(
            out,
            "\n   {label}{space}{objects} in the grace period, {prospect}."
        )?;
        let column = self.column(lines.iter());
        for line in lines.iter().flat_map(|line| line.fit(column, &self.style)) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// How many causes are not shown, by state.
pub(in crate::output) fn hidden_in_words(causes: impl Iterator<Item = CauseState>) -> Option<String> {
    let mut states: BTreeMap<CauseState, usize> = BTreeMap::new();
    for state in causes {
        *states.entry(state).or_default() += 1;
    }
    let all: usize = states.values().sum();
    let states: Vec<_> = states
        .into_iter()
        .map(|(state, causes)| format!("{causes} {}", state.word()))
        .collect();
    let more = count(all as u64, "more cause");
    (all > 0).then(|| format!("{more}, not shown: {}.", states.join(", ")))
}

/// The part of the report about gaps that a cause explains: the number of that cause.
pub(super) fn cause_of_gap(causes: &[RootCauseReport], gap: &GapReport) -> Option<usize> {
    let (group, version) = gap.name.as_deref()?.split_once('/')?;
    let service = format!("{version}.{group}");
    let is_it = |cause: &RootCauseReport| {
        let object = cause.object.as_ref();
        object.is_some_and(|object| object.kind == "APIService" && object.name == service)
    };
    Some(causes.iter().position(is_it)? + 1)
}
