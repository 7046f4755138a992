//! What can go wrong. Each fault is something that was seen in the field, and that a healthy server will not do.

use std::time::Duration;

use super::malformed::Malformed;
use super::status::{self, Status, status};

/// One way to answer wrongly, or not at all.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A proper error of the API server.
    Status(Status),
    /// 429 in plain text as flow control sends it, with or without `Retry-After` (seconds, a date, or nonsense).
    TooManyRequests { retry_after: Option<&'static str> },
    /// 410: the continue token is too old; with a fresh token in the Status, or without.
    Expired { fresh_token: bool },
    /// The right `Content-Length` (or an unfinished chunk), half of the body, end of the connection.
    TruncateBody,
    /// The connection ends in place of an answer.
    CloseBeforeHeaders,
    /// The connection is reset in place of an answer.
    ResetBeforeHeaders,
    /// Half of the body, then a reset.
    ResetMidBody,
    /// Silence in place of an answer, until the client gives up.
    HangBeforeHeaders,
    /// Half of the body, then silence.
    HangMidBody,
    /// The right answer, after a while.
    Delay(Duration),
    /// The right answer, `bytes` at a time with a pause after each.
    Trickle { bytes: usize, pause: Duration },
    /// This and nothing else.
    Body {
        code: u16,
        content_type: &'static str,
        body: Vec<u8>,
    },
    /// 302, as a login page in front of the API does.
    Redirect(String),
    /// A page that no server should send; see [`Malformed`].
    Malformed(Malformed),
    /// The first page with the same continue token, again and again.
    SameToken,
    /// Empty pages without end, each with a new continue token.
    EndlessPages,
    /// What is right, with a `Warning` header beside it.
    Warning(String),
}

impl Fault {
    /// 403 in RBAC's words.
    pub fn forbidden(what: &str) -> Self {
        let message = format!(
            r#"{what} is forbidden: User "alice" cannot list resource "{what}" in API group "" at the cluster scope"#
        );
        Fault::Status(status(403, "Forbidden", message))
    }

    pub fn unauthorized() -> Self {
        Fault::Status(status(401, "Unauthorized", "Unauthorized"))
    }

    /// 404 as a type answers whose CRD has just gone.
    pub fn not_found() -> Self {
        Fault::Status(status::not_found())
    }

    /// 406, whatever was asked for; add `.when_accept("as=Partial…")` to refuse metadata-only requests alone.
    pub fn not_acceptable() -> Self {
        Fault::Status(status::not_acceptable())
    }

    /// 500 with this text, as a dead conversion webhook or an object that cannot be decrypted gives.
    pub fn internal(message: impl Into<String>) -> Self {
        Fault::Status(status(500, "InternalError", message))
    }

    /// 500 of a dead conversion webhook.
    pub fn conversion_webhook(api_version: &str, kind: &str) -> Self {
        Fault::internal(format!(
            r#"conversion webhook for {api_version}, Kind={kind} failed: Post "https://convert.example.svc:443/convert?timeout=30s": service "convert" not found"#
        ))
    }

    /// 503 as the aggregator answers for a dead API: plain text, no Status.
    pub fn unavailable() -> Self {
        Fault::text(503, "service unavailable\n")
    }

    /// 504 of a request that took too long.
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

    /// 200, said to be JSON, with this body.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Fault::Body {
            code: 200,
            content_type: "application/json",
            body: body.into(),
        }
    }
}
