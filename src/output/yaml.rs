//! YAML of the same value that the JSON shows.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a report as one YAML document.
pub fn write(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
