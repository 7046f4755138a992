//! Writing a snapshot, a record at a time.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use super::{Counted, Saved, record::Record, strip};
use crate::snapshot::{
    Why,
    facts::{Answer, Query},
};

/// Writes records and counts them.
pub struct Writer<W: Write> {
    out: GzEncoder<W>,
    records: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the whole snapshot to `out`, and returns `out`.
    pub fn save(saved: &Saved, out: W) -> io::Result<W> {
        let mut writer = Writer {
            out: GzEncoder::new(out, Compression::default()),
            records: 0,
        };
        writer.line(&saved.head)?;
        for ty in &saved.types {
            writer.line(&Record::Type(Cow::Borrowed(ty)))?;
        }
        for gap in &saved.type_gaps {
            writer.line(&Record::TypeGap(Cow::Borrowed(gap)))?;
        }
        for Counted {
            ty,
            objects,
            in_namespaces,
        } in &saved.counts
        {
            writer.line(&Record::Read {
                ty: Cow::Borrowed(ty),
                objects: *objects,
                in_namespaces: Cow::Borrowed(in_namespaces),
            })?;
        }
        for gap in &saved.gaps {
            writer.line(&Record::Gap(Cow::Borrowed(gap)))?;
        }
        for note in &saved.notes {
            writer.line(&Record::Note(Cow::Borrowed(note)))?;
        }
        for seen in &saved.kept {
            writer.line(&Record::Kept(Cow::Borrowed(seen)))?;
        }
        if let Some(leftovers) = &saved.leftovers {
            let mut leftovers = leftovers.clone();
            strip::leftovers(&mut leftovers);
            writer.line(&Record::Leftovers(Cow::Owned(leftovers)))?;
        }
        for (query, answer) in &saved.answers {
            writer.answer(query, answer)?;
        }
        let records = writer.records;
        writer.line(&Record::End { records })?;
        writer.out.finish()
    }

    fn answer(&mut self, query: &Query, answer: &Result<Answer, Why>) -> io::Result<()> {
        let query = Cow::Borrowed(query);
        match answer {
            Ok(answer) => {
                let mut answer = answer.clone();
                strip::answer(&mut answer);
                self.line(&Record::Answer {
                    query,
                    answer: Cow::Owned(answer),
                })
            }
            Err(why) => self.line(&Record::Unanswered {
                query,
                why: Cow::Borrowed(why),
            }),
        }
    }

    fn line(&mut self, record: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")?;
        self.records += 1;
        Ok(())
    }
}
