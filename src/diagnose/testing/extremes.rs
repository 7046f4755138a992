//! Checks that no number and no time ends a diagnosis: whoever may write an object can write any of them.
//!
//! The worlds of all tests of causes are checked here automatically, so a test of a cause also tests this.

use jiff::Timestamp;
use serde_json::Value;

use super::less_is_weaker::explained;
use crate::{
    knowledge::Knowledge,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query},
    },
};

/// Diagnoses with the largest and the smallest numbers and times. `answer` answers all queries.
pub(crate) fn withstands_extremes(
    target: &Object,
    facts: &Facts,
    knowledge: &Knowledge,
    answer: impl Fn(&Query) -> Result<Answer, Why>,
) {
    let with = |now: Timestamp, change: &dyn Fn(&mut Value)| {
        let mut target = target.clone();
        each_leaf(&mut target.value, change);
        let facts = Facts {
            redacted: false,
            now,
            ..facts.unasked()
        };
        let changed = |query: &Query| {
            let mut answer = answer(query)?;
            match &mut answer {
                Answer::Object(Some(object)) => each_leaf(&mut object.value, change),
                Answer::List(objects) => {
                    for object in objects {
                        each_leaf(&mut object.value, change);
                    }
                }
                _ => {}
            }
            Ok(answer)
        };
        explained(&target, facts, knowledge, changed);
    };
    for (number, now) in [(i64::MIN, Timestamp::MIN), (i64::MAX, Timestamp::MAX)] {
        with(now, &|leaf| {
            if leaf.is_number() {
                *leaf = number.into();
            }
        });
    }
    for time in [Timestamp::MIN, Timestamp::MAX] {
        with(facts.now, &|leaf| {
            if leaf
                .as_str()
                .is_some_and(|text| text.parse::<Timestamp>().is_ok())
            {
                *leaf = time.to_string().into();
            }
        });
    }
}

fn each_leaf(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| each_leaf(one, change)),
        Value::Object(all) => all.values_mut().for_each(|one| each_leaf(one, change)),
        leaf => change(leaf),
    }
}
