//! Malformed pages are malformed only in the way of their names.

use serde_json::Value;

use crate::client::{PROTOBUF, get};
use crate::server::{Fake, Fault, Kind, Malformed};

#[test]
fn each_malformed_page_is_sent_unchanged() {
    for &malformed in Malformed::ALL {
        let server = Fake::new()
            .with_type(Kind::new("", "v1", "pods").namespaced())
            .on("/api/v1/pods", Fault::Malformed(malformed))
            .start();
        let answer = get(&server, "/api/v1/pods", PROTOBUF);
        assert_eq!(answer.code, 200);
        assert_eq!(answer.body, malformed.body());
        let protobuf = answer.header("Content-Type") == Some("application/vnd.kubernetes.protobuf");
        assert_eq!(protobuf, malformed.is_protobuf(), "{malformed:?}");
    }
}

#[test]
fn wrong_types_are_in_valid_json() {
    let unreadable = [
        Malformed::Empty,
        Malformed::NotJson,
        Malformed::LoneSurrogate,
        Malformed::InvalidUtf8,
        Malformed::DeepNesting,
        Malformed::TrailingText,
    ];
    for &malformed in Malformed::ALL.iter().filter(|malformed| !malformed.is_protobuf()) {
        let parsed = serde_json::from_slice::<Value>(&malformed.body());
        assert_eq!(parsed.is_err(), unreadable.contains(&malformed), "{malformed:?}");
    }
    let body: Value = serde_json::from_slice(&Malformed::FinalizersNumber.body()).unwrap();
    assert_eq!(body["items"][0]["metadata"]["name"], "good");
    assert_eq!(body["items"][1]["metadata"]["finalizers"], 7);
}
