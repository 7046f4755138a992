//! YAML of the same value that the JSON shows.

use std::io::{self, Write};

use serde::Serialize;

use super::{json, safe::acts};

/// Writes a report as one YAML document.
///
/// Plain YAML shows what turns a line around, or is invisible, as it is. A document with such characters is written
/// in the form that YAML shares with JSON, where they are escaped and every reader still gets them back.
pub fn write(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    if text.contains(|c| acts(c) && c != '\n') {
        return json::write(report, out);
    }
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_acts_is_escaped_and_comes_back_whole() {
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
            assert!(!text.contains(|c| super::acts(c) && c != '\n'), "{text:?}");
            let back: Vec<String> = serde_saphyr::from_str(&text).expect("YAML");
            assert_eq!(back, [hostile]);
        }
    }
}
