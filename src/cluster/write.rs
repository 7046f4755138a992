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
    /// The write succeeded. Holds the metadata of the object from the answer.
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

/// Messages about a webhook that failed before anything was stored. Their status code is that of a server error
/// (`kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go`).
const BEFORE_STORING: [&str; 2] = ["failed calling webhook", "conversion webhook for "];

impl Server {
    /// Sends a request that changes something. The answer holds only metadata, so nothing confidential comes back. Only
    /// [`crate::act`] may use this.
    pub(crate) async fn write(
        &self,
        method: &str,
        uri: &str,
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
            Ok(answer) => match serde_json::from_slice::<Value>(&answer.body) {
                Ok(mut object) => return Written::Done(object["metadata"].take()),
                Err(error) => return Written::Unanswered(format!("the answer is not JSON: {error}")),
            },
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

/// Whether this answer proves that nothing was stored.
fn is_certain(code: StatusCode, message: &str) -> bool {
    code.is_client_error() && code != StatusCode::REQUEST_TIMEOUT
        || BEFORE_STORING.iter().any(|words| message.contains(words))
}
