//! The decoders of pages with any input. They never panic, never shorten a list silently, and read the same
//! from JSON and protobuf.

use std::cell::Cell;

use jiff::Timestamp;
use kubectl_finalizers::{
    cluster::decode,
    snapshot::{Item, json::ExtraFields},
};
use proptest::{collection::vec, option, prelude::*, sample::Index, test_runner::Config};

use super::fake::{Malformed, Object, json, object, protobuf};

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What a decoder returns for a page: the items before the end or the fault, and the next token or the fault.
fn decoded(content_type: &str, body: &[u8]) -> (Vec<Item<'static>>, Result<Option<String>, String>) {
    let mut items = Vec::new();
    let page = decode::page(content_type, body, ExtraFields::Nothing, &mut |item| {
        items.push(owned(&item));
    });
    (
        items,
        page.map(|page| page.next).map_err(|error| error.to_string()),
    )
}

fn owned(item: &Item<'_>) -> Item<'static> {
    let own = |text: &str| text.to_owned().into();
    Item {
        namespace: own(&item.namespace),
        name: own(&item.name),
        uid: own(&item.uid),
        created: item.created,
        deletion: item.deletion,
        grace_seconds: item.grace_seconds,
        finalizers: item.finalizers.iter().map(|name| own(name)).collect(),
        namespace_only: item.namespace_only.clone(),
        driver: item.driver.clone(),
    }
}

/// The page as a server writes it, in both formats.
fn page(objects: &[Object], token: &str) -> [(&'static str, Vec<u8>); 2] {
    let mut items = Vec::new();
    for object in objects {
        protobuf::item(object, "pods", &mut items);
    }
    let meta = protobuf::ListMeta {
        resource_version: "1000",
        continue_token: token,
        remaining: None,
    };
    let mut binary = Vec::new();
    protobuf::list(&meta, &items, &mut binary);

    let mut text =
        br#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":"#
            .to_vec();
    json::string(token, &mut text);
    text.extend_from_slice(br#"},"items":["#);
    for (at, object) in objects.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        json::partial(object, "pods", &mut text);
    }
    text.extend_from_slice(b"]}\n");
    [(JSON, text), (PROTOBUF, binary)]
}

/// Text as servers send it, and as they should not.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z0-9./-]{0,12}", 1 => any::<String>()]
}

prop_compose! {
    fn any_object()(
        namespace in text(),
        name in text(),
        deletion in option::of(0..4_000_000_000_i64),
        grace in 0..100_000_i64,
        finalizers in vec(text(), 0..4),
        annotation in text(),
        owner in any::<bool>(),
        managed in any::<bool>(),
    ) -> Object {
        let mut object = object(&namespace, &name).annotation("example.com/note", annotation);
        object.deletion = deletion.map(|seconds| Timestamp::from_second(seconds).unwrap());
        object.grace_seconds = grace;
        object.finalizers = finalizers;
        if owner {
            object = object.owner("v1", "ConfigMap", "owner", "0001");
        }
        if managed { object.usual_managed_fields() } else { object }
    }
}

/// Few cases by default, so that the suite stays fast; `PROPTEST_CASES` sets more.
fn config() -> Config {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    Config {
        cases: cases.unwrap_or(256),
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_are_a_page_or_an_error(body in vec(any::<u8>(), 0..300), magic in any::<bool>()) {
        drop(decoded(JSON, &body));
        let start: &[u8] = if magic { b"k8s\0" } else { b"" };
        drop(decoded(PROTOBUF, &[start, &body].concat()));
        drop(decoded("text/html", &body));
    }

    #[test]
    fn both_forms_hold_the_same(objects in vec(any_object(), 0..5), token in text()) {
        let [(_, text), (_, binary)] = page(&objects, &token);
        let (json, protobuf) = (decoded(JSON, &text), decoded(PROTOBUF, &binary));
        prop_assert_eq!(json.0.len(), objects.len());
        prop_assert_eq!(json.1.clone(), Ok(Some(token).filter(|token| !token.is_empty())));
        prop_assert_eq!(&json.1, &protobuf.1);
        for ((json, mut protobuf), object) in json.0.into_iter().zip(protobuf.0).zip(&objects) {
            prop_assert_eq!(&json.name, &object.name);
            prop_assert_eq!(&json.finalizers, &object.finalizers);
            prop_assert_eq!(json.deletion, object.deletion);
            // The creation time of a bare object is not used.
            protobuf.created = protobuf.created.filter(|_| !protobuf.is_bare());
            prop_assert_eq!(json, protobuf);
        }
    }

    #[test]
    fn a_truncated_page_is_never_a_shorter_list(objects in vec(any_object(), 0..4), token in text(), at in any::<Index>()) {
        for (form, whole) in page(&objects, &token) {
            let full = decoded(form, &whole);
            let (items, end) = decoded(form, &whole[..at.index(whole.len())]);
            prop_assert!(full.0.starts_with(&items));
            if end.is_ok() {
                prop_assert_eq!((items, end), full, "{}", form);
            }
        }
    }

    #[test]
    fn a_page_with_a_wrong_byte_is_a_page_or_an_error(objects in vec(any_object(), 1..4), at in any::<Index>(), byte in any::<u8>()) {
        for (form, mut body) in page(&objects, "") {
            let at = at.index(body.len());
            body[at] = byte;
            drop(decoded(form, &body));
        }
    }
}

#[test]
fn a_page_truncated_at_any_byte_is_never_a_shorter_list() {
    let objects = [
        object("db", "one")
            .finalizer("a/b")
            .deleting("2026-01-01T00:00:00Z"),
        object("db", "two"),
    ];
    for (form, whole) in page(&objects, "token") {
        let full = decoded(form, &whole);
        let complete = (0..whole.len())
            .filter(|&at| {
                let (items, end) = decoded(form, &whole[..at]);
                assert!(
                    end.is_err() || (&items, &end) == (&full.0, &full.1),
                    "{form}, {at} bytes"
                );
                end.is_ok()
            })
            .count();
        // Only bytes without meaning may be missing: a line feed, or the two empty fields after a protobuf
        // list.
        assert!(complete <= 4, "{form}: {complete}");
    }
}

#[test]
fn a_page_with_any_flipped_bit_does_no_harm() {
    for (form, whole) in page(&[object("db", "one").finalizer("a/b")], "t") {
        for bit in 0..whole.len() * 8 {
            let mut body = whole.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            drop(decoded(form, &body));
        }
    }
}

#[test]
fn malformed_pages_return_exactly_the_items_before_the_fault() {
    for &malformed in Malformed::ALL {
        let count = Cell::new(0);
        let form = if malformed.is_protobuf() { PROTOBUF } else { JSON };
        let page = decode::page(form, &malformed.body(), ExtraFields::Nothing, &mut |_| {
            count.set(count.get() + 1);
        });
        let error = page.err().map(|error| error.to_string());
        assert!(
            error.is_none_or(|error| !error.is_empty() && error.len() < 400),
            "{malformed:?}"
        );
        assert!(count.get() <= 2, "{malformed:?}");
    }
}

#[test]
fn a_status_or_another_kind_in_protobuf_is_not_an_empty_list() {
    for malformed in [Malformed::ProtobufStatus, Malformed::ProtobufMagicOnly] {
        assert!(decoded(PROTOBUF, &malformed.body()).1.is_err(), "{malformed:?}");
    }
}
