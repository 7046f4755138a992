//! The graph of all objects in deletion and what they wait for, down to the root causes.
//!
//! Each diagnosis names the blockers of one object. Here they become one graph: if a pod uses a claim and the
//! claim holds a volume, the pod is the root cause of both. Objects that wait for each other are one root cause
//! together. If nothing else blocks an object, its controller has not acted. Objects of one type that the same
//! finalizer holds in the same way have this cause in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    diagnose::model::{Blocker, CauseState, Diagnosis, Said, Verdict, Wait},
    object::{Finalizer, ObjectRef},
};

/// An object in deletion.
#[derive(Clone, Debug)]
pub struct Waiting<'a> {
    /// The object.
    pub object: &'a ObjectRef,
    /// The finalizers of the object.
    pub finalizers: &'a [Finalizer],
    /// Its diagnosis, if it was diagnosed.
    pub diagnosis: Option<&'a Diagnosis>,
    /// The objects in deletion in it, if it is a Namespace.
    pub content: Vec<&'a ObjectRef>,
}

/// A root cause: it waits for nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootCause {
    /// The object, if the cause is one.
    pub object: Option<ObjectRef>,
    /// How it stands.
    pub state: CauseState,
    /// The finalizer that is not removed although nothing blocks it, if the cause is one.
    pub finalizer: Option<Finalizer>,
    /// Whether it is only that nobody finishes the deletion: nothing else blocks it.
    pub is_own: bool,
    /// Whether the objects that it holds were diagnosed.
    pub is_known: bool,
    /// The state of the object, or why it is the cause.
    pub says: Said,
    /// The objects that wait for it, as indices into the input.
    pub objects: Vec<usize>,
    /// How many of these objects wait for nothing else.
    pub frees: usize,
    /// For each of these objects that waits through another object: the next object on the way.
    pub through: BTreeMap<usize, ObjectRef>,
}

/// A node of the graph: it waits, or something waits for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// An object: type, namespace, name.
    Object(String, Option<String>, String),
    /// A backend or another thing that is no object, by its text.
    Text(String),
    /// A finalizer that is not removed although nothing blocks it: type, finalizer, verdict, clauses.
    Own(String, String, Option<Verdict>, Said),
}

impl From<&ObjectRef> for Node {
    fn from(object: &ObjectRef) -> Self {
        Node::Object(
            object.type_name.clone(),
            object.namespace.clone(),
            object.name.clone(),
        )
    }
}

/// Finds the root causes of these objects. A cause of objects that come first stands first.
pub fn causes(objects: &[Waiting<'_>]) -> Vec<RootCause> {
    let mut graph = Graph::default();
    let places: Vec<_> = objects.iter().map(|waiting| graph.add(waiting)).collect();
    let sinks = sinks(&graph.edges);
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: Vec<RootCause> = Vec::new();
    for (at, &place) in places.iter().enumerate() {
        let reached = sinks.of(place);
        for sink in reached {
            let number = *numbers.entry(*sink).or_insert_with(|| {
                found.push(graph.cause(&sinks.members[*sink]));
                found.len() - 1
            });
            let cause = &mut found[number];
            cause.objects.push(at);
            cause.frees += usize::from(reached.len() == 1);
            cause
                .through
                .extend(graph.through(place, *sink, &sinks).map(|next| (at, next.clone())));
        }
    }
    found
}

/// What is known of a node.
#[derive(Default)]
struct About {
    /// The clauses about it.
    says: Said,
    /// The object that it is, or that it holds.
    object: Option<ObjectRef>,
    /// The state that its cause gave it.
    state: Option<CauseState>,
    /// The worst state that the waits for it tell.
    told: Option<CauseState>,
    /// The finalizer that it is.
    finalizer: Option<Finalizer>,
}

impl About {
    fn new(says: impl Into<Said>, object: Option<&ObjectRef>) -> Self {
        About {
            says: says.into(),
            object: object.cloned(),
            ..About::default()
        }
    }

    /// How the node stands.
    fn state(&self) -> CauseState {
        self.state.or(self.told).unwrap_or(CauseState::Unknown)
    }
}

#[derive(Default)]
struct Graph {
    numbers: BTreeMap<Node, usize>,
    nodes: Vec<Node>,
    edges: Vec<Vec<usize>>,
    /// What is known of each node.
    about: Vec<About>,
    /// The number of objects that each node holds in the same way.
    held: Vec<usize>,
}

impl Graph {
    fn number(&mut self, node: Node, about: About) -> usize {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = self.nodes.len();
        self.numbers.insert(node.clone(), number);
        self.nodes.push(node);
        self.edges.push(Vec::new());
        self.about.push(about);
        self.held.push(0);
        number
    }

    fn edge(&mut self, from: usize, to: usize) {
        if from != to && !self.edges[from].contains(&to) {
            self.edges[from].push(to);
        }
    }

    fn add(&mut self, waiting: &Waiting<'_>) -> usize {
        let own_words = match waiting.finalizers.first() {
            Some(finalizer) => Said::from(format!("being deleted, held by {finalizer}")),
            None => Said::from("being deleted"),
        };
        let about = About::new(own_words.clone(), Some(waiting.object));
        let place = self.number(waiting.object.into(), about);
        for &content in &waiting.content {
            let inside = self.number(content.into(), About::new("being deleted", Some(content)));
            self.edge(place, inside);
        }
        let waits = waiting.diagnosis.map_or(&[][..], |diagnosis| &diagnosis.waits);
        self.add_waits(place, waiting.object, waits);
        if self.edges[place].is_empty() {
            let finalizer = waiting.finalizers.first();
            let name = finalizer.map(ToString::to_string).unwrap_or_default();
            let node = Node::Own(waiting.object.type_name.clone(), name, None, Said::default());
            let about = About {
                finalizer: finalizer.cloned(),
                ..About::new(own_words, Some(waiting.object))
            };
            self.hold(place, node, about);
        }
        place
    }

    /// Adds what an object waits for. It is the same whether the object is investigated itself or blocks another one.
    fn add_waits(&mut self, place: usize, object: &ObjectRef, waits: &[Wait]) {
        for wait in waits {
            self.add_blockers(place, &wait.on, wait.verdict);
        }
        let blocked = !self.edges[place].is_empty();
        for wait in waits {
            // A wait that is in use, or whose turn has not come, has its cause in what the other waits name.
            let in_turn = matches!(wait.verdict, Verdict::InUse | Verdict::Waiting);
            let only_sums = wait.on.iter().all(|blocker| blocker.rest);
            if only_sums && !(blocked && in_turn) {
                self.add_unblocked(place, object, wait);
            }
        }
    }

    /// Adds the node of a finalizer that nothing blocks.
    fn add_unblocked(&mut self, place: usize, object: &ObjectRef, wait: &Wait) {
        let finalizer = wait
            .finalizer
            .as_ref()
            .map_or("no finalizer".to_owned(), ToString::to_string);
        // What fails, fails in its own way. What is not known of two objects is one thing that is not known.
        let apart = match wait.verdict {
            Verdict::InUse | Verdict::Waiting | Verdict::Unknown => Said::default(),
            _ => wait.said.clone(),
        };
        let node = Node::Own(object.type_name.clone(), finalizer, Some(wait.verdict), apart);
        let says = wait.said.about_object();
        if let Some(&known) = self.numbers.get(&node) {
            let about = &mut self.about[known];
            about.says = shared(&about.says, &says, &wait.said);
        }
        let about = About {
            state: Some(wait.verdict.into()),
            finalizer: wait.finalizer.clone(),
            ..About::new(says, Some(object))
        };
        self.hold(place, node, about);
    }

    fn hold(&mut self, place: usize, node: Node, about: About) {
        let number = self.number(node, about);
        // A blocker of several objects is met several times.
        self.held[number] += usize::from(!self.edges[place].contains(&number));
        self.edge(place, number);
    }

    fn add_blockers(&mut self, by: usize, blockers: &[Blocker], verdict: Verdict) {
        for blocker in blockers.iter().filter(|blocker| !blocker.rest) {
            let node = match &blocker.object {
                Some(object) => object.into(),
                None => Node::Text(blocker.says.to_string()),
            };
            let number = self.number(
                node,
                About::new(blocker.says.to_string(), blocker.object.as_ref()),
            );
            let about = &mut self.about[number];
            let told = CauseState::from(verdict);
            about.told = Some(about.told.map_or(told, |other| other.min(told)));
            about.state = blocker.state.into_iter().chain(about.state).min();
            self.edge(by, number);
            self.add_blockers(number, &blocker.on, verdict);
            if let Some(object) = &blocker.object {
                self.add_waits(number, object, &blocker.waits);
            }
        }
    }

    /// The object through which a node reaches a sink; none if it waits for the sink itself.
    fn through(&self, place: usize, sink: usize, sinks: &Sinks) -> Option<&ObjectRef> {
        let leads_there = |&&next: &&usize| sinks.of(next).contains(&sink);
        let mut ways = self.edges[place].iter().filter(leads_there);
        if sinks.component[place] == sink || ways.clone().any(|&next| sinks.component[next] == sink) {
            return None;
        }
        ways.find_map(|&next| self.about[next].object.as_ref())
    }

    /// The root cause that these nodes are.
    fn cause(&self, members: &[usize]) -> RootCause {
        let mut cause = RootCause {
            object: None,
            state: CauseState::Stalled,
            finalizer: None,
            is_own: false,
            is_known: true,
            says: Said::default(),
            objects: Vec::new(),
            frees: 0,
            through: BTreeMap::new(),
        };
        let [one] = members else {
            let mut names: Vec<_> = members.iter().map(|&node| self.name(node)).collect();
            names.sort_unstable();
            cause.says = format!("these wait for each other: {}", names.join(", ")).into();
            return cause;
        };
        let about = &self.about[*one];
        cause.state = about.state();
        cause.finalizer.clone_from(&about.finalizer);
        cause.says.clone_from(&about.says);
        match &self.nodes[*one] {
            Node::Own(_, _, verdict, _) => {
                cause.is_own = true;
                cause.is_known = verdict.is_some();
                cause.object = about.object.clone().filter(|_| self.held[*one] == 1);
            }
            _ => cause.object.clone_from(&about.object),
        }
        cause
    }

    fn name(&self, node: usize) -> String {
        match &self.nodes[node] {
            Node::Object(type_name, Some(namespace), name) => format!("{type_name} {namespace}/{name}"),
            Node::Object(type_name, None, name) => format!("{type_name} {name}"),
            Node::Text(says) => says.clone(),
            Node::Own(_, _, _, says) => says.to_string(),
        }
    }
}

/// What is true of all objects that are held in the same way. Without such a fact, it is who must let go.
fn shared(known: &Said, one: &Said, whole: &Said) -> Said {
    if known == one {
        return known.clone();
    }
    known.in_common(one).unwrap_or_else(|| match &whole.controller {
        Some(_) => whole.summary(),
        None => "each waits for something of its own, which explain tells".into(),
    })
}

/// The sinks of a graph: the components that no edge leaves, and which of them each node reaches.
struct Sinks {
    /// The component of each node.
    component: Vec<usize>,
    /// The nodes of each component.
    members: Vec<Vec<usize>>,
    /// The sinks that each component reaches; itself, if it is a sink.
    reached: Vec<BTreeSet<usize>>,
}

impl Sinks {
    fn of(&self, node: usize) -> &BTreeSet<usize> {
        &self.reached[self.component[node]]
    }
}

/// Tarjan's strongly connected components, without recursion. A component comes after all components that it
/// leads to, so the sinks that it reaches are known from those.
fn sinks(edges: &[Vec<usize>]) -> Sinks {
    const NONE: usize = usize::MAX;
    let mut order = vec![NONE; edges.len()];
    let mut low = vec![NONE; edges.len()];
    let mut component = vec![NONE; edges.len()];
    let mut members: Vec<Vec<usize>> = Vec::new();
    let (mut next, mut open) = (0, Vec::new());
    for start in 0..edges.len() {
        if order[start] != NONE {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.pop() {
            if order[node] == NONE {
                (order[node], low[node]) = (next, next);
                next += 1;
                open.push(node);
            }
            if let Some(&to) = edges[node].get(at) {
                path.push((node, at + 1));
                if order[to] == NONE {
                    path.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                let mut together = Vec::new();
                while let Some(member) = open.pop() {
                    component[member] = members.len();
                    together.push(member);
                    if member == node {
                        break;
                    }
                }
                together.sort_unstable();
                members.push(together);
            }
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    let mut reached: Vec<BTreeSet<usize>> = Vec::with_capacity(members.len());
    for (number, together) in members.iter().enumerate() {
        let mut ends = BTreeSet::new();
        for to in together.iter().flat_map(|&node| &edges[node]) {
            if component[*to] != number {
                ends.extend(&reached[component[*to]]);
            }
        }
        if ends.is_empty() {
            ends.insert(number);
        }
        reached.push(ends);
    }
    Sinks {
        component,
        members,
        reached,
    }
}

#[cfg(test)]
mod tests;
