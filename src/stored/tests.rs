//! Random objects: after the edit every byte is as before, except the deletion and the lengths around it. Each object is
//! built twice, with the deletion and without, and the edit of the first must be the second.

use proptest::prelude::*;
use testkit::{
    dice::Dice,
    stored_objects::{bytes_field, number_field, random_json, random_protobuf},
};

use super::{Cut, Identity, PROTOBUF, Undeleted, Unusable, undeleted};

const OBJECTS: u64 = 1_000;
fn seed() -> u64 {
    let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or(1)
}

fn is_edited(form: &str, random: fn(&mut Dice) -> (Vec<u8>, Vec<u8>)) {
    for seed in seed()..seed() + OBJECTS {
        let (before, expected) = random(&mut Dice::new(seed));
        let edited = undeleted(&before).unwrap_or_else(|why| panic!("SEED={seed}: {why}"));
        assert!(edited.value == expected, "SEED={seed}: other bytes differ");
        assert_eq!(edited.form, form, "SEED={seed}");
        assert_eq!(edited.object, object(), "SEED={seed}");
        let mut fields: Vec<_> = edited.cuts.iter().map(|cut| cut.field).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            ["deletionGracePeriodSeconds", "deletionTimestamp"],
            "SEED={seed}"
        );
        let again = undeleted(&expected).unwrap_or_else(|why| panic!("SEED={seed}: {why}"));
        assert!(again.cuts.is_empty() && again.value == expected, "SEED={seed}");
    }
}

fn object() -> Identity {
    Identity {
        kind: "ConfigMap".into(),
        namespace: "default".into(),
        name: "object".into(),
        uid: "0b1a".into(),
    }
}

#[test]
fn every_other_byte_of_a_thousand_objects_in_protobuf_stays() {
    is_edited("protobuf", random_protobuf);
}

#[test]
fn every_other_byte_of_a_thousand_objects_in_json_stays() {
    is_edited("JSON", random_json);
}

#[test]
fn names_the_truncated_field() {
    let Undeleted { cuts, .. } = undeleted(&random_protobuf(&mut Dice::new(3)).0).expect("an object");
    let deletion = Cut {
        field: "deletionTimestamp",
        was: "2026-11-23T07:00:00Z".into(),
    };
    assert!(cuts.contains(&deletion), "{cuts:?}");
    let json = br#"{"kind":"A","metadata":{"deletionGracePeriodSeconds":30,"name":"a","uid":"u"}}"#;
    let edited = undeleted(json).expect("an object");
    assert_eq!(edited.cuts[0].was, "30");
    assert_eq!(edited.metadata[1], ("name".into(), "a".into()));
    assert_eq!(edited.value, br#"{"kind":"A","metadata":{"name":"a","uid":"u"}}"#);
}

/// Both forms of the same metadata are read alike, and what is unknown is not left out.
#[test]
fn metadata_is_shown_as_people_read_it() {
    let pair = |number, key: &[u8], value: &[u8]| {
        bytes_field(number, &[bytes_field(1, key), bytes_field(2, value)].concat())
    };
    let metadata = [
        bytes_field(1, b"object"),
        bytes_field(2, b""),
        bytes_field(3, b"default"),
        bytes_field(5, b"0b1a"),
        number_field(7, 2),
        bytes_field(9, &number_field(1, 1_763_881_200)),
        number_field(10, 0),
        pair(11, b"app", b"shop"),
        pair(11, b"tier", b"db"),
        bytes_field(
            12,
            &[
                bytes_field(1, b"note"),
                bytes_field(2, "x".repeat(500).as_bytes()),
            ]
            .concat(),
        ),
        bytes_field(
            13,
            &[
                bytes_field(1, b"Db"),
                bytes_field(3, b"main"),
                bytes_field(4, b"u"),
            ]
            .concat(),
        ),
        bytes_field(14, b"x.test/a"),
        bytes_field(14, b"x.test/b"),
        bytes_field(17, &bytes_field(1, b"kubectl")),
        bytes_field(99, b"new"),
    ]
    .concat();
    let type_meta = bytes_field(1, &bytes_field(2, b"ConfigMap"));
    let raw = bytes_field(2, &bytes_field(1, &metadata));
    let edited = undeleted(&[PROTOBUF, &type_meta, &raw].concat()).expect("an object");
    let long = format!("note={}...", "x".repeat(155));
    let expected = [
        ("name", "object"),
        ("namespace", "default"),
        ("uid", "0b1a"),
        ("generation", "2"),
        ("deletionTimestamp", "2025-11-23T07:00:00Z"),
        ("deletionGracePeriodSeconds", "0"),
        ("labels", "app=shop, tier=db"),
        ("annotations", &*long),
        ("ownerReferences", "Db main"),
        ("finalizers", "x.test/a, x.test/b"),
        ("managedFields", "kubectl"),
        ("field 99", "3 bytes"),
    ]
    .map(|(field, value)| (field.to_owned(), value.to_owned()));
    assert_eq!(edited.metadata, expected);

    let json = format!(
        r#"{{"kind":"A","metadata":{{"annotations":{{"note":"{}"}},"deletionGracePeriodSeconds":0,
        "finalizers":["x.test/a","x.test/b"],"labels":{{"app":"shop","tier":"db"}},"managedFields":[{{"manager":"kubectl"}}],
        "name":"object","ownerReferences":[{{"kind":"Db","name":"main","uid":"u"}}],"uid":"0b1a"}}}}"#,
        "x".repeat(500)
    );
    let edited = undeleted(json.as_bytes()).expect("an object");
    for (field, value) in edited.metadata {
        assert!(
            expected.contains(&(field.clone(), value.clone())),
            "{field}: {value}"
        );
    }
}

#[test]
fn refuses_bytes_that_no_api_server_writes() {
    let encrypted = undeleted(b"k8s:enc:aescbc:v1:key1:\x00\xff:x");
    assert_eq!(encrypted, Err(Unusable::Encrypted("k8s:enc:aescbc:v1".into())));
    let metadata = bytes_field(1, &bytes_field(1, b"object"));
    let type_meta = bytes_field(1, &bytes_field(2, b"ConfigMap"));
    let raw = bytes_field(2, &metadata);
    let group = [raw.clone(), vec![0x4b, 0x4c]].concat();
    for (why, envelope) in [
        ("no object", type_meta.clone()),
        ("no type", raw.clone()),
        ("two objects", [&*type_meta, &raw, &raw].concat()),
        (
            "two metadata",
            [&*type_meta, &bytes_field(2, &[&*metadata, &metadata].concat())].concat(),
        ),
        (
            "an encoding",
            [&*type_meta, &raw, &bytes_field(3, b"gzip")].concat(),
        ),
        (
            "another type",
            [&*type_meta, &raw, &bytes_field(4, b"text/plain")].concat(),
        ),
        ("a group", [&*type_meta, &group].concat()),
        ("cut off", [&*type_meta, &raw[..raw.len() - 1]].concat()),
        (
            "a deletion that is a number",
            [&*type_meta, &bytes_field(2, &bytes_field(1, &number_field(9, 1)))].concat(),
        ),
    ] {
        let edited = undeleted(&[PROTOBUF, &envelope].concat());
        assert!(matches!(edited, Err(Unusable::Unknown(_))), "{why}: {edited:?}");
    }
    for text in [
        "",
        "text",
        "{}",
        "[]",
        "\u{0}",
        r#"{"kind":"A","metadata":{"name":"a","uid":"u"}"#,
        r#"{"kind":"A","metadata":{"name":"a","uid":"u"},"metadata":{"name":"a","uid":"u"}}"#,
        r#"{"kind":"A","metadata":{"name":"a","uid":"u","uid":"v"}}"#,
    ] {
        let edited = undeleted(text.as_bytes());
        assert!(matches!(edited, Err(Unusable::Unknown(_))), "{text}: {edited:?}");
    }
    assert!(undeleted(&[0xd9, 0xd9, 0xf7, 0xa1]).is_err(), "CBOR");
}

proptest! {
    /// Any change of an object: no panic.
    #[test]
    fn no_bytes_are_too_strange(seed in 0_u64..50, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9)) {
        let mut dice = Dice::new(seed);
        let mut value = if seed % 2 == 0 { random_protobuf(&mut dice).0 } else { random_json(&mut dice).0 };
        value.truncate(4_000);
        for (at, byte) in changes {
            let at = at.index(value.len());
            value[at] = byte;
        }
        let _ = undeleted(&value);
    }
}
