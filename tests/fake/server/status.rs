//! The API server's own error responses: a `Status` object as the body.

use serde_json::json;

use super::reply::Reply;

/// A `Status` response.
#[derive(Clone, Debug)]
pub struct Status {
    pub code: u16,
    pub reason: String,
    pub message: String,
    /// Sent as a header and as `details.retryAfterSeconds`.
    pub retry_after: Option<u32>,
    /// `metadata.continue`, which only a 410 during a list has.
    pub continue_token: Option<String>,
}

/// A `Status` with an HTTP code, a reason such as `Forbidden`, and a message.
pub fn status(code: u16, reason: &str, message: impl Into<String>) -> Status {
    Status {
        code,
        reason: reason.into(),
        message: message.into(),
        retry_after: None,
        continue_token: None,
    }
}

impl Status {
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(super) fn continued_at(mut self, token: Option<String>) -> Self {
        self.continue_token = token;
        self
    }

    pub(super) fn reply(&self) -> Reply {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": self.message, "reason": self.reason, "code": self.code,
        });
        if let Some(token) = &self.continue_token {
            body["metadata"]["continue"] = json!(token);
        }
        if let Some(seconds) = self.retry_after {
            body["details"] = json!({ "retryAfterSeconds": seconds });
        }
        let reply = Reply::json(self.code, &body);
        match self.retry_after {
            Some(seconds) => reply.header("Retry-After", &seconds.to_string()),
            None => reply,
        }
    }
}

/// The response of a server to an unknown path.
pub(super) fn not_found() -> Status {
    status(
        404,
        "NotFound",
        "the server could not find the requested resource",
    )
}

pub(super) fn not_acceptable() -> Status {
    let message = "only the following media types are accepted: application/json, application/yaml, \
                   application/vnd.kubernetes.protobuf, application/cbor";
    status(406, "NotAcceptable", message)
}
