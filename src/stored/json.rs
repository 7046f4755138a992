//! Edits an object in JSON by its text. First a parser accepts the whole text, so the scanner here meets only valid JSON.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Cut, Identity, Undeleted, Unusable, metadata, unknown};

/// The fields that go.
const DELETION: [&str; 2] = ["deletionTimestamp", "deletionGracePeriodSeconds"];

#[derive(Deserialize)]
struct Stored {
    kind: String,
    metadata: Metadata,
}

/// The same metadata as any fields.
#[derive(Deserialize)]
struct Shown {
    metadata: Map<String, Value>,
}

/// What identifies the object. A field that is there twice is an error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    namespace: String,
    name: String,
    uid: String,
    #[serde(default)]
    deletion_timestamp: Value,
    #[serde(default)]
    deletion_grace_period_seconds: Value,
}

pub(super) fn undeleted(value: &[u8]) -> Result<Undeleted, Unusable> {
    let no_object = |error: serde_json::Error| unknown(format!("it is no object in JSON: {error}"));
    let Shown { metadata: shown } = serde_json::from_slice(value).map_err(no_object)?;
    let shown = metadata::of_json(&shown);
    let Stored { kind, metadata } = serde_json::from_slice(value).map_err(no_object)?;
    let was = [
        metadata.deletion_timestamp,
        metadata.deletion_grace_period_seconds,
    ];
    let (mut text, mut cuts) = (value.to_vec(), Vec::new());
    for (field, was) in DELETION.into_iter().zip(was) {
        if let Some(without) = without(&text, field) {
            text = without;
            let was = was.as_str().map_or_else(|| was.to_string(), str::to_owned);
            cuts.push(Cut { field, was });
        }
    }
    Ok(Undeleted {
        object: Identity {
            kind,
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
        },
        form: "JSON",
        value: text,
        cuts,
        metadata: shown,
    })
}

/// The text without this member of the metadata and one comma beside it; none if there is no such member.
fn without(text: &[u8], field: &str) -> Option<Vec<u8>> {
    let (_, metadata) = members(text, space(text, 0)?)?
        .into_iter()
        .find(|(key, _)| is_key(text, key, "metadata"))?;
    let all = members(text, metadata.start)?;
    let at = all.iter().position(|(key, _)| is_key(text, key, field))?;
    let (key, value) = all.get(at)?;
    let cut = match (
        at.checked_sub(1).and_then(|before| all.get(before)),
        all.get(at.checked_add(1)?),
    ) {
        (Some((_, before)), _) => before.end..value.end,
        (None, Some((after, _))) => key.start..after.start,
        (None, None) => key.start..value.end,
    };
    Some([text.get(..cut.start)?, text.get(cut.end..)?].concat())
}

fn is_key(text: &[u8], key: &Range<usize>, field: &str) -> bool {
    let key = text.get(key.clone()).map(serde_json::from_slice::<String>);
    matches!(key, Some(Ok(key)) if key == field)
}

/// The places of keys and values in the object that begins here.
fn members(text: &[u8], begin: usize) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut all = Vec::new();
    let mut at = begin;
    loop {
        // After `{` or `,`.
        let key = space(text, at.checked_add(1)?)?;
        if *text.get(key)? != b'"' {
            return Some(all);
        }
        let key_end = value_end(text, key)?;
        let colon = space(text, key_end)?;
        let value = space(text, colon.checked_add(1)?)?;
        let end = value_end(text, value)?;
        all.push((key..key_end, value..end));
        at = space(text, end)?;
        if *text.get(at)? != b',' {
            return Some(all);
        }
    }
}

/// The end of the white space that begins here.
fn space(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
    at.checked_add(spaces.count())
}

/// The end of the value that begins here.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let (mut in_string, mut is_escaped) = (false, false);
    for (offset, byte) in text.get(at..)?.iter().enumerate() {
        let here = at.checked_add(offset)?;
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    in_string = false;
                    if depth == 0 {
                        return here.checked_add(1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth = depth.checked_add(1)?,
            b'}' | b']' if depth > 1 => depth = depth.checked_sub(1)?,
            b'}' | b']' if depth == 1 => return here.checked_add(1),
            // The end of a number or a word.
            b'}' | b']' | b',' if depth == 0 => return Some(here),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(here),
            _ => {}
        }
    }
    None
}
