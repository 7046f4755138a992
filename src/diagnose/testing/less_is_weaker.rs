//! Checks that a diagnosis with fewer facts is only weaker, and names the gap. Each fact is hidden in turn.
//!
//! The worlds of all tests of causes are checked here automatically, so a test of a cause also tests this.

use std::time::Duration;

use serde_json::Value;
use testkit::weaker;

use crate::{
    command::RunFlags,
    diagnose::diagnose,
    knowledge::Knowledge,
    snapshot::{
        Gap, What, Why,
        facts::{Answer, Facts, Object, Query, Where},
    },
};

/// Hides each answer in `facts`, and each type from the list of a namespace's content. `answer` answers all
/// further queries.
#[track_caller]
pub(crate) fn withstands_less(
    target: &Object,
    facts: &Facts,
    knowledge: &Knowledge,
    answer: impl Fn(&Query) -> Result<Answer, Why>,
) {
    let full = [explained(target, facts.clone(), knowledge, &answer)];
    let mut found = Vec::new();
    let mut check = |hidden: &str, query: &Query, instead: Result<Answer, Why>| {
        let mut less = facts.clone();
        less.answers.insert(query.clone(), instead);
        let less = explained(target, less, knowledge, &answer);
        for fault in weaker::faults(&full, &less, Some(hidden)) {
            found.push(format!("without {hidden}: {fault}"));
        }
    };
    for (query, answer) in &facts.answers {
        if answer.is_err() {
            continue;
        }
        let hidden = match query {
            Query::Object { resource, .. }
            | Query::List { resource, .. }
            | Query::Search { resource, .. } => resource.name(),
            Query::Events { .. } => "events".into(),
            Query::Content { namespace } | Query::Owned(Where::Namespace(namespace)) => namespace.clone(),
            Query::Owned(Where::Owner(_)) => "all types".into(),
            Query::Version => "/version".into(),
        };
        for why in [
            Why::Forbidden("no".into()),
            Why::TimedOut(Duration::from_secs(30)),
        ] {
            check(&hidden, query, Err(why));
        }
        let (Query::Content { namespace }, Ok(Answer::Content(content))) = (query, answer) else {
            continue;
        };
        for name in content.counts.keys() {
            let mut rest = content.clone();
            rest.counts.remove(name);
            rest.kept.retain(|seen| seen.object.type_name != *name);
            rest.gaps.push(Gap {
                what: What::TypeIn {
                    name: name.clone(),
                    namespace: namespace.clone(),
                    read: 0,
                },
                why: Why::Forbidden("no".into()),
            });
            check(name, query, Ok(Answer::Content(rest)));
        }
    }
    assert!(found.is_empty(), "{}\nof {:#}", found.join("\n"), full[0]);
}

/// The diagnosis in its public form, once all queries are answered.
pub(crate) fn explained(
    target: &Object,
    mut facts: Facts,
    knowledge: &Knowledge,
    answer: impl Fn(&Query) -> Result<Answer, Why>,
) -> Value {
    loop {
        let progress = diagnose(target, &facts, knowledge);
        if progress.wanted.is_empty() {
            return public(&progress.diagnosis);
        }
        for query in progress.wanted {
            let found = answer(&query);
            facts.answers.insert(query, found);
        }
    }
}

/// The diagnosis in its public form. Only tests use this higher layer.
#[cfg(test)]
fn public(diagnosis: &crate::diagnose::Diagnosis) -> Value {
    serde_json::to_value(crate::report::ExplainReport::new(diagnosis, &RunFlags::default()))
        .expect("a report is JSON")
}
