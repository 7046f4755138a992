//! A response, and how it is sent. Every byte on the wire is decided here or in `connection.rs`.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

/// A response before it is written.
#[derive(Clone, Debug)]
pub struct Reply {
    pub code: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub delay: Duration,
    pub delivery: Delivery,
}

/// How a response is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    /// Sent up to a position, and then this.
    Cut(Place, End),
    /// All of it, without a length, and then silence: a watch without more events.
    Open,
    /// This many bytes of the body at a time, with a pause after each.
    Trickle(usize, Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    BeforeHead,
    HalfOfBody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A normal end of the connection (FIN).
    Close,
    /// A reset of the connection (RST).
    Reset,
    /// Silence until the client disconnects.
    Hang,
}

impl Reply {
    pub fn new(code: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Reply {
            code,
            content_type,
            headers: Vec::new(),
            body,
            delay: Duration::ZERO,
            delivery: Delivery::Whole,
        }
    }

    pub fn json(code: u16, body: &serde_json::Value) -> Self {
        Reply::new(code, "application/json", serde_json::to_vec(body).unwrap())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The head with the true `Content-Length`, or with `Transfer-Encoding: chunked`.
    pub fn head(&self, date: Option<Timestamp>, chunked: bool) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.code, phrase(self.code));
        let mut line = |name: &str, value: &str| {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        };
        line("Content-Type", self.content_type);
        if let Some(date) = date {
            line(
                "Date",
                &DateTimePrinter::new().timestamp_to_rfc9110_string(&date).unwrap(),
            );
        }
        for (name, value) in &self.headers {
            line(name, value);
        }
        if self.delivery == Delivery::Open {
            line("Connection", "close");
        } else if chunked {
            line("Transfer-Encoding", "chunked");
        } else {
            line("Content-Length", &self.body.len().to_string());
        }
        head.push_str("\r\n");
        head
    }
}

/// The body in chunks, as Go sends every response of more than 2 KB.
pub fn chunks(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + body.len() / 1000 + 32);
    for chunk in body.chunks(32 * 1024) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

fn phrase(code: u16) -> &'static str {
    match code {
        200 => "OK",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Some Status",
    }
}
