//! The tree of waits. Its vertical lines continue beside wrapped text, so that the eye can follow them.

use unicode_width::UnicodeWidthStr;

use super::Layout;
use crate::{
    output::safe::harmless,
    report::explain::{BlockerReport, ExplainReport, WaitReport},
};

/// The characters of the tree.
struct Branches {
    item: &'static str,
    last: &'static str,
    through: &'static str,
    root: &'static str,
}

const LINES: Branches = Branches {
    item: "├─ ",
    last: "└─ ",
    through: "│  ",
    root: "← root cause",
};
const ASCII: Branches = Branches {
    item: "|- ",
    last: "`- ",
    through: "|  ",
    root: "<- root cause",
};
const NOTHING: &str = "   ";

impl Layout<'_> {
    pub(super) fn tree(&self, report: &ExplainReport) -> String {
        if report.waits_for.is_empty() {
            return String::new();
        }
        let heading = if report.deletion.is_some() {
            "waits for"
        } else {
            "would be held by"
        };
        let mut text = format!("{}\n", self.style.heading(heading));
        self.waits(&report.waits_for, "", &mut text);
        text
    }

    fn waits(&self, waits: &[WaitReport], prefix: &str, text: &mut String) {
        for (at, wait) in waits.iter().enumerate() {
            let (item, below) = self.branch(prefix, at + 1 == waits.len());
            let name = wait
                .finalizer
                .as_ref()
                .map_or("(no finalizer)".to_owned(), ToString::to_string);
            let name = self.style.heading(&harmless(&name));
            let verdict = self.style.warning(wait.verdict.word());
            text.extend([&*item, &*name, NOTHING, &*verdict, "\n"]);
            for line in self.lines(&harmless(&wait.says), below.width(), 0) {
                text.extend([&*below, &*line, "\n"]);
            }
            self.blockers(&wait.blockers, &below, text);
        }
    }

    fn blockers(&self, blockers: &[BlockerReport], prefix: &str, text: &mut String) {
        for (at, blocker) in blockers.iter().enumerate() {
            let (item, below) = self.branch(prefix, at + 1 == blockers.len());
            let says = match &blocker.object {
                Some(object) => format!("{}: {}", object.in_words(), blocker.says),
                None => blocker.says.clone(),
            };
            let mut lines = self.lines(&harmless(&says), below.width(), 0);
            if blocker.root_cause {
                self.mark_root(&mut lines, below.width());
            }
            for (at, line) in lines.iter().enumerate() {
                let start = if at == 0 { item.as_str() } else { below.as_str() };
                text.extend([start, line.as_str(), "\n"]);
            }
            self.blockers(&blocker.blockers, &below, text);
            self.waits(&blocker.waits_for, &below, text);
        }
    }

    /// The mark is never wrapped: it follows the last word or gets its own line.
    fn mark_root(&self, lines: &mut Vec<String>, used: usize) {
        let mark = self.branches().root;
        match lines.last_mut() {
            Some(last) if used + last.width() + NOTHING.len() + mark.width() <= self.width => {
                last.extend([NOTHING, mark]);
            }
            _ => lines.push(mark.to_owned()),
        }
    }

    /// The prefix of an entry's first line, and the prefix of the lines below it.
    fn branch(&self, prefix: &str, last: bool) -> (String, String) {
        let branches = self.branches();
        let (item, below) = if last {
            (branches.last, NOTHING)
        } else {
            (branches.item, branches.through)
        };
        (format!("{prefix}{item}"), format!("{prefix}{below}"))
    }

    fn branches(&self) -> &'static Branches {
        if self.style.unicode { &LINES } else { &ASCII }
    }
}
