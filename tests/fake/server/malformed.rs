//! Pages that break the contract: wrong types in JSON, garbage in protobuf.
//!
//! Pages with items begin with one valid object, `db/good` with finalizer `a/b`, so that a test can check it.

/// A page that no server should send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Empty,
    NotJson,
    /// Valid JSON of another structure.
    NotAList,
    /// Another kind, such as a `Status` with code 200 from a wrong proxy.
    StatusWith200,
    NoItems,
    ItemsNull,
    ItemsObject,
    ItemNull,
    ItemNumber,
    MetadataNull,
    MetadataMissing,
    NameNumber,
    NameMissing,
    FinalizersNumber,
    FinalizersOfNumbers,
    FinalizersNull,
    DeletionTimestampWord,
    DeletionTimestampNumber,
    GraceText,
    ContinueNumber,
    ListMetadataNull,
    LoneSurrogate,
    InvalidUtf8,
    DuplicateKeys,
    DeepNesting,
    TrailingText,
    ProtobufNoMagic,
    ProtobufMagicOnly,
    ProtobufGarbage,
    ProtobufOpenVarint,
    ProtobufLengthBeyondEnd,
    ProtobufWrongWireType,
    ProtobufInvalidUtf8,
    ProtobufStatus,
}

impl Malformed {
    /// All of them, for tests that check each.
    pub const ALL: &[Malformed] = &[
        Malformed::Empty,
        Malformed::NotJson,
        Malformed::NotAList,
        Malformed::StatusWith200,
        Malformed::NoItems,
        Malformed::ItemsNull,
        Malformed::ItemsObject,
        Malformed::ItemNull,
        Malformed::ItemNumber,
        Malformed::MetadataNull,
        Malformed::MetadataMissing,
        Malformed::NameNumber,
        Malformed::NameMissing,
        Malformed::FinalizersNumber,
        Malformed::FinalizersOfNumbers,
        Malformed::FinalizersNull,
        Malformed::DeletionTimestampWord,
        Malformed::DeletionTimestampNumber,
        Malformed::GraceText,
        Malformed::ContinueNumber,
        Malformed::ListMetadataNull,
        Malformed::LoneSurrogate,
        Malformed::InvalidUtf8,
        Malformed::DuplicateKeys,
        Malformed::DeepNesting,
        Malformed::TrailingText,
        Malformed::ProtobufNoMagic,
        Malformed::ProtobufMagicOnly,
        Malformed::ProtobufGarbage,
        Malformed::ProtobufOpenVarint,
        Malformed::ProtobufLengthBeyondEnd,
        Malformed::ProtobufWrongWireType,
        Malformed::ProtobufInvalidUtf8,
        Malformed::ProtobufStatus,
    ];

    pub fn is_protobuf(self) -> bool {
        matches!(
            self,
            Malformed::ProtobufNoMagic
                | Malformed::ProtobufMagicOnly
                | Malformed::ProtobufGarbage
                | Malformed::ProtobufOpenVarint
                | Malformed::ProtobufLengthBeyondEnd
                | Malformed::ProtobufWrongWireType
                | Malformed::ProtobufInvalidUtf8
                | Malformed::ProtobufStatus
        )
    }

    pub fn body(self) -> Vec<u8> {
        match self {
            Malformed::Empty => Vec::new(),
            Malformed::NotJson => b"upstream connect error or disconnect/reset before headers".into(),
            Malformed::NotAList => b"[true, 7]".into(),
            Malformed::StatusWith200 => {
                br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","code":500}"#.into()
            }
            Malformed::NoItems => list(r#""metadata":{}"#),
            Malformed::ItemsNull => list(r#""metadata":{},"items":null"#),
            Malformed::ItemsObject => list(r#""metadata":{},"items":{}"#),
            Malformed::ItemNull => item("null"),
            Malformed::ItemNumber => item("7"),
            Malformed::MetadataNull => item(r#"{"metadata":null}"#),
            Malformed::MetadataMissing => item("{}"),
            Malformed::NameNumber => item(r#"{"metadata":{"name":7,"finalizers":["a/b"]}}"#),
            Malformed::NameMissing => item(r#"{"metadata":{"namespace":"db","finalizers":["a/b"]}}"#),
            Malformed::FinalizersNumber => meta(r#""finalizers":7"#),
            Malformed::FinalizersOfNumbers => meta(r#""finalizers":[7,null]"#),
            Malformed::FinalizersNull => meta(r#""finalizers":null"#),
            Malformed::DeletionTimestampWord => meta(r#""finalizers":["a/b"],"deletionTimestamp":"yesterday""#),
            Malformed::DeletionTimestampNumber => meta(r#""finalizers":["a/b"],"deletionTimestamp":1767225600"#),
            Malformed::GraceText => {
                meta(r#""deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":"long""#)
            }
            Malformed::ContinueNumber => list(r#""metadata":{"continue":7},"items":[]"#),
            Malformed::ListMetadataNull => list(r#""metadata":null,"items":[]"#),
            Malformed::LoneSurrogate => meta(r#""finalizers":["a/\ud800"]"#),
            Malformed::InvalidUtf8 => {
                let mut body = meta(r#""finalizers":["a/@"]"#);
                let at = body.iter().position(|&byte| byte == b'@').unwrap();
                body[at] = 0xff;
                body
            }
            Malformed::DuplicateKeys => meta(r#""finalizers":["a/b"],"finalizers":["c/d"],"name":"twice""#),
            Malformed::DeepNesting => {
                meta(&format!(r#""annotations":{}{}"#, "[".repeat(100_000), "]".repeat(100_000)))
            }
            Malformed::TrailingText => [list(r#""metadata":{},"items":[]"#), b"<html>".into()].concat(),
            Malformed::ProtobufNoMagic => b"\x0a\x03v1\0\x12\x00".into(),
            Malformed::ProtobufMagicOnly => b"k8s\0".into(),
            Malformed::ProtobufGarbage => {
                let noise = (0_u32..400).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]);
                b"k8s\0".iter().copied().chain(noise).collect()
            }
            Malformed::ProtobufOpenVarint => b"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".into(),
            Malformed::ProtobufLengthBeyondEnd => b"k8s\0\x12\xff\xff\xff\xff\x0f\x12\x02".into(),
            // items[0].metadata.name as a number
            Malformed::ProtobufWrongWireType => b"k8s\0\x12\x06\x12\x04\x0a\x02\x08\x07".into(),
            Malformed::ProtobufInvalidUtf8 => b"k8s\0\x12\x08\x12\x06\x0a\x04\x0a\x02\xff\xfe".into(),
            // runtime.Unknown around an empty Status
            Malformed::ProtobufStatus => b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12\x00\x1a\x00\x22\x00".into(),
        }
    }
}

fn list(rest: &str) -> Vec<u8> {
    format!(r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",{rest}}}"#).into_bytes()
}

fn item(second: &str) -> Vec<u8> {
    list(&format!(
        r#""metadata":{{"resourceVersion":"1"}},"items":[{{"metadata":{{"name":"good","namespace":"db","uid":"0001","finalizers":["a/b"]}}}},{second}]"#
    ))
}

fn meta(fields: &str) -> Vec<u8> {
    item(&format!(
        r#"{{"metadata":{{"name":"odd","namespace":"db","uid":"0002",{fields}}}}}"#
    ))
}
