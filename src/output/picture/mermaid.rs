//! The graph in the language of Mermaid (<https://mermaid.js.org/syntax/flowchart.html>), which Markdown shows.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::graph::{Graph, Mark, Node, Shape};
use crate::output::flow::Look;

/// The usual `maxEdges` of Mermaid, which draws nothing beyond (`mermaid-js/mermaid:packages/mermaid/src/schemas/config.schema.yaml`).
pub const MOST_EDGES: usize = 500;

/// The classes, with the same colours as those of dot.
const CLASSES: [(&str, &str); 5] = [
    ("fault", "stroke:firebrick"),
    ("caution", "stroke:darkgoldenrod"),
    ("progress", "stroke:steelblue"),
    ("fine", "stroke:forestgreen"),
    ("marked", "stroke-width:3px"),
];

/// Writes the graph as one flowchart.
pub fn write(graph: &Graph, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "%% {}", graph.title)?;
    writeln!(out, "flowchart LR")?;
    for (at, node) in graph.nodes.iter().enumerate() {
        let (open, close) = match node.shape {
            Shape::Object => ("[", "]"),
            Shape::Finalizer => ("([", "])"),
            Shape::Words => ("{{", "}}"),
            Shape::Missing => ("[[", "]]"),
        };
        let label = quoted(&node.lines());
        writeln!(out, "  n{at}{open}{label}{close}")?;
    }
    for edge in &graph.edges {
        let label = edge.label();
        if label.is_empty() {
            writeln!(out, "  n{} --> n{}", edge.from, edge.to)?;
        } else {
            writeln!(out, "  n{} -->|{}| n{}", edge.from, quoted(&[label]), edge.to)?;
        }
    }
    for (class, form) in CLASSES {
        let nodes = graph.nodes.iter().enumerate();
        let nodes: Vec<_> = nodes
            .filter(|(_, node)| has(node, class))
            .map(|(at, _)| format!("n{at}"))
            .collect();
        if !nodes.is_empty() {
            writeln!(out, "  classDef {class} {form}")?;
            writeln!(out, "  class {} {class}", nodes.join(","))?;
        }
    }
    Ok(())
}

fn has(node: &Node, class: &str) -> bool {
    match class {
        "fault" => node.look == Look::Fault,
        "caution" => node.look == Look::Caution,
        "progress" => node.look == Look::Progress,
        "fine" => node.look == Look::Fine,
        _ => node.mark != Mark::None,
    }
}

/// The lines as one quoted string. Mermaid knows no escape for a quote, and reads entities, comments, directives and
/// Markdown in strings too. So all but letters, digits and a few marks are entities.
fn quoted(lines: &[String]) -> String {
    let mut text = String::from("\"");
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            text.push_str("<br/>");
        }
        for c in line.chars() {
            if c.is_alphanumeric() || " -_./,()+@=×…".contains(c) {
                text.push(c);
            } else {
                let _ = write!(text, "#{};", u32::from(c));
            }
        }
    }
    text.push('"');
    text
}
