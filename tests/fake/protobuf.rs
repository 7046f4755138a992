//! Compares protobuf with bytes of Kubernetes' own encoder, because a decoder of ours would share our errors.

use crate::client::{PROTOBUF, page};
use crate::server::{Fake, Kind, ManagedFields, cluster_object, object};

/// The list of `golden/main.go`, which says how to create it again.
const GOLDEN: &str = include_str!("golden/list.hex");

#[test]
fn a_page_equals_the_bytes_of_kubernetes_encoder() {
    let mut fields = ManagedFields::of("kubectl", "status", r#"{"f:metadata":{}}"#);
    fields.time = "2025-01-01T00:00:00Z".parse().unwrap();
    let full = object("db", "web-1")
        .uid("00000000-0000-0000-0000-000000000001")
        .deleting("2026-01-01T00:00:30Z")
        .grace(30)
        .label("app", "web")
        .label("tier", "front")
        .annotation("note", "ä\u{1b}")
        .owner("apps/v1", "ReplicaSet", "web", "1-2-3")
        .finalizer("a/b")
        .finalizer("c/d")
        .managed(fields);
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object("pods", full)
        .object("pods", cluster_object("plain").uid("2"))
        .generate("pods", 41, |n| object("db", &n.to_string()))
        .start();
    let answer = page(&server, "/api/v1/pods", PROTOBUF, 2, None);
    assert_eq!(
        answer.header("Content-Type"),
        Some("application/vnd.kubernetes.protobuf")
    );
    let hex = |byte: &u8| format!("{byte:02x}");
    assert_eq!(answer.body.iter().map(hex).collect::<String>(), GOLDEN.trim());
}

#[test]
fn long_parts_have_long_lengths() {
    // Sizes around the estimates that lengths are first written with.
    let sizes = [0, 1, 100, 127, 128, 129, 16_300, 16_384, 70_000, 2_100_000];
    let fake = Fake::new().with_type(Kind::new("", "v1", "pods").namespaced());
    let fake = sizes.iter().fold(fake, |fake, &size| {
        fake.object(
            "pods",
            object("db", "p")
                .uid(&"u".repeat(size))
                .finalizer("f".repeat(size)),
        )
    });
    let server = fake.start();
    let body = page(&server, "/api/v1/pods", PROTOBUF, 0, None).body;
    let mut unknown = Parts(&body[4..]);
    let raw = unknown.find(|(tag, _)| *tag == 2).unwrap().1;
    let items: Vec<&[u8]> = Parts(raw)
        .filter(|(tag, _)| *tag == 2)
        .map(|(_, item)| item)
        .collect();
    assert_eq!(items.len(), sizes.len());
    for (item, size) in items.into_iter().zip(sizes) {
        let meta = Parts(item).next().unwrap().1;
        let length = |wanted| Parts(meta).find(|(tag, _)| *tag == wanted).unwrap().1.len();
        assert_eq!((length(5), length(14)), (size, size));
    }
}

/// The fields of a message that have a length; numbers are skipped.
struct Parts<'a>(&'a [u8]);

impl Parts<'_> {
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.0[0];
            self.0 = &self.0[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.is_empty() {
            let key = self.varint();
            let value = self.varint();
            if key & 7 == 2 {
                let (part, rest) = self.0.split_at(usize::try_from(value).unwrap());
                self.0 = rest;
                return Some((key >> 3, part));
            }
        }
        None
    }
}
