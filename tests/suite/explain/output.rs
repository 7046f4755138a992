//! Whole explanations to be read as documents, from objects to text without a server. After an intended change
//! run `cargo test --test suite -- --ignored write_the_explanations` and read the difference.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::LazyLock};

use kubectl_finalizers::{
    command::RunFlags,
    diagnose::diagnose,
    knowledge::Knowledge,
    object::{Finalizer, List, ResourceType},
    output::{Style, explain},
    report::ExplainReport,
    snapshot::{
        Seen, Why,
        facts::{Answer, By, Content, Facts, Object, Owned, Query, Resource},
    },
};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_the_explanations";

/// An object to explain, and the types that the reader may not list.
const ANSWERS: [(&str, &str, &str, &[&str]); 6] = [
    (
        "volume-in-use",
        "persistentvolumes",
        "pvc-6791fdd4-2c1e-4f0a-9b77-1d3f5a2f8e10",
        &[],
    ),
    (
        "claim-not-deleted",
        "persistentvolumeclaims",
        "data-postgres-0",
        &[],
    ),
    ("claim-of-many-pods", "persistentvolumeclaims", "scratch", &[]),
    ("namespace", "namespaces", "payments", &["leases"]),
    ("pod-on-dead-node", "pods", "web-7f9c6d5b8-x2x7k", &[]),
    ("unknown-finalizer", "databases", "orders", &["events"]),
];

/// All types of the objects in `world.yaml`, by kind.
const TYPES: [(&str, &str, bool); 11] = [
    ("Namespace", "namespaces", false),
    ("Node", "nodes", false),
    ("Pod", "pods", true),
    ("PersistentVolume", "persistentvolumes", false),
    ("PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("StorageClass", "storageclasses", false),
    ("Lease", "leases", true),
    ("Challenge", "challenges", true),
    ("Database", "databases", true),
    ("Event", "events", true),
    ("StatefulSet", "statefulsets", true),
];

static WORLD: LazyLock<Vec<Object>> = LazyLock::new(|| {
    let text = include_str!("world.yaml");
    let mut objects: Vec<Object> = text
        .split("\n---\n")
        .map(|document| made(serde_saphyr::from_str(document).unwrap()))
        .collect();
    objects.extend((0..400).map(|at| {
        made(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("crunch-{at:03}"), "namespace": "batch", "uid": format!("crunch-{at}")},
            "spec": {"nodeName": "ip-10-0-1-17.eu-central-1.compute.internal", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "scratch"}}]},
            "status": {"phase": "Running"},
        }))
    }));
    objects
});

fn made(value: Value) -> Object {
    let text = |field: &str| value[field].as_str().unwrap().to_owned();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    let (_, plural, _) = TYPES.iter().find(|ty| ty.0 == kind).unwrap();
    Object {
        resource: Resource::new(group, plural),
        kind,
        api_version,
        value,
    }
}

fn facts() -> Facts {
    let types = TYPES.iter().map(|(kind, plural, namespaced)| {
        let object = WORLD.iter().find(|object| object.kind == *kind);
        let group = match (object, *kind) {
            (Some(object), _) => object.resource.group.clone(),
            (None, "StatefulSet") => "apps".to_owned(),
            _ => String::new(),
        };
        ResourceType {
            group,
            version: "v1".into(),
            plural: (*plural).into(),
            kind: (*kind).into(),
            namespaced: *namespaced,
            ..ResourceType::default()
        }
    });
    Facts {
        redacted: false,
        now: "2026-03-14T03:12:00Z".parse().unwrap(),
        types: types.collect(),
        gaps: Vec::new(),
        kept: 0,
        answers: BTreeMap::new(),
    }
}

fn answer(query: &Query, forbidden: &[&str]) -> Result<Answer, Why> {
    let within = |object: &&Object, namespace: &Option<String>| {
        namespace
            .as_ref()
            .is_none_or(|namespace| object.namespace() == namespace)
    };
    let refused = |plural: &str| {
        let user = "system:serviceaccount:ops:reader";
        let why = format!("{plural} is forbidden: User \"{user}\" cannot list resource \"{plural}\"");
        if forbidden.contains(&plural) {
            Err(Why::Forbidden(why))
        } else {
            Ok(())
        }
    };
    Ok(match query {
        Query::Object {
            resource,
            namespace,
            name,
        } => {
            refused(&resource.plural)?;
            let mut all = WORLD.iter().filter(|object| object.resource == *resource);
            let found = all.find(|object| object.name() == name && within(object, namespace));
            Answer::Object(found.cloned().map(Box::new))
        }
        Query::List { resource, namespace } => {
            refused(&resource.plural)?;
            let all = WORLD.iter().filter(|object| object.resource == *resource);
            Answer::List(all.filter(|object| within(object, namespace)).cloned().collect())
        }
        // No object here has labels.
        Query::Search {
            resource,
            namespace,
            by,
        } => {
            refused(&resource.plural)?;
            let all = WORLD.iter().filter(|object| object.resource == *resource);
            let called = |object: &&Object| matches!(by, By::Name(name) if object.name() == name);
            Answer::List(
                all.filter(|object| within(object, namespace) && called(object))
                    .cloned()
                    .collect(),
            )
        }
        Query::Events { .. } => {
            refused("events")?;
            Answer::List(Vec::new())
        }
        Query::Content { namespace } => {
            let mut content = Content::default();
            for object in WORLD.iter().filter(|object| object.namespace() == namespace) {
                *content.counts.entry(object.resource.name()).or_default() += 1;
                content.kept.push(Seen {
                    object: object.reference(),
                    created: None,
                    deletion: object.deletion(),
                    finalizers: object.finalizers(),
                    conditions: Vec::new(),
                    driver: None,
                });
            }
            Answer::Content(Box::new(content))
        }
        // No object here has owners.
        Query::Owned(_) => Answer::Owned(Owned::default()),
        Query::Version => Answer::Version("v1.34.1".into()),
    })
}

fn report(plural: &str, name: &str, forbidden: &[&str]) -> ExplainReport {
    let mut facts = facts();
    let mut all = WORLD.iter().filter(|object| object.resource.plural == plural);
    let target = all.find(|object| object.name() == name).unwrap();
    let knowledge = Knowledge::builtin();
    loop {
        let progress = diagnose(target, &facts, &knowledge);
        if progress.wanted.is_empty() {
            return ExplainReport::new(&progress.diagnosis, &RunFlags::default());
        }
        let answered = progress.wanted.into_iter();
        facts.answers.extend(answered.map(|query| {
            let answer = answer(&query, forbidden);
            (query, answer)
        }));
    }
}

fn printed(report: &ExplainReport, width: Option<usize>, unicode: bool, wide: bool) -> String {
    let style = Style {
        width,
        unicode,
        ..Style::default()
    };
    let mut out = Vec::new();
    explain::write(report, wide, &style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// All generated files with their text.
fn files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suite/explain/expected");
    let file = |(file, plural, name, forbidden): &(&str, &str, &str, &[&str])| {
        let report = report(plural, name, forbidden);
        let text = format!(
            "=== 80 columns\n\n{}\n=== 120 columns, wide\n\n{}",
            printed(&report, Some(80), true, false),
            printed(&report, Some(120), true, true)
        );
        (folder.join(format!("{file}.txt")), text)
    };
    ANSWERS.iter().map(file).collect()
}

#[test]
fn the_explanations_are_up_to_date() {
    for (path, expected) in files() {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == expected,
            "{} is stale; {AGAIN}\n{expected}",
            path.display()
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_the_explanations() {
    for (path, text) in files() {
        fs::write(path, text).unwrap();
    }
}

#[test]
fn explanations_fit_the_width_and_the_schema() {
    for (_, plural, name, forbidden) in ANSWERS {
        let report = report(plural, name, forbidden);
        super::document(&serde_json::to_string(&report).unwrap());
        for columns in [40, 60, 80, 120, 300] {
            for wide in [false, true] {
                let text = printed(&report, Some(columns), true, wide);
                let mut is_continued = false;
                for line in text.lines() {
                    let continues = std::mem::replace(&mut is_continued, line.ends_with(" \\"));
                    let words = line.trim_start_matches(['│', '├', '└', '─', ' ']);
                    // Words, objects and commands are never broken, so that they can be copied.
                    let whole = !words.contains(' ')
                        || words.starts_with("kubectl ")
                        || continues
                        || words.contains(" -n ")
                        || line == text.lines().next().unwrap_or_default()
                        || words.contains("   ");
                    // Text beside a deep tree keeps a readable width.
                    let room = columns.min(120).max(30 + line.width() - words.width());
                    assert!(whole || line.width() <= room, "{columns}: {line:?}\n{text}");
                }
                assert!(!text.contains("\n\n\n") && !text.contains(" \n"), "{text}");
            }
        }
    }
}

#[test]
fn observations_are_counted_and_shown_in_wide_output() {
    let report = report("namespaces", "payments", &[]);
    let count = report.evidence.len();
    let usual = printed(&report, None, true, false);
    assert!(
        usual.contains(&format!("{count} observations under -o wide. Page: docs/causes/")),
        "{usual}"
    );
    let wide = printed(&report, None, true, true);
    assert!(wide.contains("\nPage: docs/causes/"), "{wide}");
    assert_eq!(wide.matches(&report.evidence[0].value).count(), 1, "{wide}");
}

/// The tree uses only characters that the terminal can show.
#[test]
fn without_utf8_the_tree_is_ascii() {
    let report = report("persistentvolumes", ANSWERS[0].2, &[]);
    let text = printed(&report, Some(80), false, true);
    assert!(
        text.is_ascii() && text.contains("keeps it: ") && text.contains("`- "),
        "{text}"
    );
}

#[test]
fn finalizers_and_lists_are_never_reworded() {
    let report = report("namespaces", "payments", &[]);
    let finalizer = report.waits_for[0].finalizer.clone();
    let expected = Finalizer {
        list: List::Spec,
        name: "kubernetes".into(),
    };
    assert_eq!(finalizer, Some(expected));
    assert!(printed(&report, None, true, false).contains("└─ spec: kubernetes   "));
}
