//! Writing a snapshot, a record at a time.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Counted, Remains, Saved, record::Record};
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
        if let Some(remains) = &saved.remains {
            let mut remains = remains.clone();
            lighten_remains(&mut remains);
            writer.line(&Record::Remains(Cow::Owned(remains)))?;
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
        Answer::Content(_) => {}
    }
}

/// Of who wrote what only what rules look at: finalizers, the status, replicas. The names of all other fields, which
/// are most of an object and of a Secret the names of its data, stay behind.
fn lighten_writer(entry: &mut Value) {
    const LOOKED_AT: [&[&str]; 3] = [
        &["f:metadata", "f:finalizers"],
        &["f:status"],
        &["f:spec", "f:replicas"],
    ];
    let Some(entry) = entry.as_object_mut() else {
        return;
    };
    entry.retain(|key, _| matches!(&**key, "manager" | "subresource" | "time" | "fieldsV1"));
    let Some(fields) = entry.get("fieldsV1") else {
        return;
    };
    let mut kept = json!({});
    for path in LOOKED_AT {
        let Some(found) = path.iter().try_fold(fields, |fields, name| fields.get(name)) else {
            continue;
        };
        let place = path.iter().fold(&mut kept, |place, name| &mut place[*name]);
        *place = if path.ends_with(&["f:finalizers"]) {
            found.clone()
        } else {
            json!({})
        };
    }
    entry.insert("fieldsV1".to_owned(), kept);
}

fn lighten_remains(remains: &mut Remains) {
    for one in &mut remains.suspects.volumes.kept {
        lighten_object(&mut one.volume);
        one.attached.iter_mut().flatten().for_each(lighten_object);
    }
    remains
        .suspects
        .attachments
        .kept
        .iter_mut()
        .for_each(lighten_object);
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
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            entries.retain(Value::is_object);
            entries.iter_mut().for_each(lighten_writer);
        }
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
