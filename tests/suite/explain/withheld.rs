//! Withdraws rights in the process of the test: an explanation from a snapshot, again and again, each time without the
//! answers that one right gives. This takes milliseconds, where a user of the cluster for each right takes a process.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use kubectl_finalizers::{
    command::RunFlags,
    diagnose::diagnose,
    knowledge::Knowledge,
    report::ExplainReport,
    snapshot::{
        Gap, What, Why,
        facts::{Answer, Object, Query, Resource, Where},
        load,
        saved::Saved,
    },
};
use serde_json::Value;
use testkit::weaker;

static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(Knowledge::builtin);

/// What a right lets one do with the objects of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    List,
}

/// Withholds each right that an explanation of this object from the snapshot used; each time it may only be weaker.
/// `said` is what was said of the object by the cluster.
#[track_caller]
pub fn withstands_less(snapshot: &Path, said: &Value) {
    let saved = load::saved(&[snapshot.to_owned()], &mut std::io::empty())
        .expect("the snapshot is readable")
        .expect("it is a snapshot");
    let text = |field: &str| said["target"][field].as_str().unwrap_or_default().to_owned();
    let query = Query::Object {
        resource: Resource::named(&text("resource")),
        namespace: Some(text("namespace")).filter(|namespace| !namespace.is_empty()),
        name: text("name"),
    };
    let Some(Ok(Answer::Object(Some(target)))) = saved.answer(&query) else {
        panic!("{query:?} is not in the snapshot");
    };
    let mut used = BTreeSet::new();
    let full = [explained(&saved, target, &mut |query, answer| {
        used.extend(types_of(query, &answer));
        answer
    })];
    // Of a look into a namespace, the types of which nothing is said are alike: one of them is enough.
    let text = full[0].to_string();
    let mut silent = used.iter().filter(|name| !text.contains(*name));
    let first = silent.next();
    let matters = |name: &&String| text.contains(*name) || Some(*name) == first;
    let mut faults = Vec::new();
    for hidden in used.iter().filter(matters) {
        for verbs in [&[Verb::Get][..], &[Verb::List], &[Verb::Get, Verb::List]] {
            let less = explained(&saved, target, &mut |query, answer| {
                without(hidden, verbs, query, answer)
            });
            for fault in weaker::faults(&full, &less, Some(hidden)) {
                faults.push(format!("without {hidden}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}\nof {:#}", faults.join("\n"), full[0]);
}

type Answered = Result<Answer, Why>;

/// The public form of an explanation. `pass` sees each answer and may change it.
fn explained(saved: &Saved, target: &Object, pass: &mut dyn FnMut(&Query, Answered) -> Answered) -> Value {
    let mut facts = saved.initial_facts();
    loop {
        let progress = diagnose(target, &facts, &KNOWLEDGE);
        if progress.wanted.is_empty() {
            return serde_json::to_value(ExplainReport::new(&progress.diagnosis, &RunFlags::default()))
                .expect("a report is JSON");
        }
        for query in progress.wanted {
            let answer = saved.answer(&query).cloned().unwrap_or(Err(Why::NotInDump));
            let answer = pass(&query, answer);
            facts.answers.insert(query, answer);
        }
    }
}

/// The types that a request reads.
fn types_of(query: &Query, answer: &Answered) -> Vec<String> {
    match (query, answer) {
        (_, Err(_)) => Vec::new(),
        (
            Query::Object { resource, .. } | Query::List { resource, .. } | Query::Search { resource, .. },
            _,
        ) => vec![resource.name()],
        (Query::Events { .. }, _) => vec!["events".to_owned()],
        (Query::Content { .. }, Ok(Answer::Content(content))) => content.counts.keys().cloned().collect(),
        (Query::Owned(_), Ok(Answer::Owned(owned))) => owned
            .objects
            .iter()
            .map(|object| object.resource.name())
            .collect(),
        _ => Vec::new(),
    }
}

fn without(hidden: &str, verbs: &[Verb], query: &Query, answer: Answered) -> Answered {
    let refused = || Err(Why::Forbidden(format!("you may not read {hidden}")));
    let may_not = |verb| verbs.contains(&verb);
    match query {
        Query::Object { resource, .. } if resource.name() == hidden && may_not(Verb::Get) => refused(),
        Query::List { resource, .. } | Query::Search { resource, .. }
            if resource.name() == hidden && may_not(Verb::List) =>
        {
            refused()
        }
        Query::Events { .. } if hidden == "events" && may_not(Verb::List) => refused(),
        Query::Content { namespace } if may_not(Verb::List) => answer.map(|answer| match answer {
            Answer::Content(mut content) if content.counts.contains_key(hidden) => {
                content.counts.remove(hidden);
                content.kept.retain(|seen| seen.object.type_name != hidden);
                content.gaps.push(Gap {
                    what: What::TypeIn {
                        name: hidden.to_owned(),
                        namespace: namespace.clone(),
                        read: 0,
                    },
                    why: Why::Forbidden(format!("you may not list {hidden}")),
                });
                Answer::Content(content)
            }
            other => other,
        }),
        Query::Owned(place) if may_not(Verb::List) => answer.map(|answer| match answer {
            Answer::Owned(mut owned) => {
                owned.objects.retain(|object| object.resource.name() != hidden);
                owned.gaps.push(Gap {
                    what: match place {
                        Where::Namespace(namespace) => What::TypeIn {
                            name: hidden.to_owned(),
                            namespace: namespace.clone(),
                            read: 0,
                        },
                        Where::Owner(_) => What::Type {
                            name: hidden.to_owned(),
                            read: 0,
                        },
                    },
                    why: Why::Forbidden(format!("you may not list {hidden}")),
                });
                Answer::Owned(owned)
            }
            other => other,
        }),
        _ => answer,
    }
}
