//! What an object says of itself: its phase, its conditions, and the fields that must be empty.

use serde_json::Value;

use crate::{
    diagnose::{
        complaint::{condition_source, join, shortened},
        kinds, limits,
    },
    snapshot::facts::Object,
};

/// Whether a condition of an entry is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    Yes,
    No,
    /// It was not seen, or what was seen does not tell.
    Unseen,
}

/// What an object says of one condition.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) met: Met,
    /// What is true now, or what is not known.
    pub(super) says: String,
    /// The field, and the value that was read.
    pub(super) read: Option<(String, String)>,
    /// The source of the report that a condition is, if it is one.
    pub(super) condition: Option<String>,
}

impl Answer {
    fn unseen(question: &str, why: &str) -> Self {
        Answer {
            met: Met::Unseen,
            says: format!("{question} is not known: {why}"),
            read: None,
            condition: None,
        }
    }

    fn of(is_met: bool, says: String, field: &str, value: String) -> Self {
        Answer {
            met: if is_met { Met::Yes } else { Met::No },
            says,
            read: Some((field.to_owned(), value)),
            condition: None,
        }
    }
}

const ONLY_METADATA: &str = "only its metadata was read";
const PHASE: &str = "status.phase";

/// Whether `status.phase` is one of these words.
pub(super) fn phase(object: &Object, words: &[String], is_redacted: bool) -> Answer {
    let wanted = either(words);
    let question = format!("whether {PHASE} is {wanted}");
    let phase = match phase_of(object) {
        Ok("") => return Answer::unseen(&question, "it is not set"),
        Ok(phase) => phase,
        Err(why) => return Answer::unseen(&question, why),
    };
    let is_met = words.iter().any(|word| word == phase);
    if !is_met && is_redacted && is_replacement(phase) {
        return Answer::unseen(&question, "the word is hidden");
    }
    let phase = shortened(phase);
    let says = if is_met {
        format!("{PHASE} is {phase}")
    } else {
        format!("{PHASE} is {phase}, and must be {wanted}")
    };
    Answer::of(is_met, says, PHASE, phase)
}

/// Whether `status.phase` is none of these words.
pub(super) fn phase_not(object: &Object, words: &[String], is_redacted: bool) -> Answer {
    let question = format!("whether {PHASE} is still {}", either(words));
    let phase = match phase_of(object) {
        Ok(phase) => phase,
        Err(why) => return Answer::unseen(&question, why),
    };
    let is_met = words.iter().all(|word| word != phase);
    if is_met && is_redacted && is_replacement(phase) {
        return Answer::unseen(&question, "the word is hidden");
    }
    let phase = match phase {
        "" => "not set".to_owned(),
        phase => shortened(phase),
    };
    let says = if is_met {
        format!("{PHASE} is {phase}")
    } else {
        format!("{PHASE} is still {phase}")
    };
    Answer::of(is_met, says, PHASE, phase)
}

/// Whether a condition has this status. What its message says is quoted and not judged.
pub(super) fn condition(object: &Object, kind: &str, status: &str) -> Answer {
    let question = format!("whether condition {kind} is {status}");
    if !object.was_read() {
        return Answer::unseen(&question, ONLY_METADATA);
    }
    let Some((is, reason, message)) = object.condition(kind) else {
        return Answer::unseen(&question, "the object does not have that condition");
    };
    if !["True", "False", "Unknown"].contains(&is) {
        return Answer::unseen(&question, "its status is no status of a condition");
    }
    let is_met = is == status;
    let quoted = shortened(&join(reason, message));
    let value = join(is, &quoted);
    let says = if is_met {
        format!("condition {kind} is {is}")
    } else {
        join(
            &format!("condition {kind} is {is}, and must be {status}"),
            &quoted,
        )
    };
    Answer {
        condition: Some(condition_source(object, kind)),
        ..Answer::of(is_met, says, &format!("condition {kind}"), value)
    }
}

/// Whether the field at this path, with dots between its parts, is empty or absent.
pub(super) fn field_empty(object: &Object, path: &str) -> Answer {
    if !object.was_read() {
        return Answer::unseen(&format!("whether {path} is empty"), ONLY_METADATA);
    }
    let listed = listed_in(object.field(&format!("/{}", path.replace('.', "/"))));
    if listed.is_empty() {
        return Answer::of(true, format!("{path} is empty"), path, "empty".to_owned());
    }
    let named = limits::first_names(&listed, limits::NAMES_IN_SENTENCE);
    Answer::of(false, format!("{path} still lists {named}"), path, named)
}

/// That a field names no object, so that none must go.
pub(super) fn names_nothing(object: &Object, path: &str) -> Answer {
    if !object.was_read() {
        return Answer::unseen(&format!("what its {path} names"), ONLY_METADATA);
    }
    Answer::of(
        true,
        format!("its {path} names nothing"),
        path,
        "names nothing".to_owned(),
    )
}

/// The phase, empty if there is none yet; or why it is not known.
fn phase_of(object: &Object) -> Result<&str, &'static str> {
    if !object.was_read() {
        return Err(ONLY_METADATA);
    }
    kinds::phase(object).ok_or("it is no text")
}

/// Whether a word looks like one that stands for another in a redacted snapshot.
fn is_replacement(word: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
    word.split(['-', '.'])
        .any(|piece| piece.strip_prefix('x').is_some_and(is_number))
}

/// `A, B or C`.
fn either(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The items of a field, each in a few words: a text, or the name in a reference.
fn listed_in(value: Option<&Value>) -> Vec<String> {
    let in_words = |item: &Value| match item {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("name").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => item.to_string(),
        },
        other => other.to_string(),
    };
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(in_words).collect(),
        Some(Value::Object(fields)) => fields.keys().cloned().collect(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(other) => vec![in_words(other)],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::testing::world::bare;

    fn backup(value: Value) -> Object {
        bare("x.test", "backups", "Backup", value)
    }

    fn in_status(status: &Value) -> Object {
        backup(json!({"metadata": {"name": "nightly"}, "status": status}))
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_phase_is_met_not_met_or_not_seen() {
        for (status, met, says) in [
            (
                json!({"phase": "Completed"}),
                Met::Yes,
                "status.phase is Completed",
            ),
            (
                json!({"phase": "Running"}),
                Met::No,
                "status.phase is Running, and must be Completed or Failed",
            ),
            // Words are compared as they are.
            (
                json!({"phase": "completed"}),
                Met::No,
                "status.phase is completed, and must be Completed or Failed",
            ),
            (
                json!({}),
                Met::Unseen,
                "whether status.phase is Completed or Failed is not known: it is not set",
            ),
            (
                json!({"phase": 7}),
                Met::Unseen,
                "whether status.phase is Completed or Failed is not known: it is no text",
            ),
        ] {
            let answer = phase(&in_status(&status), &words(&["Completed", "Failed"]), false);
            assert_eq!((answer.met, answer.says.as_str()), (met, says), "{status}");
        }
    }

    #[test]
    fn a_phase_that_must_be_over_is_met_not_met_or_not_seen() {
        for (status, met, says) in [
            (
                json!({"phase": "Completed"}),
                Met::Yes,
                "status.phase is Completed",
            ),
            (
                json!({"phase": "Running"}),
                Met::No,
                "status.phase is still Running",
            ),
            (json!({}), Met::Yes, "status.phase is not set"),
            (
                json!({"phase": ["Running"]}),
                Met::Unseen,
                "whether status.phase is still Running is not known: it is no text",
            ),
        ] {
            let answer = phase_not(&in_status(&status), &words(&["Running"]), false);
            assert_eq!((answer.met, answer.says.as_str()), (met, says), "{status}");
        }
    }

    #[test]
    fn a_condition_is_met_not_met_or_not_seen() {
        let with = |conditions: Value| in_status(&json!({"conditions": conditions}));
        for (conditions, met, says) in [
            (
                json!([{"type": "Attached", "status": "False"}]),
                Met::Yes,
                "condition Attached is False",
            ),
            (
                json!([{"type": "Attached", "status": "True", "reason": "InUse", "message": "by vm web"}]),
                Met::No,
                "condition Attached is True, and must be False: InUse: by vm web",
            ),
            (
                json!([{"type": "Attached", "status": "Unknown"}]),
                Met::No,
                "condition Attached is Unknown, and must be False",
            ),
            (
                json!([{"type": "Ready", "status": "False"}]),
                Met::Unseen,
                "whether condition Attached is False is not known: the object does not have that condition",
            ),
            (
                json!([{"type": "Attached", "status": "false"}]),
                Met::Unseen,
                "whether condition Attached is False is not known: its status is no status of a condition",
            ),
        ] {
            let answer = condition(&with(conditions.clone()), "Attached", "False");
            assert_eq!((answer.met, answer.says.as_str()), (met, says), "{conditions}");
        }
    }

    #[test]
    fn metadata_alone_tells_nothing() {
        let listed = backup(json!({"metadata": {"name": "nightly"}}));
        for answer in [
            phase(&listed, &words(&["Completed"]), false),
            phase_not(&listed, &words(&["Running"]), false),
            condition(&listed, "Attached", "False"),
            field_empty(&listed, "status.usedBy"),
        ] {
            assert_eq!(answer.met, Met::Unseen, "{answer:?}");
            assert!(answer.says.ends_with(ONLY_METADATA), "{answer:?}");
        }
    }

    #[test]
    fn a_hidden_word_tells_nothing() {
        let hidden = in_status(&json!({"phase": "x12"}));
        assert_eq!(phase(&hidden, &words(&["Completed"]), true).met, Met::Unseen);
        assert_eq!(phase_not(&hidden, &words(&["Running"]), true).met, Met::Unseen);
        // Only a redacted snapshot hides words.
        assert_eq!(phase(&hidden, &words(&["Completed"]), false).met, Met::No);
        let kept = in_status(&json!({"phase": "Running"}));
        assert_eq!(phase(&kept, &words(&["Completed"]), true).met, Met::No);
        assert_eq!(phase_not(&kept, &words(&["Running"]), true).met, Met::No);
    }
}
