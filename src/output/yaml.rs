//! YAML of the same value that the JSON shows.

use std::io::{self, Write};

use serde::Serialize;

use super::{json, safe::acts};

/// Writes a report as one YAML document.
///
/// The serializer escapes control characters, and leaves those that turn a line around or take no place on it.
/// Where the text holds one, the document is the JSON, which is YAML too and escapes them: every reader gets the
/// same value, and a terminal shows what is there.
pub fn write(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    if text.contains(|c| acts(c) && c != '\n') {
        return json::write(report, out);
    }
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write(value, &mut out).expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn what_acts_is_escaped_and_comes_back_whole() {
        for hostile in [
            "a\u{1b}[31m",
            "a\u{9b}31m",
            "\u{202e}nimda",
            "x\u{200b}y",
            "a\u{2028}b\u{feff}",
            "a\r\u{8}b",
        ] {
            let text = written(&[hostile]);
            assert!(!text.contains(|c| acts(c) && c != '\n'), "{text:?}");
            let back: Vec<String> = serde_saphyr::from_str(&text).expect("YAML");
            assert_eq!(back, [hostile]);
        }
        assert_eq!(written(&["größer 你好"]), "- größer 你好\n");
    }
}
