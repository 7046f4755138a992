//! Random objects as etcd stores them, in protobuf and in JSON, with a deletion and without.
//!
//! They have unknown fields, any order, many alphabets, and up to a megabyte.

use crate::dice::Dice;

/// The first bytes of an object in protobuf.
const PROTOBUF: &[u8] = b"k8s\0";
/// Labels and annotations in many alphabets, with what JSON escapes.
const TEXTS: [&str; 10] = [
    "",
    "app.kubernetes.io/name",
    "größe",
    "имя",
    "名前",
    "اسم",
    "🦀🦀",
    "\"}],{\\\"",
    "deletionTimestamp",
    "\u{0}\n\t\u{7f}\u{2028}",
];
/// 2026-11-23T07:00:00Z
const DELETED: u64 = 1_795_417_200;

fn text(dice: &mut Dice) -> String {
    let parts = 1 + dice.below(3);
    (0..parts).map(|_| *dice.pick(&TEXTS)).collect()
}

/// Mostly small, sometimes as large as etcd accepts.
fn large_text(dice: &mut Dice) -> String {
    let times = match dice.below(200) {
        0 => 20_000,
        1..10 => 500,
        _ => 1 + dice.below(3),
    };
    let once = text(dice);
    once.repeat(times.min(1_000_000 / once.len().max(1)))
}

fn shuffled<T>(mut all: Vec<T>, dice: &mut Dice) -> Vec<T> {
    for at in (1..all.len()).rev() {
        all.swap(at, dice.below(at + 1));
    }
    all
}

/// A field of protobuf with its bytes.
pub fn bytes_field(number: u64, content: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    write_varint(number << 3 | 2, &mut field);
    write_varint(content.len() as u64, &mut field);
    field.extend(content);
    field
}

/// A field of protobuf with a number.
pub fn number_field(number: u64, value: u64) -> Vec<u8> {
    let mut field = Vec::new();
    write_varint(number << 3, &mut field);
    write_varint(value, &mut field);
    field
}

/// A field that this version of Kubernetes does not have.
fn unknown_field(dice: &mut Dice) -> Vec<u8> {
    let number = 18 + dice.below(1 << 20) as u64;
    match dice.below(4) {
        0 => number_field(number, u64::MAX >> dice.below(64)),
        1 => bytes_field(number, large_text(dice).as_bytes()),
        2 => {
            let mut field = Vec::new();
            write_varint(number << 3 | 1, &mut field);
            field.extend([9, 0, 0x4a, 0x50, 0xff, 0, 0, 1]);
            field
        }
        _ => {
            let mut field = Vec::new();
            write_varint(number << 3 | 5, &mut field);
            field.extend([0x4a, 2, 0x50, 0]);
            field
        }
    }
}

/// An object in protobuf with the deletion and without.
pub fn random_protobuf(dice: &mut Dice) -> (Vec<u8>, Vec<u8>) {
    let mut metadata = vec![
        (true, bytes_field(1, b"object")),
        (true, bytes_field(3, b"default")),
        (true, bytes_field(5, b"0b1a")),
        (true, number_field(7, dice.below(1 << 40) as u64)),
        (true, bytes_field(8, &number_field(1, DELETED - 60))),
        (
            false,
            bytes_field(9, &[number_field(1, DELETED), number_field(2, 0)].concat()),
        ),
        (false, number_field(10, dice.below(90) as u64)),
    ];
    for _ in 0..dice.below(12) {
        let entry = [
            bytes_field(1, text(dice).as_bytes()),
            bytes_field(2, large_text(dice).as_bytes()),
        ];
        let number = *dice.pick(&[11, 12, 13, 17]);
        metadata.push((true, bytes_field(number, &entry.concat())));
    }
    for _ in 0..dice.below(4) {
        metadata.push((true, bytes_field(14, text(dice).as_bytes())));
        metadata.push((true, unknown_field(dice)));
    }
    let metadata = shuffled(metadata, dice);
    let mut object = vec![None];
    for number in 2..2 + dice.below(4) as u64 {
        let mut content = unknown_field(dice);
        // A field that looks like the deletion, elsewhere.
        content.extend(bytes_field(9, &number_field(1, DELETED)));
        object.push(Some(bytes_field(number, &content)));
    }
    let object = shuffled(object, dice);
    let type_meta = [bytes_field(1, b"v1"), bytes_field(2, b"ConfigMap")].concat();
    let mut envelope = vec![
        Some(bytes_field(1, &type_meta)),
        None,
        Some(bytes_field(3, b"")),
        Some(bytes_field(4, b"")),
    ];
    if dice.percent(20) {
        envelope.push(Some(unknown_field(dice)));
    }
    let envelope = shuffled(envelope, dice);
    let build = |is_deleted: bool| {
        let kept = metadata.iter().filter(|(stays, _)| *stays || is_deleted);
        let metadata: Vec<u8> = kept.flat_map(|(_, field)| field.clone()).collect();
        let around = |fields: &[Option<Vec<u8>>], number, inner: &[u8]| -> Vec<u8> {
            let fields = fields.iter();
            fields
                .flat_map(|field| field.clone().unwrap_or_else(|| bytes_field(number, inner)))
                .collect()
        };
        let object = around(&object, 1, &metadata);
        [PROTOBUF, &around(&envelope, 2, &object)].concat()
    };
    (build(true), build(false))
}

/// The members between braces, with any white space.
fn json_object(members: &[String], dice: &mut Dice) -> String {
    let space = ["", "", " ", "\n  ", "\t\r\n"];
    let mut all = String::from("{");
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            all.push(',');
        }
        all.push_str(dice.pick::<&str>(&space));
        all.push_str(member);
    }
    all.push('}');
    all
}

fn json_value(dice: &mut Dice, depth: usize) -> String {
    let quoted = serde_json::Value::from(large_text(dice)).to_string();
    match dice.below(if depth == 0 { 3 } else { 5 }) {
        0 => dice
            .pick(&["1", "-2.5e3", "true", "null", "[]", "{}"])
            .to_string(),
        1 | 2 => quoted,
        3 => format!("[{} , {}]", json_value(dice, depth - 1), quoted),
        _ => format!(
            "{{\"deletionTimestamp\" : {}, \"metadata\":{}}}",
            json_value(dice, depth - 1),
            json_value(dice, depth - 1)
        ),
    }
}

/// An object in JSON with the deletion and without: the members in any order, no white space around the deletion.
pub fn random_json(dice: &mut Dice) -> (Vec<u8>, Vec<u8>) {
    let mut metadata = vec![
        r#""name":"object""#.to_owned(),
        r#""namespace" : "default""#.to_owned(),
        r#""uid":"0b1a""#.to_owned(),
    ];
    for number in 0..dice.below(6) {
        metadata.push(format!("\"unknown-{number}\":{}", json_value(dice, 2)));
    }
    let metadata = shuffled(metadata, dice);
    // The deletion is put between two members, or at one end.
    let place = dice.below(metadata.len() + 1);
    let (before, after) = metadata.split_at(place);
    let marks = shuffled(
        vec![
            r#""deletionTimestamp":"2026-11-23T07:00:00Z""#.to_owned(),
            r#""deletionGracePeriodSeconds":0"#.to_owned(),
        ],
        dice,
    );
    let with = format!("{{{}}}", [before, &marks, after].concat().join(","));
    let without = format!("{{{}}}", metadata.join(","));
    let mut object = vec![
        r#""apiVersion":"x.test/v1""#.to_owned(),
        r#""kind":"ConfigMap""#.to_owned(),
        "metadata".to_owned(),
    ];
    for number in 0..dice.below(4) {
        object.push(format!("\"field-{number}\":{}", json_value(dice, 3)));
    }
    let object = shuffled(object, dice);
    let whole = json_object(&object, dice);
    let place = whole.find("metadata,").or_else(|| whole.find("metadata}"));
    let place = place.expect("the place of the metadata");
    let build = |metadata: &str| {
        let (before, after) = (&whole[..place], &whole[place + "metadata".len()..]);
        format!("{before}\"metadata\": {metadata}{after}\n").into_bytes()
    };
    (build(&with), build(&without))
}

/// A number as protobuf writes it: seven bits a byte, the lowest first.
fn write_varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    to.push(u8::try_from(number).unwrap_or_default());
}
