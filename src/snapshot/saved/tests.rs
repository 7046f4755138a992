//! A written snapshot reads back equal. A damaged file is never accepted as complete.

use std::io::Read;

use flate2::read::GzDecoder;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    object::{Deletion, Finalizer, List, ObjectRef, ResourceType},
    snapshot::{
        Filter, Gap, LeftoverCount, NamespaceLeftovers, Namespaces, Seen, Wanted, What, Why,
        facts::{Answer, Content, Object, Query, Resource},
        storage_leftovers::{LeftoverList, StorageLeftovers, Unread, Unreclaimed},
    },
};

fn at(text: &str) -> Timestamp {
    text.parse().expect("a timestamp")
}

fn object(plural: &str, kind: &str, value: serde_json::Value) -> Object {
    Object {
        resource: Resource::new("", plural),
        kind: kind.into(),
        api_version: "v1".into(),
        value,
    }
}

pub(super) fn query(plural: &str, name: &str) -> Query {
    Query::Object {
        resource: Resource::new("", plural),
        namespace: Some("db".into()),
        name: name.into(),
    }
}

fn ty(plural: &str, kind: &str) -> ResourceType {
    ResourceType {
        version: "v1".into(),
        plural: plural.into(),
        kind: kind.into(),
        namespaced: true,
        ..ResourceType::default()
    }
}

/// Objects in a namespace that does not exist, and a volume and an attachment that look leftover.
fn leftovers(seen: &Seen) -> Leftovers {
    let objects = LeftoverCount {
        objects: 3,
        terminating: 1,
        first: vec![seen.object.clone()],
        held: Some(seen.object.clone()),
    };
    let volume = json!({
        "metadata": {"name": "pv-1", "managedFields": [
            {"manager": "csi", "subresource": "status", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:hunter2": "hunter2"}},
            {"manager": "csi", "time": "2026-01-02T00:00:00Z", "operation": "hunter2"}]},
        "status": {"phase": "Released"},
    });
    let attachment = || {
        object(
            "volumeattachments",
            "VolumeAttachment",
            json!({"metadata": {"name": "csi-1"}}),
        )
    };
    Leftovers {
        namespaces: Namespaces::Known,
        only_within: vec!["pods".into()],
        in_namespaces: NamespaceLeftovers(
            [("lost".to_owned(), [("configmaps".to_owned(), objects)].into())].into(),
        ),
        storage: StorageLeftovers {
            volumes: LeftoverList {
                unread: None,
                kept: vec![Unreclaimed {
                    volume: object("persistentvolumes", "PersistentVolume", volume),
                    attached: Some(vec![attachment()]),
                }],
                more: 2,
            },
            attachments: LeftoverList {
                unread: Some(Unread::TooMany),
                kept: vec![attachment()],
                more: 0,
            },
        },
    }
}

/// A claim that a pod uses.
fn seen() -> Seen {
    Seen {
        object: ObjectRef {
            type_name: "persistentvolumeclaims".into(),
            kind: "PersistentVolumeClaim".into(),
            api_version: "v1".into(),
            namespace: Some("db".into()),
            name: "data-0".into(),
            uid: "6791fdd4-46b0-4e65-9d4c-c72e873efcf9".into(),
        },
        created: Some(at("2026-01-01T00:00:00Z")),
        deletion: Some(Deletion {
            timestamp: at("2026-01-02T00:00:00Z"),
            grace_seconds: 0,
        }),
        finalizers: vec![Finalizer {
            list: List::Metadata,
            name: "kubernetes.io/pvc-protection".into(),
        }],
        conditions: Vec::new(),
        driver: None,
    }
}

pub(super) fn example() -> Saved {
    let gap = Gap {
        what: What::Type {
            name: "leases.coordination.k8s.io".into(),
            read: 3,
        },
        why: Why::TimedOut(std::time::Duration::from_secs(30)),
    };
    let answers = [
        (
            query("secrets", "token"),
            Ok(Answer::Object(Some(Box::new(object(
                "secrets",
                "Secret",
                json!({
                    "metadata": {"name": "token", "namespace": "db", "managedFields": [{"manager": "kubectl", "apiVersion": "hunter2", "fieldsType": "hunter2",
                        "fieldsV1": {"f:data": {"f:hunter2": {}}, "f:metadata": {"f:labels": {"f:hunter2": {}}}, "f:status": {"f:hunter2": {}}}},
                        "hunter2"],
                        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"data\":\"hunter2\"}"}},
                    "data": {"password": "hunter2"}, "stringData": {"password": "hunter2"},
                }),
            ))))),
        ),
        (
            query("configmaps", "settings"),
            Ok(Answer::List(vec![object(
                "configmaps",
                "ConfigMap",
                json!({"metadata": {"name": "settings"}, "data": {"a": "hunter2"}, "binaryData": {"b": "hunter2"}}),
            )])),
        ),
        (
            query("pods", "db-0"),
            Ok(Answer::Object(Some(Box::new(object(
                "pods",
                "Pod",
                json!({
                    "metadata": {"name": "db-0", "namespace": "db", "labels": {"app": "db"}},
                    "spec": {"nodeName": "node-7", "containers": [{"name": "db", "env": [{"name": "P", "value": "hunter2"}],
                        "args": ["--password=hunter2"], "command": ["hunter2"]}]},
                }),
            ))))),
        ),
        (query("pods", "gone"), Ok(Answer::Object(None))),
        (query("nodes", "node-7"), Err(Why::Forbidden("no".into()))),
        (
            Query::Content {
                namespace: "db".into(),
            },
            Ok(Answer::Content(Box::new(Content {
                counts: [("pods".to_owned(), 2)].into(),
                kept: vec![seen()],
                gaps: vec![gap.clone()],
            }))),
        ),
    ];
    Saved {
        head: Head {
            format: FORMAT.into(),
            version: VERSION,
            program: "0.1.0".into(),
            redacted: false,
            source: "https://203.0.113.7:6443".into(),
            namespace: None,
            default_namespace: "default".into(),
            observed_at: at("2026-01-03T00:00:00.25Z"),
            looked_at: at("2026-01-03T00:00:01Z"),
            interrupted: false,
        },
        types: vec![
            ty("pods", "Pod"),
            ty("persistentvolumeclaims", "PersistentVolumeClaim"),
        ],
        type_gaps: vec![gap.clone()],
        counts: vec![
            Counted {
                ty: ty("persistentvolumeclaims", "PersistentVolumeClaim"),
                objects: 3,
                in_namespaces: [("db".to_owned(), 2), ("etl".to_owned(), 1)].into(),
            },
            Counted {
                ty: ty("pods", "Pod"),
                objects: 2,
                in_namespaces: [("db".to_owned(), 2)].into(),
            },
        ],
        gaps: vec![gap],
        notes: vec!["a note".into()],
        leftovers: Some(leftovers(&seen())),
        kept: vec![seen()],
        answers: answers.into(),
    }
}

pub(super) fn packed(saved: &Saved) -> Vec<u8> {
    Writer::save(saved, Vec::new()).expect("writing to memory succeeds")
}

pub(super) fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .expect("compressed text");
    text
}

fn read(mut bytes: &[u8]) -> Result<Saved, Fault> {
    Saved::read(&mut bytes)
}

fn broken(bytes: &[u8]) -> String {
    match read(bytes) {
        Err(Fault::Broken(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn reads_back_what_it_wrote_compressed_or_not() {
    let bytes = packed(&example());
    let once = read(&bytes).expect("a snapshot");
    let again = packed(&once);
    assert_eq!(unpacked(&bytes), unpacked(&again));
    let plain = read(unpacked(&bytes).as_bytes()).expect("unpacked");
    assert_eq!(format!("{plain:?}"), format!("{once:?}"));
    let example = example();
    assert_eq!(once.head, example.head);
    assert_eq!((&once.types, &once.counts), (&example.types, &example.counts));
    assert_eq!((&once.kept, &once.gaps), (&example.kept, &example.gaps));
    let questions: Vec<_> = once.answers.keys().collect();
    assert_eq!(questions, example.answers.keys().collect::<Vec<_>>());
    assert!(matches!(
        once.answer(&query("pods", "gone")),
        Some(Ok(Answer::Object(None)))
    ));
    assert!(
        matches!(once.answer(&query("nodes", "node-7")), Some(Err(Why::Forbidden(text))) if text == "no")
    );
    assert!(once.answer(&query("pods", "never-asked")).is_none());
}

#[test]
fn leaves_out_secret_data_and_container_arguments() {
    let text = unpacked(&packed(&example()));
    assert!(text.contains("\"token\"") && text.contains("db-0"), "{text}");
    for never in ["hunter2", "last-applied", "stringData", "binaryData"] {
        assert!(!text.contains(never), "{never}: {text}");
    }
}

#[test]
fn detects_a_file_truncated_at_any_byte() {
    let text = unpacked(&packed(&example()));
    let first = text.find('\n').expect("lines") + 1;
    for end in first..text.len() - 1 {
        let message = broken(&text.as_bytes()[..end]);
        // A record is complete even without its line break.
        let records = text[..=end].matches('\n').count();
        assert_eq!(
            message,
            format!("a snapshot that was cut short after {records} records; take or copy it again"),
            "at {end}"
        );
    }
    let bytes = packed(&example());
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "cut at {end} of {}", bytes.len());
    }
}

#[test]
fn reports_the_line_of_a_changed_file() {
    let text = unpacked(&packed(&example()));
    let lines: Vec<_> = text.lines().collect();
    let mut fewer = lines.clone();
    fewer.remove(3);
    assert!(broken(fewer.join("\n").as_bytes()).contains("it was changed after it was written"));
    let mut other = lines.clone();
    other[2] = r#"{"prophecy":{}}"#;
    assert!(
        broken(other.join("\n").as_bytes()).starts_with("line 3 is no record of a snapshot: unknown variant")
    );
    let more = format!("{text}{}\n", lines[1]);
    assert!(broken(more.as_bytes()).contains("something follows the end"));
    let mut bytes = packed(&example());
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    assert!(read(&bytes).is_err());
    let tail = bytes.len() - 6;
    let mut bytes = packed(&example());
    bytes[tail] ^= 1;
    assert!(broken(&bytes).starts_with("damaged"), "{}", broken(&bytes));
}

/// A few kilobytes of gzip must not fill the memory.
#[test]
fn rejects_a_small_file_that_unpacks_to_a_large_one() {
    let text = unpacked(&packed(&example()));
    let head = text.lines().next().expect("a first line");
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut out, format!("{head}\n{{\"note\":\"").as_bytes()).expect("in memory");
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..80 {
        std::io::Write::write_all(&mut out, &zeros).expect("in memory");
    }
    let bytes = out.finish().expect("in memory");
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    let message = broken(&bytes);
    assert!(message.contains("unpack to more than"), "{message}");
}

/// An edited count must not keep the reader busy for ever, and must not overflow a sum.
#[test]
fn rejects_edited_counts_that_are_impossible() {
    let text = unpacked(&packed(&example()));
    let edited = |objects: &str| {
        let at = text.find("\"objects\":").expect("a count") + "\"objects\":".len();
        let end = at + text[at..].find([',', '}']).expect("its end");
        format!("{}{objects}{}", &text[..at], &text[end..])
    };
    for impossible in ["18446744073709551615", "2000000000000"] {
        let message = broken(edited(impossible).as_bytes());
        assert!(
            message.contains("it counts more objects than there can be"),
            "{message}"
        );
    }
    let saved = read(edited("1000000000000").as_bytes()).expect("as many as that may be");
    let snapshot = saved.snapshot(&Wanted {
        namespace: None,
        types: &[],
        exclude: &[],
        all: true,
        by_holder: true,
        filter: &Filter::default(),
        now: at("2026-01-01T00:00:00Z"),
    });
    assert!(snapshot.expect("a scan").tally.objects >= 1_000_000_000_000);
}

#[test]
fn distinguishes_another_version_from_other_files() {
    let text = unpacked(&packed(&example())).replacen("\"version\":1", "\"version\":2", 1);
    assert!(broken(text.as_bytes()).contains("version 2 of its format, and this program reads version 1"));
    for other in [
        "",
        "apiVersion: v1\n",
        "{\"kind\": \"List\"}\n",
        "{\"format\":\"x\",\"version\":1}\n",
        "\x1f",
    ] {
        assert!(matches!(read(other.as_bytes()), Err(Fault::NotOne)), "{other:?}");
    }
}

proptest! {
    #[test]
    fn never_panics_on_any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), keep in 0usize..2000) {
        let text = unpacked(&packed(&example()));
        let keep = (0..=keep.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let mut all = text.as_bytes()[..keep].to_vec();
        all.append(&mut bytes);
        prop_assert!(read(&all).is_err());
    }
}
