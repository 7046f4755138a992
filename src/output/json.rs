//! JSON that is as safe as the text output. Characters that act on a terminal are escaped. JSON
//! allows that in every string, so readers get the original characters back.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{
    Serializer,
    ser::{CompactFormatter, Formatter, PrettyFormatter},
};

use crate::characters::is_unseen;

/// Writes a report as one JSON document.
pub fn write(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    print(report, PrettyFormatter::new(), out)
}

/// Writes a report as one line of JSON.
pub fn write_line(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    print(report, CompactFormatter, out)
}

fn print(report: &impl Serialize, form: impl Formatter, out: &mut impl Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Harmless(form));
    report.serialize(&mut serializer).map_err(io::Error::from)?;
    writeln!(out)
}

/// Another formatter, with escapes for what acts on a terminal.
struct Harmless<F>(F);

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unseen) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut chars = from.chars();
            for unit in chars
                .next()
                .into_iter()
                .flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec())
            {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_terminal_controls_without_losing_them() {
        let hostile = "a\u{9b}31m\u{202e}\u{1b}\"\\\u{feff}é";
        let mut out = Vec::new();
        super::write(&hostile, &mut out).expect("written");
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(!text.trim_end().contains(super::is_unseen), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).expect("JSON"), hostile);
    }
}
