//! What waits for what, as lists in lists.

use std::collections::BTreeSet;

use super::text::{Html, class};
use crate::output::picture::graph::{Graph, Mark, Node, Shape};

/// How many entries below one node are listed.
const MOST: usize = 50;

/// The nodes that can be reached from the first one.
pub(super) fn add(page: &mut Html, graph: &Graph) {
    if graph.edges.is_empty() {
        return;
    }
    page.markup("<h3>Chain</h3><ul class=tree>");
    Tree {
        graph,
        told: BTreeSet::new(),
    }
    .node(page, 0);
    page.markup("</ul>\n");
}

struct Tree<'a> {
    graph: &'a Graph,
    told: BTreeSet<usize>,
}

impl Tree<'_> {
    fn node(&mut self, page: &mut Html, at: usize) {
        let Some(node) = self.graph.nodes.get(at) else {
            return;
        };
        let edges = self.graph.edges.iter().filter(|edge| edge.from == at);
        let below: Vec<_> = edges.map(|edge| edge.to).collect();
        page.markup("<li>");
        if below.is_empty() {
            label(page, node);
        } else if self.told.insert(at) {
            page.markup("<details open><summary>");
            label(page, node);
            page.markup("</summary><ul>");
            for &next in below.iter().take(MOST) {
                self.node(page, next);
            }
            if let Some(more) = below.len().checked_sub(MOST).filter(|&more| more > 0) {
                page.markup("<li>and ").number(more as i128).markup(" more</li>");
            }
            page.markup("</ul></details>");
        } else {
            label(page, node);
            page.markup(" (its chain stands above)");
        }
        page.markup("</li>");
    }
}

fn label(page: &mut Html, node: &Node) {
    for (at, line) in node.lines().iter().enumerate() {
        if at > 0 {
            page.markup(", ");
        }
        let is_mark = at == 1 && node.mark != Mark::None;
        if is_mark {
            page.markup("<strong class=").markup(class(node.look)).markup(">");
            page.text(line).markup("</strong>");
        } else if at == 0 && node.shape != Shape::Words {
            page.element("code", line);
        } else {
            page.text(line);
        }
    }
}
