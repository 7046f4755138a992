//! The graph in the language of Graphviz (<https://graphviz.org/doc/info/lang.html>).

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::graph::{Graph, Mark, Node, Shape};
use crate::output::{flow::Look, table::wrap};

/// Columns of a line in a node. Graphviz itself wraps nothing.
const WIDTH: usize = 60;

/// Writes the graph as one `digraph`.
pub fn write(graph: &Graph, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "// {}", graph.title)?;
    writeln!(out, "digraph waits {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [fontname=\"sans-serif\"];")?;
    for (at, node) in graph.nodes.iter().enumerate() {
        let label = quoted(&node.lines());
        writeln!(out, "  n{at} [label={label}, {}];", attributes(node))?;
    }
    for edge in &graph.edges {
        let label = edge.label();
        if label.is_empty() {
            writeln!(out, "  n{} -> n{};", edge.from, edge.to)?;
        } else {
            writeln!(
                out,
                "  n{} -> n{} [label={}];",
                edge.from,
                edge.to,
                quoted(&[label])
            )?;
        }
    }
    writeln!(out, "}}")
}

/// The form of the node. A mark has a thick border besides its word.
fn attributes(node: &Node) -> String {
    let shape = match node.shape {
        Shape::Object | Shape::Missing => "box",
        Shape::Finalizer => "ellipse",
        Shape::Words => "note",
    };
    let colour = match node.look {
        Look::Fault => "firebrick",
        Look::Caution => "darkgoldenrod",
        Look::Progress => "steelblue",
        Look::Fine => "forestgreen",
        Look::Plain | Look::Name => "gray40",
    };
    let mut attributes = format!("shape={shape}, color={colour}");
    if node.mark != Mark::None {
        attributes.push_str(", penwidth=3");
    }
    if node.shape == Shape::Missing {
        attributes.push_str(", style=dashed");
    }
    attributes
}

/// The lines as one quoted string. Backslashes start escapes, and `&` starts a character of HTML, in every label.
fn quoted(lines: &[String]) -> String {
    let lines = lines
        .iter()
        .map(|line| wrap(line, Some(WIDTH), 0))
        .collect::<Vec<_>>()
        .join("\n");
    let mut text = String::from("\"");
    for (at, line) in lines.lines().enumerate() {
        if at > 0 {
            text.push_str("\\n");
        }
        for c in line.chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '&' => text.push_str("&amp;"),
                '<' | '>' => {
                    // A picture in SVG then never holds a tag, whatever made it.
                    let _ = write!(text, "&#{};", u32::from(c));
                }
                c => text.push(c),
            }
        }
    }
    text.push('"');
    text
}
