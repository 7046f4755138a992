//! Checks that a diagnosis with fewer facts is only weaker, and names the gap. Each fact is hidden in turn.
//!
//! The worlds of all tests of causes are checked here automatically, so a test of a cause also tests this.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;
use testkit::weaker;

use crate::{
    command::RunFlags,
    diagnose::diagnose,
    knowledge::Knowledge,
    snapshot::{
        Gap, What, Why,
        facts::{Answer, Content, Facts, Object, Owned, Query, Where},
    },
};

/// Hides each answer in `facts`, each type from the list of a namespace's content, and a page of each list of several types. `answer` answers all
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
        match answer {
            Ok(Answer::Content(content)) => {
                for (name, count) in &content.counts {
                    check(
                        name,
                        query,
                        Ok(Answer::Content(Box::new(without_type(content, name, query)))),
                    );
                    // A page is missing: what the others had was counted and kept.
                    let cut = Content {
                        counts: content
                            .counts
                            .clone()
                            .into_iter()
                            .chain([(name.clone(), count.div_ceil(2))])
                            .collect(),
                        kept: half(&content.kept, |seen| seen.object.type_name == *name),
                        gaps: with_gap(&content.gaps, name, query),
                    };
                    check(name, query, Ok(Answer::Content(Box::new(cut))));
                }
            }
            Ok(Answer::Owned(owned)) => {
                let types: BTreeSet<_> = owned
                    .objects
                    .iter()
                    .map(|object| object.resource.name())
                    .collect();
                for name in &types {
                    let cut = Owned {
                        objects: half(&owned.objects, |object| object.resource.name() == *name),
                        gaps: with_gap(&owned.gaps, name, query),
                    };
                    check(name, query, Ok(Answer::Owned(cut)));
                }
            }
            // Another list of which a page is missing is no answer.
            _ => {}
        }
    }
    assert!(found.is_empty(), "{}\nof {:#}", found.join("\n"), full[0]);
}

/// The content without this type, which could not be listed.
fn without_type(content: &Content, name: &str, query: &Query) -> Content {
    let mut rest = content.clone();
    rest.counts.remove(name);
    rest.kept.retain(|seen| seen.object.type_name != name);
    rest.gaps = with_gap(&content.gaps, name, query);
    rest
}

/// The first half of those that are meant, and all others.
fn half<T: Clone>(all: &[T], is_meant: impl Fn(&T) -> bool) -> Vec<T> {
    let mut left = all.iter().filter(|one| is_meant(one)).count() / 2;
    let stays = |one: &&T| {
        let is_one = is_meant(one);
        let stays = !is_one || left > 0;
        left = left.saturating_sub(usize::from(is_one));
        stays
    };
    all.iter().filter(stays).cloned().collect()
}

/// The gaps, and one more: this type was not read to its end.
fn with_gap(gaps: &[Gap], name: &str, query: &Query) -> Vec<Gap> {
    let (name, read) = (name.to_owned(), 0);
    let what = match query {
        Query::Content { namespace } | Query::Owned(Where::Namespace(namespace)) => What::TypeIn {
            name,
            namespace: namespace.clone(),
            read,
        },
        _ => What::Type { name, read },
    };
    let gap = Gap {
        what,
        why: Why::Forbidden("no".into()),
    };
    gaps.iter().cloned().chain([gap]).collect()
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
