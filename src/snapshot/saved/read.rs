//! Reads a snapshot, one record at a time. Its errors say what is wrong with the file.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
};

use serde::Deserialize;

use super::{Counted, FORMAT, Head, Saved, VERSION, record::Record, unpack::Unpacked};

/// Longer than any answer of an API server. A file that is no snapshot must not fill the memory.
const LONGEST_LINE: u64 = 512 << 20;
/// Longer than any first line. A file that is no snapshot is recognised by it.
const LONGEST_HEAD: u64 = 1 << 16;

/// More objects of one type than any cluster has. Counts are added up, so they must not overflow.
const MOST_OBJECTS: u64 = 1 << 40;

/// Why a file cannot be used as a snapshot.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file is not a snapshot.
    NotOne,
    /// The file is a snapshot, with this fault.
    Broken(String),
}

/// The fields of the first line that identify a snapshot.
#[derive(Deserialize)]
struct Format {
    format: String,
    version: u32,
}

impl Saved {
    /// Reads a snapshot, compressed or decompressed.
    pub fn read(reader: &mut dyn BufRead) -> Result<Self, Fault> {
        let packed = reader
            .fill_buf()
            .map_err(|cause| Fault::Broken(cause.to_string()))?
            .first()
            == Some(&0x1f);
        if packed {
            lines(&mut BufReader::with_capacity(1 << 16, Unpacked::of(reader)))
        } else {
            lines(reader)
        }
    }
}

fn lines(reader: &mut dyn BufRead) -> Result<Saved, Fault> {
    let mut lines = Lines {
        reader,
        line: Vec::new(),
        number: 0,
    };
    let first = match lines.next(LONGEST_HEAD) {
        Ok(Some(line)) => line.to_vec(),
        _ => return Err(Fault::NotOne),
    };
    let format: Format = serde_json::from_slice(&first).map_err(|_| Fault::NotOne)?;
    if format.format != FORMAT {
        return Err(Fault::NotOne);
    }
    if format.version != VERSION {
        return Err(Fault::Broken(format!(
            "a snapshot in version {} of its format, and this program reads version {VERSION}; use the version of the \
             program that wrote it, or a newer one",
            format.version
        )));
    }
    let head: Head =
        serde_json::from_slice(&first).map_err(|error| Fault::Broken(decode_error(1, &error)))?;
    let mut saved = Saved {
        head,
        types: Vec::new(),
        type_gaps: Vec::new(),
        counts: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        kept: Vec::new(),
        leftovers: None,
        answers: BTreeMap::new(),
    };
    while let Some(line) = lines.next(LONGEST_LINE)? {
        let record: Result<Record<'static>, _> = serde_json::from_slice(line);
        let record = match record {
            Ok(record) => record,
            // The file was decompressed and then cut within a line.
            Err(error) if error.is_eof() && lines.is_last()? => {
                return Err(Fault::Broken(cut_short(lines.number - 1)));
            }
            Err(error) => return Err(Fault::Broken(decode_error(lines.number, &error))),
        };
        if let Record::End { records } = record {
            return end(saved, records, &mut lines);
        }
        if !has_plausible_counts(&record) {
            return Err(Fault::Broken(format!(
                "line {}: it counts more objects than there can be",
                lines.number
            )));
        }
        saved.take(record);
    }
    Err(Fault::Broken(cut_short(lines.number)))
}

/// Whether a cluster can have as many objects of a type.
fn has_plausible_counts(record: &Record<'_>) -> bool {
    let Record::Read {
        objects,
        in_namespaces,
        ..
    } = record
    else {
        return true;
    };
    let inside = in_namespaces
        .values()
        .fold(0, |sum: u64, more| sum.saturating_add(*more));
    inside.max(*objects) <= MOST_OBJECTS
}

fn end(saved: Saved, records: u64, lines: &mut Lines<'_>) -> Result<Saved, Fault> {
    let before = lines.number - 1;
    if before != records {
        return Err(Fault::Broken(format!(
            "it ends with a count of {records} records and has {before}: it was changed after it was written"
        )));
    }
    // gzip's checksum follows the last line. Only another read verifies it.
    match lines.next(LONGEST_LINE)? {
        None => Ok(saved),
        Some(_) => Err(Fault::Broken(format!(
            "line {}: something follows the end of the snapshot",
            lines.number
        ))),
    }
}

impl Saved {
    fn take(&mut self, record: Record<'_>) {
        match record {
            Record::Type(ty) => self.types.push(ty.into_owned()),
            Record::TypeGap(gap) => self.type_gaps.push(gap.into_owned()),
            Record::Read {
                ty,
                objects,
                in_namespaces,
            } => self.counts.push(Counted {
                ty: ty.into_owned(),
                objects,
                in_namespaces: in_namespaces.into_owned(),
            }),
            Record::Gap(gap) => self.gaps.push(gap.into_owned()),
            Record::Note(note) => self.notes.push(note.into_owned()),
            Record::Kept(seen) => self.kept.push(seen.into_owned()),
            Record::Leftovers(leftovers) => self.leftovers = Some(leftovers.into_owned()),
            Record::Answer { query, answer } => {
                self.answers.insert(query.into_owned(), Ok(answer.into_owned()));
            }
            Record::Unanswered { query, why } => {
                self.answers.insert(query.into_owned(), Err(why.into_owned()));
            }
            Record::End { .. } => {}
        }
    }
}

struct Lines<'r> {
    reader: &'r mut dyn BufRead,
    line: Vec<u8>,
    /// The number of the last line that was read, from 1.
    number: u64,
}

impl Lines<'_> {
    fn next(&mut self, longest: u64) -> Result<Option<&[u8]>, Fault> {
        self.line.clear();
        let read = (&mut self.reader).take(longest).read_until(b'\n', &mut self.line);
        match read {
            Ok(0) => Ok(None),
            Ok(_) => {
                self.number += 1;
                Ok(Some(&self.line))
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(Fault::Broken(cut_short(self.number)))
            }
            Err(cause) => Err(Fault::Broken(format!(
                "damaged after line {}: {cause}",
                self.number
            ))),
        }
    }

    fn is_last(&mut self) -> Result<bool, Fault> {
        if self.line.ends_with(b"\n") {
            return Ok(false);
        }
        self.reader
            .fill_buf()
            .map(<[u8]>::is_empty)
            .map_err(|_| Fault::Broken(cut_short(self.number)))
    }
}

fn cut_short(records: u64) -> String {
    format!("a snapshot that was cut short after {records} records; take or copy it again")
}

fn decode_error(line: u64, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("line {line} is no record of a snapshot: {what}")
}
