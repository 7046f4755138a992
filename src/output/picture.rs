//! Pictures of who waits for whom: graphs for other programs, and a page for a browser.

mod causes;
pub mod dot;
mod graph;
pub mod html;
pub mod mermaid;
#[cfg(test)]
mod tests;
mod waits;

pub use self::graph::Graph;
