//! Edits an object in protobuf by its wire format (<https://protobuf.dev/programming-guides/encoding/>).
//!
//! The envelope is `runtime.Unknown` (`kubernetes/apimachinery:pkg/runtime/generated.proto`). In the object, field 1 is
//! always its metadata (`kubernetes/apimachinery:pkg/apis/meta/v1/generated.proto`).

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Cut, Identity, PROTOBUF, Undeleted, Unusable, metadata::shown, unknown};

// Fields of `Unknown`.
const TYPE_META: u64 = 1;
const RAW: u64 = 2;
const CONTENT_ENCODING: u64 = 3;
const CONTENT_TYPE: u64 = 4;
/// Field of `TypeMeta`.
const KIND: u64 = 2;
/// Field of the object.
const METADATA: u64 = 1;
// Fields of `ObjectMeta`.
const NAME: u64 = 1;
const NAMESPACE: u64 = 3;
const UID: u64 = 5;
const CREATION_TIMESTAMP: u64 = 8;
const DELETION_TIMESTAMP: u64 = 9;
const DELETION_GRACE: u64 = 10;
const LABELS: u64 = 11;
const ANNOTATIONS: u64 = 12;
const OWNERS: u64 = 13;
const WRITERS: u64 = 17;
/// The names of all fields that an API server writes.
const NAMES: [(u64, &str); 15] = [
    (NAME, "name"),
    (2, "generateName"),
    (NAMESPACE, "namespace"),
    (4, "selfLink"),
    (UID, "uid"),
    (6, "resourceVersion"),
    (7, "generation"),
    (CREATION_TIMESTAMP, "creationTimestamp"),
    (DELETION_TIMESTAMP, "deletionTimestamp"),
    (DELETION_GRACE, "deletionGracePeriodSeconds"),
    (LABELS, "labels"),
    (ANNOTATIONS, "annotations"),
    (OWNERS, "ownerReferences"),
    (14, "finalizers"),
    (WRITERS, "managedFields"),
];
/// Field of `Time`.
const SECONDS: u64 = 1;

/// What the API server writes as the type of the object in the envelope: mostly nothing.
const CONTENT_TYPES: [&[u8]; 2] = [b"", b"application/vnd.kubernetes.protobuf"];

pub(super) fn undeleted(envelope: &[u8]) -> Result<Undeleted, Unusable> {
    if !last(envelope, CONTENT_ENCODING)?.unwrap_or_default().is_empty() {
        return Err(unknown("its content has an encoding"));
    }
    if !CONTENT_TYPES.contains(&last(envelope, CONTENT_TYPE)?.unwrap_or_default()) {
        return Err(unknown("its content is of another type"));
    }
    let type_meta = only(envelope, TYPE_META)?;
    let metadata = only(only(envelope, RAW)?, METADATA)?;
    let required = |message, number| -> Result<String, Unusable> {
        let bytes = last(message, number)?.unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|_| unknown("a name in it is not UTF-8"))?;
        Ok(text.to_owned())
    };
    let object = Identity {
        kind: required(type_meta, KIND)?,
        namespace: required(metadata, NAMESPACE)?,
        name: required(metadata, NAME)?,
        uid: required(metadata, UID)?,
    };
    let mut cuts = Vec::new();
    let kept = without_deletion(metadata, &mut cuts)?;
    let mut value = PROTOBUF.to_vec();
    if cuts.is_empty() {
        value.extend(envelope);
    } else {
        value.extend(replaced(envelope, RAW, |raw| {
            replaced(raw, METADATA, |_| Ok(kept.clone()))
        })?);
    }
    Ok(Undeleted {
        object,
        form: "protobuf",
        value,
        cuts,
        metadata: readable(metadata),
    })
}

/// The fields of the metadata, in the order of their numbers. What is empty is left out. Nothing depends on it, so what is
/// strange is shown as it is.
fn readable(metadata: &[u8]) -> Vec<(String, String)> {
    let mut values: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for Field { number, payload, .. } in Fields(metadata).flatten() {
        let value = match (number, payload) {
            (CREATION_TIMESTAMP | DELETION_TIMESTAMP, Payload::Bytes(time)) => {
                shown_time(time).unwrap_or_default()
            }
            // A pair of a map.
            (LABELS | ANNOTATIONS, Payload::Bytes(pair)) => format!("{}={}", text(pair, 1), text(pair, 2)),
            // Kind and name of an owner.
            (OWNERS, Payload::Bytes(owner)) => format!("{} {}", text(owner, 1), text(owner, 3)),
            // The name of a writer.
            (WRITERS, Payload::Bytes(writer)) => text(writer, 1),
            (_, Payload::Bytes(bytes)) if name(number).is_some() => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            (_, Payload::Bytes(bytes)) => format!("{} bytes", bytes.len()),
            (_, Payload::Number(number)) => number.cast_signed().to_string(),
            (_, Payload::Fixed) => "a number".into(),
        };
        values.entry(number).or_default().push(value);
    }
    let fields = values.iter().map(|(number, parts)| {
        let name = name(*number).map_or_else(|| format!("field {number}"), str::to_owned);
        (name, shown(parts))
    });
    fields.filter(|(_, value)| !value.is_empty()).collect()
}

/// The name of a field of the metadata, if it is known.
fn name(number: u64) -> Option<&'static str> {
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map(|(_, name)| *name)
}

fn text(message: &[u8], number: u64) -> String {
    let bytes = last(message, number).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// The metadata without the deletion.
fn without_deletion(metadata: &[u8], cuts: &mut Vec<Cut>) -> Result<Vec<u8>, Unusable> {
    let mut kept = Vec::with_capacity(metadata.len());
    for field in Fields(metadata) {
        let field = field?;
        let cut = match (field.number, field.payload) {
            (DELETION_TIMESTAMP, Payload::Bytes(time)) => Cut {
                field: "deletionTimestamp",
                was: shown_time(time)?,
            },
            (DELETION_GRACE, Payload::Number(seconds)) => Cut {
                field: "deletionGracePeriodSeconds",
                was: seconds.cast_signed().to_string(),
            },
            (DELETION_TIMESTAMP | DELETION_GRACE, _) => {
                return Err(unknown("its deletion has another form"));
            }
            _ => {
                kept.extend(field.whole);
                continue;
            }
        };
        cuts.push(cut);
    }
    Ok(kept)
}

fn shown_time(time: &[u8]) -> Result<String, Unusable> {
    let mut seconds = 0;
    for field in Fields(time) {
        if let Field {
            number: SECONDS,
            payload: Payload::Number(number),
            ..
        } = field?
        {
            seconds = number;
        }
    }
    let time = Timestamp::from_second(seconds.cast_signed());
    Ok(time.map_or_else(|_| format!("second {seconds}"), |time| time.to_string()))
}

/// The message with the one field of this number edited. Its length follows.
fn replaced(
    message: &[u8],
    number: u64,
    edit: impl Fn(&[u8]) -> Result<Vec<u8>, Unusable>,
) -> Result<Vec<u8>, Unusable> {
    let mut all = Vec::with_capacity(message.len());
    for field in Fields(message) {
        let field = field?;
        match field.payload {
            Payload::Bytes(old) if field.number == number => {
                let new = edit(old)?;
                all.extend(field.tag);
                write_varint(new.len() as u64, &mut all);
                all.extend(new);
            }
            _ => all.extend(field.whole),
        }
    }
    Ok(all)
}

/// The content of the field with this number; the last one counts if there are several, as for every reader of protobuf.
fn last(message: &[u8], number: u64) -> Result<Option<&[u8]>, Unusable> {
    Ok(contents(message, number)?.pop())
}

/// The message in the field with this number. Several of them would be merged by a reader, which no server writes.
fn only(message: &[u8], number: u64) -> Result<&[u8], Unusable> {
    match contents(message, number)?[..] {
        [one] => Ok(one),
        [] => Err(unknown(format!("field {number} is missing"))),
        _ => Err(unknown(format!("field {number} is there several times"))),
    }
}

fn contents(message: &[u8], number: u64) -> Result<Vec<&[u8]>, Unusable> {
    let mut all = Vec::new();
    for field in Fields(message) {
        let field = field?;
        if field.number == number {
            match field.payload {
                Payload::Bytes(bytes) => all.push(bytes),
                Payload::Number(_) | Payload::Fixed => {
                    return Err(unknown(format!("field {number} has another type")));
                }
            }
        }
    }
    Ok(all)
}

/// One field of a message.
struct Field<'a> {
    number: u64,
    /// Its number and wire type.
    tag: &'a [u8],
    payload: Payload<'a>,
    /// All of it.
    whole: &'a [u8],
}

#[derive(Clone, Copy)]
enum Payload<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// The fields of a message that are still to be read. It ends after a mistake.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Unusable>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((field, rest)) = field(self.0) else {
            self.0 = &[];
            return Some(Err(unknown("a field of it is cut off or malformed")));
        };
        self.0 = rest;
        Some(Ok(field))
    }
}

/// The first field of a message, and what follows it. Kubernetes has no groups, the obsolete wire types 3 and 4.
fn field(message: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (tag, content) = read_varint(message)?;
    let (payload, rest) = match tag & 7 {
        0 => {
            let (number, rest) = read_varint(content)?;
            (Payload::Number(number), rest)
        }
        1 => (Payload::Fixed, content.get(8..)?),
        2 => {
            let (length, rest) = read_varint(content)?;
            let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Payload::Bytes(bytes), rest)
        }
        5 => (Payload::Fixed, content.get(4..)?),
        _ => return None,
    };
    let number = tag >> 3;
    (number > 0).then_some(())?;
    let field = Field {
        number,
        tag: until(message, content)?,
        payload,
        whole: until(message, rest)?,
    };
    Some((field, rest))
}

/// What comes before the rest.
fn until<'a>(message: &'a [u8], rest: &[u8]) -> Option<&'a [u8]> {
    message.get(..message.len().checked_sub(rest.len())?)
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        let shift = u32::try_from(at).ok()?.checked_mul(7)?;
        let shifted = bits.checked_shl(shift)?;
        // The tenth byte has room for one bit.
        if shifted.checked_shr(shift)? != bits {
            return None;
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(at.checked_add(1)?..)?));
        }
    }
    None
}

pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or_default());
}
