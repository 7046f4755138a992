//! The chain from the object to what keeps it: one short line a node. Its vertical lines continue beside wrapped text, so
//! that the eye can follow them.

use std::ptr;

use unicode_width::UnicodeWidthStr;

use super::{answer::first, layout::Layout};
use crate::{
    diagnose::{Verdict, model::Liveness},
    output::{safe::harmless, table::truncate},
    report::explain::{BlockerReport, ExplainReport, WaitReport},
};

/// The characters of the tree.
struct Branches {
    item: &'static str,
    last: &'static str,
    through: &'static str,
}

const LINES: Branches = Branches {
    item: "├─ ",
    last: "└─ ",
    through: "│  ",
};
const ASCII: Branches = Branches {
    item: "|- ",
    last: "`- ",
    through: "|  ",
};
const NOTHING: &str = "   ";
/// The mark of a fault that waits for nothing else.
pub(in crate::output) const ROOT: &str = "root cause";
/// The mark of a thing that waits for nothing else and is no fault.
pub(in crate::output) const KEEPS: &str = "keeps it";
/// Lines that the state of a blocker may take; all with `-o wide`.
const MOST_LINES: usize = 2;
/// The same for the root cause: people act on it.
const ROOT_LINES: usize = 4;
/// Columns of the widest name that still has its state beside it, of a hundred.
const NAME_SHARE: usize = 55;

/// The nodes, and the blockers whose state stands above the chain already.
struct Nodes<'a> {
    told: Vec<&'a BlockerReport>,
    all: Vec<Node>,
}

/// One node: its branches, its name, and its state.
struct Node {
    item: String,
    below: String,
    name: String,
    state: String,
    /// Lines that the state may take.
    most: usize,
}

impl Layout<'_> {
    pub(super) fn chain(&self, report: &ExplainReport, wide: bool) -> String {
        if report.waits_for.is_empty() {
            return String::new();
        }
        let mut nodes = Nodes {
            told: report
                .waits_for
                .iter()
                .filter(|_| !wide)
                .filter_map(first)
                .collect(),
            all: Vec::new(),
        };
        self.waits(&report.waits_for, "  ", &mut nodes);
        let nodes = nodes.all;
        let heading = if report.deletion.is_some() {
            "Chain"
        } else {
            "Chain, once it is deleted"
        };
        let mut text = self.heading(heading);
        text.extend(["  ", &*harmless(&report.target.pasteable()), "\n"]);
        let most = self.width * NAME_SHARE / 100;
        let column = nodes
            .iter()
            .filter(|node| !node.name.is_empty())
            .map(|node| node.item.width() + node.name.width() + NOTHING.len())
            .filter(|width| *width <= most)
            .max()
            .unwrap_or_default();
        for node in &nodes {
            self.node(node, column, wide, &mut text);
        }
        text
    }

    fn node(&self, node: &Node, column: usize, wide: bool, text: &mut String) {
        let used = node.item.width() + node.name.width();
        text.extend([&*node.item, &*node.name]);
        if node.state.is_empty() {
            text.push('\n');
            return;
        }
        let has_name = !node.name.is_empty();
        let is_short = used + NOTHING.len() + node.state.width() <= self.width;
        let beside = has_name && (used + NOTHING.len() <= column || is_short);
        let margin = if beside {
            column.max(used + NOTHING.len())
        } else if !has_name {
            used
        } else {
            node.below.width() + NOTHING.len()
        };
        let mut lines = self.lines(&node.state, margin, 0);
        if !wide && lines.len() > node.most {
            let rest = lines.split_off(node.most - 1).join(" ");
            lines.push(truncate(&rest, self.width.saturating_sub(margin), self.style));
        }
        if has_name && !beside {
            text.push('\n');
        }
        for (at, line) in lines.iter().enumerate() {
            if at == 0 && !has_name {
                // It stands right behind its branch.
            } else if at == 0 && beside {
                text.push_str(&" ".repeat(margin.saturating_sub(used)));
            } else {
                let space = margin.saturating_sub(node.below.width());
                text.extend([&*node.below, &*" ".repeat(space)]);
            }
            text.extend([&*self.with_root(line), "\n"]);
        }
    }

    fn with_root(&self, line: &str) -> String {
        match line.strip_prefix(ROOT) {
            Some(rest) => format!("{}{rest}", self.style.heading(ROOT)),
            None => line.to_owned(),
        }
    }

    fn waits<'r>(&self, waits: &'r [WaitReport], prefix: &str, nodes: &mut Nodes<'r>) {
        for (at, wait) in waits.iter().enumerate() {
            // Without a finalizer, what the object waits for stands right below it.
            if wait.finalizer.is_none() && waits.len() == 1 && !wait.blockers.is_empty() {
                self.blockers(&wait.blockers, wait.verdict, prefix, nodes);
                continue;
            }
            let (item, below) = self.branch(prefix, at + 1 == waits.len());
            let name = wait
                .finalizer
                .as_ref()
                .map_or("(no finalizer)".to_owned(), ToString::to_string);
            nodes.all.push(Node {
                item,
                below: below.clone(),
                name: harmless(&name).into_owned(),
                state: state_of(wait),
                most: MOST_LINES,
            });
            self.blockers(&wait.blockers, wait.verdict, &below, nodes);
        }
    }

    fn blockers<'r>(
        &self,
        blockers: &'r [BlockerReport],
        verdict: Verdict,
        prefix: &str,
        nodes: &mut Nodes<'r>,
    ) {
        // A report in words that the answer quotes is no node.
        let is_told = |blocker: &BlockerReport| nodes.told.iter().any(|told| told.says == blocker.says);
        // What its users say of it is no further fact, where they are named.
        let has_users = !nodes.told.is_empty()
            && verdict == Verdict::InUse
            && blockers.iter().any(|blocker| blocker.object.is_some());
        let shown: Vec<_> = blockers
            .iter()
            .filter(|blocker| blocker.object.is_some() || !(has_users && blocker.quotes || is_told(blocker)))
            .collect();
        // Words about a wait are no cause beside the object that is waited for.
        let is_object_at_fault = shown
            .iter()
            .any(|blocker| blocker.object.is_some() && blocker.root_cause);
        for (at, blocker) in shown.iter().enumerate() {
            let (item, below) = self.branch(prefix, at + 1 == shown.len());
            let mark = match verdict {
                // Of a branch, only the deepest node is the cause.
                _ if !blocker.root_cause || blocker.waits_for.iter().any(is_fault_of_controller) => "",
                _ if blocker.quotes && blocker.object.is_none() && is_object_at_fault => "",
                Verdict::InUse => KEEPS,
                _ => ROOT,
            };
            let says = match &*harmless(&blocker.says) {
                _ if blocker.object.is_some() && nodes.told.iter().any(|told| ptr::eq(*told, *blocker)) => {
                    mark.to_owned()
                }
                says if mark.is_empty() => says.to_owned(),
                says => format!("{mark}: {says}"),
            };
            let (name, state, most) = match &blocker.object {
                Some(object) => {
                    let most = if mark == ROOT { ROOT_LINES } else { MOST_LINES };
                    (harmless(&object.pasteable()).into_owned(), says, most)
                }
                None => (String::new(), says, 1),
            };
            nodes.all.push(Node {
                item,
                below: below.clone(),
                name,
                state,
                most,
            });
            self.blockers(&blocker.blockers, verdict, &below, nodes);
            self.waits(&blocker.waits_for, &below, nodes);
        }
    }

    /// The prefix of an entry's first line, and the prefix of the lines below it.
    fn branch(&self, prefix: &str, last: bool) -> (String, String) {
        let branches = if self.style.unicode { &LINES } else { &ASCII };
        let (item, below) = if last {
            (branches.last, NOTHING)
        } else {
            (branches.item, branches.through)
        };
        (format!("{prefix}{item}"), format!("{prefix}{below}"))
    }
}

/// The state of a wait. A fault of the controller itself is the root cause.
fn state_of(wait: &WaitReport) -> String {
    let state = wait_in_words(wait);
    if is_fault_of_controller(wait) {
        format!("{ROOT}: {state}")
    } else {
        state
    }
}

/// Whether the controller is at fault, and nothing that it waits for.
fn is_fault_of_controller(wait: &WaitReport) -> bool {
    let is_fault = matches!(
        wait.verdict,
        Verdict::Orphaned | Verdict::Failing | Verdict::Stalled
    );
    is_fault && wait.blockers.is_empty() && wait.holder.is_some()
}

/// What a controller that runs does with the finalizer. Whoever has not removed it is not said to.
fn what_it_does(wait: &WaitReport, is_likely: bool) -> &'static str {
    match (wait.verdict, is_likely) {
        (_, true) => "probably removes it",
        (Verdict::Stalled, false) => "has not removed it",
        (Verdict::Failing, false) => "fails to remove it",
        _ => "removes it",
    }
}

/// Who removes the finalizer, and whether that lives.
pub(in crate::output) fn wait_in_words(wait: &WaitReport) -> String {
    let Some(holder) = &wait.holder else {
        return wait.verdict.word().to_owned();
    };
    let (state, verb) = match holder.state {
        Liveness::Running => ("running", what_it_does(wait, holder.likely)),
        Liveness::Off => ("not running", "must remove it"),
        Liveness::Failing => ("failing", "must remove it"),
        Liveness::Gone => ("gone", "must remove it"),
        Liveness::Elsewhere => ("outside this cluster", "removes it"),
        Liveness::Unknown => ("state unknown", "removes it"),
    };
    match &holder.part {
        Some(part) => format!("{} ({part}, {state}) {verb}", holder.name),
        None => format!("{} ({state}) {verb}", holder.name),
    }
}
