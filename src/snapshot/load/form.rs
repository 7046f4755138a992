//! Detects the format of a file from its first bytes, not from its name: people save JSON as `.yaml` and tables as
//! `.json`.

use std::io::{self, BufRead, BufReader, Read};

use super::{collect::Collector, json, place::line_breaks, yaml};

/// How many bytes to read first: enough for the first line of a table, and for the marks of all formats.
const HEAD_BYTES: u64 = 4096;

#[derive(Debug, PartialEq)]
enum Form {
    Json,
    Yaml,
    /// UTF-16, as PowerShell 5 writes redirected output. True for big-endian.
    Utf16(bool),
    /// A format that cannot hold objects, with its description.
    Unusable(&'static str),
}

/// Reads a file of any format into the collector. Fails only if the first bytes cannot be read.
pub(super) fn read(collector: &mut Collector<'_>, reader: &mut dyn Read) -> io::Result<()> {
    let mut start = Vec::new();
    // A pipe may return one byte at a time; `take` reads until the limit.
    reader.take(HEAD_BYTES).read_to_end(&mut start)?;
    let form = form(&start);
    if start.starts_with(BOM) {
        start.drain(..BOM.len());
    }
    let mut whole = start.chain(reader);
    match form {
        Form::Unusable(what) => collector.gap(None, what.into()),
        Form::Yaml => yaml::read(collector, &mut BufReader::with_capacity(1 << 16, whole)),
        Form::Json => {
            let mut bytes = Vec::new();
            let failed = whole.read_to_end(&mut bytes).err();
            json_bytes(collector, &bytes);
            if let Some(cause) = failed {
                collector.gap(None, format!("the rest cannot be read: {cause}"));
            }
        }
        Form::Utf16(big) => {
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes)?;
            utf16(collector, bytes.get(2..).unwrap_or_default(), big);
        }
    }
    Ok(())
}

const BOM: &[u8] = b"\xef\xbb\xbf";

fn form(start: &[u8]) -> Form {
    match start {
        [] => return Form::Unusable("empty"),
        [0xff, 0xfe, ..] => return Form::Utf16(false),
        [0xfe, 0xff, ..] => return Form::Utf16(true),
        // gzip, zip, zstd, xz, bzip2.
        [0x1f, 0x8b, ..]
        | [b'P', b'K', 3, 4, ..]
        | [0x28, 0xb5, 0x2f, 0xfd, ..]
        | [0xfd, b'7', b'z', b'X', b'Z', 0, ..]
        | [b'B', b'Z', b'h', b'0'..=b'9', ..] => {
            return Form::Unusable("compressed, not text; unpack it first");
        }
        _ => {}
    }
    if start.get(257..262) == Some(b"ustar") {
        return Form::Unusable("a tar archive; unpack it and name the directory");
    }
    if start.contains(&0) {
        return Form::Unusable("binary, not text");
    }
    let text = start.strip_prefix(BOM).unwrap_or(start);
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => Form::Json,
        Some(_) if is_table(text) => Form::Unusable(
            "a table as kubectl prints it for people, which leaves out finalizers; save objects with -o yaml or -o json",
        ),
        _ => Form::Yaml,
    }
}

/// Whether the first line is the heading of a table: columns in capitals, one of them `NAME`.
fn is_table(text: &[u8]) -> bool {
    let Some(line) = text
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty())
    else {
        return false;
    };
    let capitals =
        |&byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b" ()-_/%".contains(&byte);
    let line = line.trim_ascii();
    line.iter().all(capitals)
        && line.split(|&byte| byte == b' ').any(|word| word == b"NAME")
        && line.windows(2).any(|pair| pair == b"  ")
}

fn json_bytes(collector: &mut Collector<'_>, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => json::documents(collector, text),
        Err(error) => {
            let (good, bad) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
            let text = std::str::from_utf8(good).unwrap_or_default();
            json::documents(collector, text);
            let line = line_breaks(text.as_bytes()).saturating_add(1);
            let unread = bad.len();
            collector.gap(
                Some(line),
                format!("not UTF-8; the {unread} bytes from here were not read"),
            );
        }
    }
}

fn utf16(collector: &mut Collector<'_>, bytes: &[u8], big_endian: bool) {
    let units = bytes.chunks_exact(2).map(|pair| {
        let pair: [u8; 2] = pair.try_into().unwrap_or_default();
        if big_endian {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    });
    let text: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    collector.note_file("is UTF-16, as PowerShell writes it, and was converted");
    if bytes.len() % 2 == 1 {
        collector.gap(None, "cut short in the middle of a character".into());
    }
    match form(text.as_bytes()) {
        Form::Unusable(what) => collector.gap(None, what.into()),
        Form::Json => json::documents(collector, &text),
        Form::Yaml | Form::Utf16(_) => yaml::read(collector, &mut text.as_bytes() as &mut dyn BufRead),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_the_format_from_the_content() {
        assert_eq!(form(b"\xef\xbb\xbf\r\n {\"kind\""), Form::Json);
        assert_eq!(form(b"[]"), Form::Json);
        assert_eq!(form(b"apiVersion: v1\n"), Form::Yaml);
        assert_eq!(form(b"\xff\xfea\0"), Form::Utf16(false));
        for unusable in [
            &b""[..],
            b"\x1f\x8b\x08",
            b"k8s\0\n",
            b"NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE\ndb  ",
            b"\nNAME   PORT(S)   UP-TO-DATE\r\n",
        ] {
            assert!(
                matches!(form(unusable), Form::Unusable(_)),
                "{}",
                String::from_utf8_lossy(unusable)
            );
        }
        assert_eq!(form(b"NAME: x\n"), Form::Yaml);
    }
}
