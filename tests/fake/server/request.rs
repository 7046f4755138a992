//! A request as it arrived, and as tests read it later.

use std::time::Instant;

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub path_and_query: String,
    /// All headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    pub accept: String,
    pub user_agent: String,
    pub body: Vec<u8>,
    /// The number of its connection, counted from 0.
    pub connection: usize,
    pub at: Instant,
}

impl Recorded {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.path_and_query
            .split_once('?')
            .map_or(&*self.path_and_query, |(path, _)| path)
    }

    /// A query parameter, decoded as Go does: an unescaped `+` is a space.
    pub fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.path_and_query.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescape(key) == name).then(|| unescape(value))
        })
    }

    /// The first header with that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }

    /// Reads a request head without the empty line at its end. `None` if it is not HTTP.
    pub(super) fn parse(head: &str, connection: usize) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?, first.next()?);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut recorded = Recorded {
            method: method.to_owned(),
            path_and_query: target.to_owned(),
            headers,
            accept: String::new(),
            user_agent: String::new(),
            body: Vec::new(),
            connection,
            at: Instant::now(),
        };
        recorded.accept = recorded.header("accept").unwrap_or_default().to_owned();
        recorded.user_agent = recorded.header("user-agent").unwrap_or_default().to_owned();
        Some(recorded)
    }

    /// The length of the body after the head. Chunked bodies are not supported; our clients send none.
    pub(super) fn content_length(&self) -> usize {
        self.header("content-length")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }
}

pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
