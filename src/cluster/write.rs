//! Sends a write once, never twice. Without an answer, the caller must find out what happened.

use http::{Method, StatusCode};
use serde_json::Value;

use super::{
    Server,
    request::{Failure, METADATA_OBJECT},
};

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The write succeeded: the answer is this object. Holds its metadata.
    Done(Value),
    /// The server rejected the write. Nothing was changed.
    Refused {
        /// HTTP status.
        code: u16,
        /// Its message.
        message: String,
    },
    /// The outcome is unknown. The write may have succeeded, or may still succeed.
    Unanswered(String),
}

/// The beginning of the message about an admission webhook that failed. Its status code is that of a server error, but
/// admission runs before anything is stored (`kubernetes/apiserver:pkg/util/webhook/error.go`).
const ADMISSION_FAILED: &str = "Internal error occurred: failed calling webhook ";
/// Part of the message about a conversion that failed. The server converts an object before it stores it, and again for
/// the answer (`kubernetes/apiextensions-apiserver:pkg/apiserver/conversion/webhook_converter.go`).
const CONVERSION_FAILED: &str = "conversion webhook for ";

impl Server {
    /// Sends a request that changes something: the object with this uid, or a new one. The answer holds only metadata, so
    /// nothing confidential comes back. Only [`crate::act`] may use this.
    pub(crate) async fn write(
        &self,
        method: &str,
        uri: &str,
        uid: Option<&str>,
        content_type: &'static str,
        body: &Value,
    ) -> Written {
        let method = match method {
            "PUT" => Method::PUT,
            "POST" => Method::POST,
            _ => Method::PATCH,
        };
        let body = body.to_string().into_bytes();
        let failure = match self.once(method, uri, METADATA_OBJECT, content_type, body).await {
            Ok(answer) => return done(&answer.body, uid),
            Err(failure) => failure,
        };
        match failure {
            Failure::Status {
                code,
                message,
                by_api: true,
                ..
            } if is_certain(code, &message) => Written::Refused {
                code: code.as_u16(),
                message,
            },
            other => Written::Unanswered(other.why().message()),
        }
    }
}

/// The conclusion from an answer with a code of success. Only the object itself proves that the API server stored it: a proxy
/// can answer with a page of its own, and with success.
fn done(body: &[u8], uid: Option<&str>) -> Written {
    let object = match serde_json::from_slice::<Value>(body) {
        Ok(object) => object,
        Err(error) => return Written::Unanswered(format!("the answer is not JSON: {error}")),
    };
    let is_status = object.get("kind").and_then(Value::as_str) == Some("Status");
    let Some(metadata) = object
        .get("metadata")
        .filter(|metadata| metadata.is_object() && !is_status)
    else {
        return Written::Unanswered("the answer is not an object".into());
    };
    let answered = metadata.get("uid").and_then(Value::as_str).unwrap_or_default();
    if uid.is_some_and(|uid| uid != answered) {
        return Written::Unanswered("the answer is about another object".into());
    }
    Written::Done(metadata.clone())
}

/// Whether this error proves that nothing was stored. An error can also come after that, when the server reads or
/// converts what it has stored for its answer.
fn is_certain(code: StatusCode, message: &str) -> bool {
    let is_request_refused = code.is_client_error() && code != StatusCode::REQUEST_TIMEOUT;
    is_request_refused && !message.contains(CONVERSION_FAILED) || message.starts_with(ADMISSION_FAILED)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::{Written, done, is_certain};

    #[test]
    fn only_the_object_itself_proves_that_it_was_written() {
        let object =
            br#"{"kind": "PartialObjectMetadata", "metadata": {"uid": "u1", "resourceVersion": "8"}}"#;
        assert!(matches!(done(object, Some("u1")), Written::Done(_)));
        assert!(matches!(done(object, None), Written::Done(_)));
        for (body, uid) in [
            (&object[..], Some("u2")),
            (br#"{"metadata": {}}"#, Some("u1")),
            (br#"{"metadata": []}"#, None),
            (
                br#"{"kind": "Status", "metadata": {}, "status": "Success"}"#,
                None,
            ),
            (b"[]", None),
            (br#""ok""#, None),
            (b"7", None),
            (b"null", None),
            (b"<html>", None),
            (b"", None),
        ] {
            let written = done(body, uid);
            assert!(matches!(written, Written::Unanswered(_)), "{written:?}");
        }
    }

    #[test]
    fn an_error_after_the_write_is_no_refusal() {
        let conversion = r#"conversion webhook for x.test/v1, Kind=Widget failed: Post "https://x": EOF"#;
        let hostile = format!("{conversion}; failed calling webhook \"a.test\"");
        let admission =
            r#"Internal error occurred: failed calling webhook "a.test": failed to call webhook: EOF"#;
        for (code, message, certain) in [
            (StatusCode::FORBIDDEN, "no", true),
            (StatusCode::CONFLICT, "changed", true),
            (StatusCode::INTERNAL_SERVER_ERROR, admission, true),
            (StatusCode::INTERNAL_SERVER_ERROR, conversion, false),
            (StatusCode::INTERNAL_SERVER_ERROR, &hostile, false),
            (StatusCode::BAD_REQUEST, conversion, false),
            (StatusCode::INTERNAL_SERVER_ERROR, "unable to decode", false),
            (StatusCode::REQUEST_TIMEOUT, "late", false),
            (StatusCode::GATEWAY_TIMEOUT, "late", false),
        ] {
            assert_eq!(is_certain(code, message), certain, "{code}: {message}");
        }
    }
}
