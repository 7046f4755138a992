//! The graph of all objects in deletion and what they wait for, down to the root causes.
//!
//! Each diagnosis names the blockers of one object. Here they become one graph: if a pod uses a claim and the
//! claim holds a volume, the pod is the root cause of both. Objects that wait for each other are one root cause
//! together. If nothing else blocks an object, its controller has not acted. Objects of one type that the same
//! finalizer holds in the same way have this cause in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    diagnose::model::{Blocker, Diagnosis, Verdict, Wait},
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

/// The root causes of all objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// The root causes; those that hold most objects come first.
    pub causes: Vec<Cause>,
    /// The groups of objects with exactly the same root causes, the largest first.
    pub groups: Vec<Group>,
    /// Objects that wait for no other object as far as known, and that no other object waits for, in their
    /// order.
    pub alone: Vec<usize>,
}

/// A root cause: it waits for nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The object, if the cause is one.
    pub object: Option<ObjectRef>,
    /// The state of the object, or why it is the cause.
    pub says: String,
    /// The objects that wait for it, as indices into the input.
    pub objects: Vec<usize>,
    /// How many of these objects wait for nothing else.
    pub frees: usize,
}

/// Objects with the same root causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The causes.
    pub causes: Vec<usize>,
    /// The objects, in their order.
    pub objects: Vec<usize>,
}

/// A node of the graph: it waits, or something waits for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// An object: type, namespace, name.
    Object(String, Option<String>, String),
    /// A backend or another thing that is no object, by its text.
    Text(String),
    /// A finalizer that is not removed although nothing blocks it: type, finalizer, verdict, text.
    Own(String, String, Option<Verdict>, String),
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

/// Finds the root causes of these objects.
pub fn causes(objects: &[Waiting<'_>]) -> Causes {
    let mut graph = Graph::default();
    let places: Vec<_> = objects.iter().map(|waiting| graph.add(waiting)).collect();
    let sinks = sinks(&graph.edges);
    let mut by_causes: BTreeMap<&BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
    for (at, &place) in places.iter().enumerate() {
        by_causes.entry(sinks.of(place)).or_default().push(at);
    }
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    for sink in by_causes.keys().copied().flatten() {
        *uses.entry(*sink).or_default() += 1;
    }
    let mut found = Causes::default();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<(&BTreeSet<usize>, Vec<usize>)> = by_causes.into_iter().collect();
    groups.sort_by_key(|(_, members)| (usize::MAX - members.len(), members.first().copied()));
    for (sinks_of_group, members) in groups {
        let own = |sink: &usize| {
            uses.get(sink) == Some(&1)
                && sinks.members[*sink]
                    .iter()
                    .all(|&node| matches!(graph.nodes[node], Node::Own(..)))
        };
        if members.len() == 1 && sinks_of_group.iter().all(own) {
            found.alone.extend(members);
            continue;
        }
        let mut causes = Vec::new();
        for sink in sinks_of_group {
            let number = *numbers.entry(*sink).or_insert_with(|| {
                found.causes.push(graph.cause(&sinks.members[*sink]));
                found.causes.len() - 1
            });
            let cause = &mut found.causes[number];
            cause.objects.extend(&members);
            if sinks_of_group.len() == 1 {
                cause.frees += members.len();
            }
            causes.push(number);
        }
        causes.sort_unstable();
        found.groups.push(Group {
            causes,
            objects: members,
        });
    }
    found.alone.sort_unstable();
    for cause in &mut found.causes {
        cause.objects.sort_unstable();
    }
    found
}

#[derive(Default)]
struct Graph {
    numbers: BTreeMap<Node, usize>,
    nodes: Vec<Node>,
    edges: Vec<Vec<usize>>,
    /// The text of each node, and its object or the object that it holds; none if there are several.
    says: Vec<(String, Option<ObjectRef>)>,
    /// The number of objects that each node holds in the same way.
    held: Vec<usize>,
}

impl Graph {
    fn number(&mut self, node: Node, says: &str, object: Option<&ObjectRef>) -> usize {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = self.nodes.len();
        self.numbers.insert(node.clone(), number);
        self.nodes.push(node);
        self.edges.push(Vec::new());
        self.says.push((says.to_owned(), object.cloned()));
        self.held.push(0);
        number
    }

    fn edge(&mut self, from: usize, to: usize) {
        if from != to && !self.edges[from].contains(&to) {
            self.edges[from].push(to);
        }
    }

    fn add(&mut self, waiting: &Waiting<'_>) -> usize {
        let place = self.number(waiting.object.into(), "", Some(waiting.object));
        let own_words = match waiting.finalizers.first() {
            Some(finalizer) => format!("being deleted, held by {finalizer}"),
            None => "being deleted".to_owned(),
        };
        if self.says[place].0.is_empty() {
            self.says[place].0.clone_from(&own_words);
        }
        for &content in &waiting.content {
            let inside = self.number(content.into(), "being deleted", Some(content));
            self.edge(place, inside);
        }
        let waits = waiting.diagnosis.map_or(&[][..], |diagnosis| &diagnosis.waits);
        for wait in waits {
            self.add_blockers(place, &wait.on);
        }
        let blocked = !self.edges[place].is_empty();
        for wait in waits {
            // A wait that is in use, or whose turn has not come, has its cause in what the other waits name.
            let in_turn = matches!(wait.verdict, Verdict::InUse | Verdict::Waiting);
            let only_sums = wait.on.iter().all(|blocker| blocker.rest);
            if only_sums && !(blocked && in_turn) {
                self.add_unblocked(place, waiting.object, wait);
            }
        }
        if self.edges[place].is_empty() {
            let finalizer = waiting
                .finalizers
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            let node = Node::Own(waiting.object.type_name.clone(), finalizer, None, String::new());
            self.hold(place, node, waiting.object, &own_words);
        }
        place
    }

    /// Adds the node of a finalizer that nothing blocks.
    fn add_unblocked(&mut self, place: usize, object: &ObjectRef, wait: &Wait) {
        let finalizer = wait
            .finalizer
            .as_ref()
            .map_or("no finalizer".to_owned(), ToString::to_string);
        // A root cause is a heading, for which the first sentence is enough; `explain` shows the rest.
        let says = format!("{finalizer}, {}: {}", wait.verdict.word(), wait.said.summary());
        let node = Node::Own(
            object.type_name.clone(),
            finalizer,
            Some(wait.verdict),
            wait.says(),
        );
        self.hold(place, node, object, &says);
    }

    fn hold(&mut self, place: usize, node: Node, object: &ObjectRef, says: &str) {
        let number = self.number(node, says, Some(object));
        self.held[number] += 1;
        self.edge(place, number);
    }

    fn add_blockers(&mut self, by: usize, blockers: &[Blocker]) {
        for blocker in blockers.iter().filter(|blocker| !blocker.rest) {
            let node = match &blocker.object {
                Some(object) => object.into(),
                None => Node::Text(blocker.says.clone()),
            };
            let number = self.number(node, &blocker.says, blocker.object.as_ref());
            self.edge(by, number);
            self.add_blockers(number, &blocker.on);
            for wait in &blocker.waits {
                self.add_blockers(number, &wait.on);
            }
        }
    }

    /// The root cause that these nodes are, in words.
    fn cause(&self, members: &[usize]) -> Cause {
        let (object, says) = match members {
            [one] => {
                let (says, object) = self.says[*one].clone();
                match &self.nodes[*one] {
                    Node::Own(type_name, ..) if self.held[*one] > 1 => {
                        (None, format!("{} {type_name}: {says}", self.held[*one]))
                    }
                    _ => (object, says),
                }
            }
            several => {
                let mut names: Vec<_> = several.iter().map(|&node| self.name(node)).collect();
                names.sort_unstable();
                (None, format!("these wait for each other: {}", names.join(", ")))
            }
        };
        Cause {
            object,
            says,
            objects: Vec::new(),
            frees: 0,
        }
    }

    fn name(&self, node: usize) -> String {
        match &self.nodes[node] {
            Node::Object(type_name, Some(namespace), name) => format!("{type_name} {namespace}/{name}"),
            Node::Object(type_name, None, name) => format!("{type_name} {name}"),
            Node::Text(says) | Node::Own(_, _, _, says) => says.clone(),
        }
    }
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
