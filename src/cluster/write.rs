//! One write: sent once, never again. Whoever sent it has to find out what happened when no answer comes.

use http::{Method, StatusCode};
use serde_json::Value;

use super::{
    Server,
    request::{Failure, METADATA_OBJECT},
};

/// What is known of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The server did it; the object's metadata as it says.
    Done(Value),
    /// The server refused, for certain: nothing was changed by it.
    Refused {
        /// HTTP status.
        code: u16,
        /// Its message.
        message: String,
    },
    /// No answer that tells. It may have been done, and may still be.
    Unanswered(String),
}

/// What the server says of a webhook before anything is stored, though with the code of an error of its own
/// (`kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go`).
const BEFORE_STORING: [&str; 2] = ["failed calling webhook", "conversion webhook for "];

impl Server {
    /// Sends a request that changes something. The answer is asked for as metadata only, so that nothing confidential
    /// comes back. Only [`crate::act`] may use this.
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

/// Whether nothing can have been stored after this answer.
fn is_certain(code: StatusCode, message: &str) -> bool {
    code.is_client_error() && code != StatusCode::REQUEST_TIMEOUT
        || BEFORE_STORING.iter().any(|words| message.contains(words))
}
