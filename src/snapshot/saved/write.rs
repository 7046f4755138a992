//! Writing a snapshot, a record at a time.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Counted, Leftovers, Saved, record::Record};
use crate::snapshot::{
    Why,
    facts::{Answer, Object, Query},
};

/// The annotation in which `kubectl apply` keeps the whole object as applied, including the data of a Secret.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

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
            strip_leftovers(&mut leftovers);
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
                strip_answer(&mut answer);
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

/// Removes what must not leave the cluster, and fields that no cause reads but that may hold a password.
fn strip_answer(answer: &mut Answer) {
    match answer {
        Answer::Object(object) => object.iter_mut().for_each(|object| strip_object(object)),
        Answer::List(objects) => objects.iter_mut().for_each(strip_object),
        // These hold only metadata: names, owners and finalizers.
        Answer::Content(_) | Answer::Owned(_) => {}
    }
}

/// Keeps of `managedFields` only what the causes read: finalizers, conditions, status, replicas. All other field names are removed:
/// they are most of an object, and in a Secret they name its data.
fn strip_managed_fields(entry: &mut Value) {
    const READ_FIELDS: [&[&str]; 3] = [
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
    for path in READ_FIELDS {
        let Some(value) = path.iter().try_fold(fields, |fields, name| fields.get(name)) else {
            continue;
        };
        let target = path.iter().fold(&mut kept, |target, name| &mut target[*name]);
        *target = if path.ends_with(&["f:finalizers"]) {
            value.clone()
        } else {
            owned_conditions(value).map_or_else(|| json!({}), |keys| json!({"f:conditions": keys}))
        };
    }
    entry.insert("fieldsV1".to_owned(), kept);
}

/// The conditions that an entry owns: whose they are decides whether a controller itself complains.
fn owned_conditions(status: &Value) -> Option<Value> {
    let conditions = status.get("f:conditions")?.as_object()?;
    let keys = conditions.keys().filter(|key| key.starts_with("k:{\"type\":"));
    Some(Value::Object(keys.map(|key| (key.clone(), json!({}))).collect()))
}

fn strip_leftovers(leftovers: &mut Leftovers) {
    for unreclaimed in &mut leftovers.storage.volumes.kept {
        strip_object(&mut unreclaimed.volume);
        unreclaimed.attached.iter_mut().flatten().for_each(strip_object);
    }
    leftovers
        .storage
        .attachments
        .kept
        .iter_mut()
        .for_each(strip_object);
}

fn strip_object(object: &mut Object) {
    let Some(whole) = object.value.as_object_mut() else {
        return;
    };
    let confidential =
        object.resource.group.is_empty() && matches!(&*object.resource.plural, "secrets" | "configmaps");
    if confidential {
        // The program reads only metadata of these. A file that is passed on must not rely on that.
        whole.retain(|key, _| matches!(&**key, "apiVersion" | "kind" | "metadata"));
    }
    if let Some(metadata) = whole.get_mut("metadata").and_then(|m| m.as_object_mut()) {
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            entries.retain(Value::is_object);
            entries.iter_mut().for_each(strip_managed_fields);
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
