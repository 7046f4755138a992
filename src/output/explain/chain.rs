//! The chain from the object to what keeps it: one short line a node. Its vertical lines continue beside wrapped text, so
//! that the eye can follow them.

use unicode_width::UnicodeWidthStr;

use super::layout::Layout;
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
const ROOT: &str = "root cause: ";
/// Lines that the state of a blocker may take; all with `-o wide`.
const MOST_LINES: usize = 2;
/// Columns of the widest name that still has its state beside it, of a hundred.
const NAME_SHARE: usize = 55;

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
        let mut nodes = Vec::new();
        self.waits(&report.waits_for, "  ", &mut nodes);
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
        let beside = used + NOTHING.len() <= column;
        let margin = if beside {
            column
        } else {
            node.below.width() + NOTHING.len()
        };
        let mut lines = self.lines(&node.state, margin, 0);
        if !wide && lines.len() > node.most {
            let rest = lines.split_off(node.most - 1).join(" ");
            lines.push(truncate(&rest, self.width.saturating_sub(margin), self.style));
        }
        if !beside {
            text.push('\n');
        }
        for (at, line) in lines.iter().enumerate() {
            if at == 0 && beside {
                text.push_str(&" ".repeat(column.saturating_sub(used)));
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

    fn waits(&self, waits: &[WaitReport], prefix: &str, nodes: &mut Vec<Node>) {
        for (at, wait) in waits.iter().enumerate() {
            let (item, below) = self.branch(prefix, at + 1 == waits.len());
            let name = wait
                .finalizer
                .as_ref()
                .map_or("(no finalizer)".to_owned(), ToString::to_string);
            nodes.push(Node {
                item,
                below: below.clone(),
                name: harmless(&name).into_owned(),
                state: wait_in_words(wait),
                most: 1,
            });
            self.blockers(&wait.blockers, wait.verdict, &below, nodes);
        }
    }

    fn blockers(&self, blockers: &[BlockerReport], verdict: Verdict, prefix: &str, nodes: &mut Vec<Node>) {
        for (at, blocker) in blockers.iter().enumerate() {
            let (item, below) = self.branch(prefix, at + 1 == blockers.len());
            let mark = match verdict {
                _ if !blocker.root_cause => "",
                Verdict::InUse => "keeps it: ",
                _ => ROOT,
            };
            let says = harmless(&blocker.says);
            let (name, state) = match &blocker.object {
                Some(object) => (
                    harmless(&object.pasteable()).into_owned(),
                    format!("{mark}{says}"),
                ),
                None => ("(no object)".to_owned(), format!("{mark}{says}")),
            };
            nodes.push(Node {
                item,
                below: below.clone(),
                name,
                state,
                most: MOST_LINES,
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

/// Whether the controller lives, and who it is.
fn wait_in_words(wait: &WaitReport) -> String {
    let Some(holder) = &wait.holder else {
        return wait.verdict.word().to_owned();
    };
    let state = match holder.state {
        Liveness::Running => "running",
        Liveness::Off => "switched off",
        Liveness::Failing => "failing",
        Liveness::Gone => "gone",
        Liveness::Elsewhere => "outside this cluster",
        Liveness::Unknown => "state unknown",
    };
    format!("{}; removed by {} ({state})", wait.verdict.word(), holder.name)
}
