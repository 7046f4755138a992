//! Checks that `scan` and `explain` say the same of every terminating object of the recorded clusters in the repository:
//! each finalizer's verdict and blockers, and the root causes below them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::{Investigation, Limits, agreement::assert_same, examine, tests::scan};
use crate::{
    diagnose::{
        Diagnosis,
        graph::{RootCause, Waiting, causes},
    },
    knowledge::Knowledge,
    report::causes::{Examination, Examined},
    run::{
        block_on,
        dumped::Dumped,
        target::{look::Explainer, watch::Watch},
        witness::Witness,
    },
    settings::Scan,
    snapshot::{
        facts::{Answer, Object, Query},
        load::{self, Dump, Wanted},
        saved::Saved,
    },
};

/// What is recorded: files from kubectl, and snapshots.
fn recorded() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all: Vec<_> = fs::read_dir(root.join("tests/stories"))
        .expect("the stories")
        .map(|entry| entry.expect("a story").path().join("cluster.yaml"))
        .filter(|path| path.exists())
        .collect();
    all.sort();
    let others = [
        "examples/stuck-cluster",
        "examples/stuck-cluster.snapshot",
        "tests/suite/explain/world.yaml",
    ];
    all.extend(others.map(|path| root.join(path)));
    all
}

fn wanted(scan: &Scan) -> Wanted<'_> {
    Wanted {
        namespace: None,
        types: &[],
        exclude: &[],
        all: false,
        by_holder: false,
        filter: &scan.filter,
        now: Timestamp::now(),
    }
}

#[test]
fn scan_and_explain_agree_on_every_recorded_object() {
    let (scan, knowledge) = (scan(), Knowledge::builtin());
    let mut checked = 0;
    for path in recorded() {
        let paths = [path];
        let wanted = wanted(&scan);
        checked += match load::saved(&paths, &mut &[][..]).expect("a file") {
            Some(saved) => check_saved(&saved, &scan, &wanted, &knowledge),
            None => check_dump(&paths, &wanted, &knowledge),
        };
    }
    assert!(checked > 50, "{checked} objects");
}

fn check_dump(paths: &[PathBuf], wanted: &Wanted<'_>, knowledge: &Knowledge) -> usize {
    let snapshot = load::load(paths, &mut &[][..], wanted).expect("a snapshot");
    let dump = load::dump(paths, &mut &[][..], wanted.now).expect("a dump");
    let examined = examine(&dump, &snapshot, Limits::default(), knowledge);
    check(&examined, |query| explained_from(&dump, query, knowledge))
}

fn explained_from(dump: &Dump, query: &Query, knowledge: &Knowledge) -> Diagnosis {
    let object = found(dump.answer(query, false).ok());
    Dumped::new(dump).diagnose(&object, knowledge)
}

fn check_saved(saved: &Saved, scan: &Scan, wanted: &Wanted<'_>, knowledge: &Knowledge) -> usize {
    let snapshot = saved.snapshot(wanted).expect("a snapshot");
    let witness = Witness::Saved(saved);
    let mut look = Investigation::new(&snapshot, scan, Limits::default(), knowledge);
    block_on(async {
        look.run(&witness, knowledge).await;
        Ok(())
    })
    .expect("a runtime");
    let examined = look.finish(&snapshot, knowledge, false).examined;
    check(&examined, |query| {
        let object = found(saved.answer(query).and_then(|answer| answer.clone().ok()));
        let mut facts = saved.initial_facts();
        let explained = block_on(async {
            let mut asking = Explainer {
                witness,
                knowledge,
                watch: &mut Watch::new(),
            };
            Ok(asking.read_and_diagnose("it", &object, &mut facts).await)
        });
        let (diagnosis, _) = explained.expect("a runtime");
        diagnosis
    })
}

fn found(answer: Option<Answer>) -> Object {
    match answer {
        Some(Answer::Object(Some(object))) => *object,
        answer => panic!("it was recorded: {answer:?}"),
    }
}

/// Compares each result of the scan with what `explain` says. Returns the number of compared objects.
#[track_caller]
fn check(examined: &[Examined<'_>], explain: impl Fn(&Query) -> Diagnosis) -> usize {
    let stuck: Vec<_> = examined
        .iter()
        .filter(|one| !matches!(one.result, Examination::InGrace(_)))
        .collect();
    let scanned: Vec<_> = stuck
        .iter()
        .map(|one| match &one.result {
            Examination::Explained(diagnosis) => waiting(one, diagnosis),
            other => panic!("{}: {other:?}", one.seen.object.in_words()),
        })
        .collect();
    let root_causes = causes(&scanned);
    for (at, waiting) in scanned.iter().enumerate() {
        let explained = explain(&Query::of(waiting.object));
        assert_same(waiting.diagnosis.expect("it is explained"), &explained);
        let alone = Waiting {
            diagnosis: Some(&explained),
            content: Vec::new(),
            ..waiting.clone()
        };
        let by_scan = root_causes.iter().filter(|cause| cause.objects.contains(&at));
        assert_eq!(
            names(by_scan),
            names(&causes(&[alone])),
            "the root causes of {} by scan and by explain",
            waiting.object.in_words()
        );
    }
    stuck.len()
}

fn waiting<'a>(one: &'a Examined<'_>, diagnosis: &'a Diagnosis) -> Waiting<'a> {
    Waiting {
        object: &one.seen.object,
        finalizers: &one.seen.finalizers,
        diagnosis: Some(diagnosis),
        content: one.content.iter().collect(),
    }
}

/// Each cause by what it is, and how it stands. A finalizer or a wait that several objects share has the name of none.
fn names<'a>(causes: impl IntoIterator<Item = &'a RootCause>) -> BTreeSet<String> {
    let name = |cause: &RootCause| match (&cause.object, &cause.finalizer) {
        (_, Some(finalizer)) if cause.is_own => finalizer.to_string(),
        (_, None) if cause.is_own => "no finalizer".to_owned(),
        (Some(object), _) => object.in_words(),
        (None, _) => cause.says.to_string(),
    };
    let causes = causes.into_iter();
    causes
        .map(|cause| format!("{} {}", cause.state.word(), name(cause)))
        .collect()
}
