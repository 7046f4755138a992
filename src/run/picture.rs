//! What a picture needs besides its renderer.

use std::io::{self, Write};

use crate::output::picture::{Graph, mermaid};

/// Writes the graph for Mermaid, and warns if Mermaid would not draw it.
pub(super) fn mermaid(graph: &Graph, out: &mut impl Write) -> io::Result<()> {
    if graph.edges() > mermaid::MOST_EDGES {
        super::warn(&format!(
            "Mermaid draws at most {} lines unless its maxEdges says more, and this picture has {}; -o dot has no limit",
            mermaid::MOST_EDGES,
            graph.edges()
        ));
    }
    mermaid::write(graph, out)
}
