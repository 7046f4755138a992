//! The reports as YAML, with the same content as the JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::json;
use crate::characters::is_unseen;

/// Writes a report as one YAML document.
///
/// Plain YAML does not escape characters that reverse a line or are invisible. A document with such
/// characters is written as JSON, which is valid YAML. There they are escaped, and readers get the original
/// characters back.
pub fn write(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    if text.contains(|c| is_unseen(c) && c != '\n') {
        return json::write(report, out);
    }
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_terminal_controls_without_losing_them() {
        for hostile in [
            "a\u{202e}b",
            "\u{9b}31m",
            "\u{1b}[2J",
            "\u{feff}",
            "a\nb",
            "tab\tbed",
            "plain: no # yes",
        ] {
            let mut out = Vec::new();
            super::write(&vec![hostile], &mut out).expect("written");
            let text = String::from_utf8(out).expect("UTF-8");
            assert!(!text.contains(|c| super::is_unseen(c) && c != '\n'), "{text:?}");
            let back: Vec<String> = serde_saphyr::from_str(&text).expect("YAML");
            assert_eq!(back, [hostile]);
        }
    }
}
