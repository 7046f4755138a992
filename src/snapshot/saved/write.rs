//! Writing a snapshot, a record at a time.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use super::{Counted, Saved, record::Record};
use crate::snapshot::{
    Why,
    facts::{Answer, Object, Query},
};

/// What `kubectl apply` leaves behind: the whole object as it was applied, a Secret's data among it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Writes records and counts them.
pub struct Writer<W: Write> {
    out: GzEncoder<W>,
    records: u64,
}

impl<W: Write> Writer<W> {
    /// Writes all of a snapshot to `out`, and hands that back.
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
                lighten(&mut answer);
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

/// Takes out what must not leave the cluster, and what no rule looks at but may hold a password.
fn lighten(answer: &mut Answer) {
    match answer {
        Answer::Object(object) => object.iter_mut().for_each(|object| lighten_object(object)),
        Answer::List(objects) => objects.iter_mut().for_each(lighten_object),
        // Whose objects and what holds them is all that these hold.
        Answer::Content(_) | Answer::Owned(_) => {}
    }
}

fn lighten_object(object: &mut Object) {
    let Some(whole) = object.value.as_object_mut() else {
        return;
    };
    let confidential =
        object.resource.group.is_empty() && matches!(&*object.resource.plural, "secrets" | "configmaps");
    if confidential {
        // Only metadata is ever asked for, but a file that is passed on must not rest on that.
        whole.retain(|key, _| matches!(&**key, "apiVersion" | "kind" | "metadata"));
    }
    if let Some(metadata) = whole.get_mut("metadata").and_then(|m| m.as_object_mut()) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(|a| a.as_object_mut()) {
            annotations.remove(LAST_APPLIED);
        }
    }
    for pod in [
        "/spec",
        "/spec/template/spec",
        "/spec/jobTemplate/spec/template/spec",
    ] {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let containers = object
                .value
                .pointer_mut(&format!("{pod}/{list}"))
                .and_then(|containers| containers.as_array_mut());
            for container in containers.into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    for field in ["env", "envFrom", "args", "command"] {
                        container.remove(field);
                    }
                }
            }
        }
    }
}
