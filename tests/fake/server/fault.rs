//! Faults. Each was seen in the field, and a healthy server does not have it.

use std::time::Duration;

use super::malformed::Malformed;
use super::status::{self, Status, status};

/// A wrong response, or none.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A correct error of the API server.
    Status(Status),
    /// 429 in plain text as flow control sends it, with or without `Retry-After` (seconds, a date, or
    /// nonsense).
    TooManyRequests { retry_after: Option<&'static str> },
    /// 410: the continue token has expired; the Status has a new token, or not.
    Expired { fresh_token: bool },
    /// The correct `Content-Length` (or an unfinished chunk), half of the body, then the end of the connection.
    TruncateBody,
    /// The connection ends without a response.
    CloseBeforeHeaders,
    /// The connection is reset without a response.
    ResetBeforeHeaders,
    /// Half of the body, then a reset.
    ResetMidBody,
    /// No response until the client stops waiting.
    HangBeforeHeaders,
    /// Half of the body, then silence.
    HangMidBody,
    /// The correct response after a delay.
    Delay(Duration),
    /// The correct response, `bytes` at a time with a pause after each.
    Trickle { bytes: usize, pause: Duration },
    /// Exactly these bytes.
    Body {
        code: u16,
        content_type: &'static str,
        body: Vec<u8>,
    },
    /// 302, as from a login page in front of the API.
    Redirect(String),
    /// A page that no server should send; see [`Malformed`].
    Malformed(Malformed),
    /// The first page with the same continue token every time.
    SameToken,
    /// Endless empty pages, each with a new continue token.
    EndlessPages,
    /// The correct response with a `Warning` header.
    Warning(String),
    /// The server does what it was asked for, and then answers wrong.
    Stored(Box<Fault>),
}

impl Fault {
    /// 403 with RBAC's message.
    pub fn forbidden(what: &str) -> Self {
        let message = format!(
            r#"{what} is forbidden: User "alice" cannot list resource "{what}" in API group "" at the cluster scope"#
        );
        Fault::Status(status(403, "Forbidden", message))
    }

    /// The server does what it was asked for, and then answers with this.
    pub fn stored(self) -> Self {
        Fault::Stored(Box::new(self))
    }

    pub fn unauthorized() -> Self {
        Fault::Status(status(401, "Unauthorized", "Unauthorized"))
    }

    /// 404 as for a type whose CRD was just deleted.
    pub fn not_found() -> Self {
        Fault::Status(status::not_found())
    }

    /// 406 for every request. Add `.when_accept("as=Partial…")` to reject only metadata-only requests.
    pub fn not_acceptable() -> Self {
        Fault::Status(status::not_acceptable())
    }

    /// 500 with this text, as for an unavailable conversion webhook or an object that cannot be decrypted.
    pub fn internal(message: impl Into<String>) -> Self {
        Fault::Status(status(500, "InternalError", message))
    }

    /// 500 of an unavailable conversion webhook.
    pub fn conversion_webhook(api_version: &str, kind: &str) -> Self {
        Fault::internal(format!(
            r#"conversion webhook for {api_version}, Kind={kind} failed: Post "https://convert.example.svc:443/convert?timeout=30s": service "convert" not found"#
        ))
    }

    /// 503 of the aggregator for an unavailable API: plain text, no Status.
    pub fn unavailable() -> Self {
        Fault::text(503, "service unavailable\n")
    }

    /// 504 for a request that took too long.
    pub fn gateway_timeout() -> Self {
        let message = "request did not complete within requested timeout - context deadline exceeded";
        Fault::Status(status(504, "Timeout", message))
    }

    /// The page of a proxy in front of the API server, with 200 or 502.
    pub fn html(code: u16) -> Self {
        let body = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
        Fault::Body {
            code,
            content_type: "text/html",
            body: body.into(),
        }
    }

    pub fn text(code: u16, body: &str) -> Self {
        Fault::Body {
            code,
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
        }
    }

    /// 200 with this body, marked as JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Fault::Body {
            code: 200,
            content_type: "application/json",
            body: body.into(),
        }
    }
}
