//! The graph that every picture shows. An object is one node, however often the report names it, and nodes and edges have
//! the order of the report.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{
    output::{
        Style,
        explain::{GAPS, KEEPS, ROOT},
        flow::Look,
        safe::harmless,
        table::truncate,
    },
    report::{ExplainReport, GapReport, ObjectName, ScanReport, gaps},
};

/// Columns of the state of a node. `-o json` has all of it.
const STATE: usize = 120;
/// Columns of what was not read, and why.
const MISSING: usize = 500;

/// Who waits for whom.
#[derive(Debug, Default)]
pub struct Graph {
    /// What stands above the picture.
    pub(super) title: String,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    places: BTreeMap<Key, usize>,
    drawn: BTreeSet<(usize, usize)>,
}

/// One node, with text as the cluster has it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) shape: Shape,
    pub(super) mark: Mark,
    pub(super) look: Look,
    name: String,
    /// What changed since an earlier snapshot.
    change: String,
    state: String,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    Finalizer,
    /// A backend, or a state that is no object.
    Words,
    /// What was not read, or that the run was stopped.
    Missing,
}

/// Whether the chain ends in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    None,
    /// It is no fault.
    Keeps,
    /// It is a fault, or may be one.
    Root,
}

/// One node waits for another.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    label: String,
}

/// What makes two nodes the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Object(String, Option<String>, String),
    /// Of the node with this number.
    Finalizer(usize, String),
    /// Of the node with this number, or of none.
    Words(Option<usize>, String),
    Missing(usize),
}

impl From<&ObjectName> for Key {
    fn from(object: &ObjectName) -> Self {
        Key::Object(
            object.resource.clone(),
            object.namespace.clone(),
            object.name.clone(),
        )
    }
}

impl Graph {
    /// What the explained objects wait for.
    pub fn of_explanations(reports: &[ExplainReport]) -> Self {
        let mut graph = Graph::default();
        if let Some(report) = reports.first() {
            graph.head(report.observed_at);
        }
        for report in reports {
            graph.add_explanation(report);
        }
        graph
    }

    /// What the terminating objects of a scan wait for.
    pub fn of_scan(report: &ScanReport) -> Self {
        let mut graph = Graph::default();
        graph.head(report.observed_at);
        graph.add_scan(report);
        graph
    }

    /// How many lines it has.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    fn head(&mut self, read: Timestamp) {
        let time = read.strftime("%Y-%m-%d %H:%M");
        self.title = format!("What waits for what, as of {time} UTC, by kubectl-finalizers");
    }

    /// The node of an object.
    pub(super) fn object(&mut self, object: &ObjectName, state: &str) -> usize {
        self.node(object.into(), Shape::Object, &object.pasteable(), state)
    }

    /// The node with this key. It keeps its first state.
    pub(super) fn node(&mut self, key: Key, shape: Shape, name: &str, state: &str) -> usize {
        let next = self.nodes.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.nodes.push(Node {
                shape,
                mark: Mark::None,
                look: Look::Plain,
                name: name.to_owned(),
                change: String::new(),
                state: state.to_owned(),
            });
        } else if let Some(node) = self.nodes.get_mut(place).filter(|node| node.state.is_empty()) {
            state.clone_into(&mut node.state);
        }
        place
    }

    /// The node of an object, if it is drawn.
    pub(super) fn place(&self, object: &ObjectName) -> Option<usize> {
        self.places.get(&object.into()).copied()
    }

    /// Says on a node what changed.
    pub(super) fn changed(&mut self, place: usize, change: &str) {
        if let Some(node) = self.nodes.get_mut(place) {
            change.clone_into(&mut node.change);
        }
    }

    /// Marks a node. A fault stays one.
    pub(super) fn mark(&mut self, place: usize, mark: Mark, look: Look) {
        if let Some(node) = self.nodes.get_mut(place).filter(|node| node.mark <= mark) {
            node.mark = mark;
            node.look = look;
        }
    }

    pub(super) fn edge(&mut self, from: usize, to: usize, label: &str) {
        if from != to && self.drawn.insert((from, to)) {
            self.edges.push(Edge {
                from,
                to,
                label: label.to_owned(),
            });
        }
    }

    /// A node of its own that says what is missing.
    pub(super) fn missing(&mut self, heading: &str, text: &str) {
        let place = self.node(Key::Missing(self.nodes.len()), Shape::Missing, heading, text);
        self.mark(place, Mark::None, Look::Caution);
    }

    pub(super) fn not_read(&mut self, heading: &str, not_read: &[GapReport]) {
        for group in gaps::grouped(not_read) {
            let names = gaps::first_names(&group.subjects, GAPS);
            self.missing(heading, &format!("{names}: {}", group.why));
        }
    }
}

impl Node {
    /// The lines of its label, harmless: its name, what changed, its mark, its state.
    pub(super) fn lines(&self) -> Vec<String> {
        let mark = match self.mark {
            Mark::None => "",
            Mark::Keeps => KEEPS,
            Mark::Root => ROOT,
        };
        let width = if self.shape == Shape::Missing {
            MISSING
        } else {
            STATE
        };
        let lines = [
            shortened(&self.name, usize::MAX),
            shortened(&self.change, STATE),
            mark.to_owned(),
            shortened(&self.state, width),
        ];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

impl Edge {
    /// Its label, harmless.
    pub(super) fn label(&self) -> String {
        shortened(&self.label, STATE)
    }
}

fn shortened(text: &str, width: usize) -> String {
    let style = Style {
        unicode: true,
        ..Style::default()
    };
    truncate(&harmless(text), width, &style)
}
