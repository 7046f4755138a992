//! Checks that a redacted snapshot gives the same verdicts as the facts themselves, or `unknown` where a name decides that
//! is neither Kubernetes' nor in the catalogue. It is never more certain.
//!
//! The worlds of all tests of causes are checked here automatically. If a cause looks for a word of Kubernetes that is
//! not known, add it to `src/snapshot/saved/redact/words.txt`.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::{
    diagnose::{Diagnosis, Verdict, diagnose},
    knowledge::Knowledge,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query},
        saved::{FORMAT, Head, Public, Saved, VERSION},
    },
};

static PUBLIC: LazyLock<Public> = LazyLock::new(|| Knowledge::builtin().public());

/// Redacts `facts`, in which the diagnosis of `target` wants nothing more, and diagnoses again.
#[track_caller]
pub(crate) fn withstands_redaction(target: &Object, facts: &Facts, knowledge: &Knowledge) {
    // The first query in order, and one that no cause asks.
    let own = Query::Events {
        kind: String::new(),
        namespace: None,
        name: String::new(),
    };
    let mut answers = facts.answers.clone();
    answers.insert(own.clone(), Ok(Answer::Object(Some(Box::new(target.clone())))));
    let mut redacted = saved(facts, answers).redacted(&PUBLIC);
    let Some(Ok(Answer::Object(Some(hidden)))) = redacted.answers.remove(&own) else {
        panic!("the object is in the snapshot");
    };
    let plain = verdicts(target, &saved(facts, facts.answers.clone()), knowledge);
    let hidden = verdicts(&hidden, &redacted, knowledge);
    assert_eq!(
        plain.len(),
        hidden.len(),
        "{plain:?}, redacted {hidden:?}: {target:#?}"
    );
    for (plain, hidden) in plain.iter().zip(&hidden) {
        // The name of a driver is hidden in a finalizer, too.
        let before_driver = |name: &str| name.split('/').next().map(str::to_owned);
        assert_eq!(before_driver(&plain.0), before_driver(&hidden.0));
        assert!(
            hidden.1 == Verdict::Unknown || plain.1 == hidden.1,
            "{plain:?}, redacted {hidden:?}: {target:#?}"
        );
    }
}

fn saved(facts: &Facts, answers: BTreeMap<Query, Result<Answer, Why>>) -> Saved {
    Saved {
        head: Head {
            format: FORMAT.into(),
            version: VERSION,
            program: String::new(),
            redacted: false,
            source: String::new(),
            namespace: None,
            default_namespace: "default".into(),
            observed_at: facts.now,
            looked_at: facts.now,
            interrupted: false,
        },
        types: facts.types.clone(),
        type_gaps: facts.gaps.clone(),
        counts: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        kept: Vec::new(),
        leftovers: None,
        answers,
    }
}

/// The verdict on each finalizer.
fn verdicts(target: &Object, saved: &Saved, knowledge: &Knowledge) -> Vec<(String, Verdict)> {
    let mut facts = saved.initial_facts();
    let diagnosis: Diagnosis = loop {
        let progress = diagnose(target, &facts, knowledge);
        if progress.wanted.is_empty() {
            break progress.diagnosis;
        }
        for query in progress.wanted {
            let answer = saved.answer(&query).cloned().unwrap_or(Err(Why::NotInDump));
            facts.answers.insert(query, answer);
        }
    };
    let waits = diagnosis.waits.iter().map(|wait| {
        let name = wait.finalizer.as_ref().map(|finalizer| finalizer.name.as_str());
        (name.unwrap_or("-").to_owned(), wait.verdict)
    });
    waits.collect()
}
