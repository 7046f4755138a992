//! Sends one request, with its time limit and its few retries, and interprets a failure.
//!
//! kube retries 503 for minutes by default, for every verb. A dead aggregated API answers 503, and is the classic
//! reason for a stuck namespace. So kube's retry is off, and this module retries instead.

use std::{sync::atomic::Ordering, time::Duration};

use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use kube::client::Body;
use serde::{Deserialize, Deserializer};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep, timeout},
};

use super::{connect::Connected, decode};
use crate::{error::Error, snapshot::Why};

/// Requests only the metadata of a list's items, in protobuf, or in JSON from servers without it. Protobuf is smaller
/// and three times as fast to parse. Custom resources have it too, because client-go's metadata client has always used
/// this form.
pub(super) const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
     application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// Requests only the metadata of a list's items, in JSON.
pub(super) const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// Requests only the metadata of one object.
pub(super) const METADATA_OBJECT: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// Requests whole objects.
pub(super) const WHOLE: &str = "application/json";
/// Requests all types of all groups in one document, or the old documents from servers without it.
pub(super) const DISCOVERY: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// The largest answer. 500 objects of the largest size that etcd accepts are 750 MB, and no server sends that. A larger
/// answer means that the server ignores `limit`, and it would fill the memory.
const MAX_ANSWER: usize = 256 << 20;
/// A larger answer is received alone, so that several at once do not fill the memory. A page of 500 Pods has 5 MB.
const LARGE_ANSWER: usize = 16 << 20;
/// How many characters of a server's message are quoted. Real messages are shorter, and a page of text would bury the
/// rest of the result.
const MAX_MESSAGE: usize = 2_000;
/// How often a request is sent in total if the server answers 429. The server says how long to wait, up to 32 s
/// (`kubernetes/apiserver:pkg/util/flowcontrol/dropped_requests_tracker.go`).
const THROTTLED_TRIES: u32 = 5;
const MAX_WAIT: Duration = Duration::from_secs(32);
/// How often a request is sent in total if the server answers 503 or 504. An API server that restarts is back soon, a
/// dead backend is not.
const UNAVAILABLE_TRIES: u32 = 2;
const UNAVAILABLE_WAIT: Duration = Duration::from_millis(300);

/// One API server.
pub struct Server {
    /// The connection to it.
    pub connected: Connected,
}

/// A successful answer.
pub(super) struct Answer {
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// The time on the server's clock.
    pub(super) date: Option<Timestamp>,
    /// Held by a large answer until it is dropped.
    _turn: Option<SemaphorePermit<'static>>,
}

#[cfg(test)]
impl Answer {
    /// An answer in JSON.
    pub(super) fn json(body: &serde_json::Value) -> Self {
        Answer {
            content_type: WHOLE.into(),
            body: body.to_string().into_bytes(),
            date: None,
            _turn: None,
        }
    }
}

/// The turn of the one large answer.
static LARGE_ANSWERS: Semaphore = Semaphore::const_new(1);

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection failed, with a message for the user.
    Connection(Box<Error>),
    /// No answer within the limit.
    TimedOut(Duration),
    /// The server answered with an error.
    Status {
        code: StatusCode,
        /// Its message, or the beginning of another body.
        message: String,
        /// With 410: the token to continue the list at a newer state.
        next: Option<String>,
        retry_after: Option<Duration>,
        /// Whether an API server answered, and not a proxy in front of it.
        by_api: bool,
    },
    /// The answer broke off, or is too large.
    Body(String),
}

impl Failure {
    /// Whether the server answered with this code.
    pub(super) fn is(&self, wanted: StatusCode) -> bool {
        matches!(self, Failure::Status { code, .. } if *code == wanted)
    }

    /// Whether an API server says that it does not exist. The 404 of a proxy proves nothing.
    pub(super) fn is_not_found(&self) -> bool {
        self.is(StatusCode::NOT_FOUND) && matches!(self, Failure::Status { by_api: true, .. })
    }

    /// The failure as the reason of a gap.
    pub(super) fn why(&self) -> Why {
        match self {
            Failure::Connection(error) => Why::Connection(error.to_string()),
            Failure::TimedOut(limit) => Why::TimedOut(*limit),
            Failure::Body(message) => Why::Undecodable(message.clone()),
            Failure::Status {
                code: StatusCode::NOT_FOUND,
                message,
                by_api: false,
                ..
            } => Why::ServerError(message.clone()),
            Failure::Status { code, message, .. } => why_of(*code, message.clone()),
        }
    }
}

/// The answer of an API server with this code and message as the reason of a gap.
pub(super) fn why_of(code: StatusCode, message: String) -> Why {
    match code {
        StatusCode::UNAUTHORIZED => Why::Unauthorized(message),
        StatusCode::FORBIDDEN => Why::Forbidden(message),
        StatusCode::NOT_FOUND => Why::Vanished,
        StatusCode::TOO_MANY_REQUESTS => Why::Throttled(message),
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT | StatusCode::BAD_GATEWAY => {
            Why::Unavailable(message)
        }
        _ => Why::ServerError(message),
    }
}

#[derive(Deserialize)]
struct Status {
    kind: Option<String>,
    message: Option<String>,
    reason: Option<String>,
    metadata: Option<StatusMeta>,
    details: Option<StatusDetails>,
}

#[derive(Deserialize)]
struct StatusMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusDetails {
    retry_after_seconds: Option<u64>,
    #[serde(default, deserialize_with = "or_default")]
    causes: Vec<StatusCause>,
}

#[derive(Deserialize)]
struct StatusCause {
    message: Option<String>,
}

impl Server {
    /// How many requests were sent to it, those of retries included.
    pub fn requests(&self) -> u64 {
        self.connected.sent.load(Ordering::Relaxed)
    }

    /// Sends a GET for `path`, and retries where that is safe and useful.
    pub(super) async fn get(&self, path: &str, accept: &'static str) -> Result<Answer, Failure> {
        self.retrying(|| self.once(http::Method::GET, path, accept, WHOLE, Vec::new()))
            .await
    }

    /// Sends a review by POST: a question that the server answers and does not store.
    pub(super) async fn review(&self, path: &str, body: Vec<u8>) -> Result<Answer, Failure> {
        self.retrying(|| self.once(http::Method::POST, path, WHOLE, WHOLE, body.clone()))
            .await
    }

    async fn retrying<F>(&self, mut send: impl FnMut() -> F) -> Result<Answer, Failure>
    where
        F: Future<Output = Result<Answer, Failure>>,
    {
        let mut tries = 0;
        loop {
            tries += 1;
            let failure = match send().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let wait = match &failure {
                Failure::Status {
                    code: StatusCode::TOO_MANY_REQUESTS,
                    retry_after,
                    ..
                } if tries < THROTTLED_TRIES => {
                    // Without Retry-After: one second, then two, then four.
                    retry_after
                        .unwrap_or(Duration::from_secs(1 << (tries - 1)))
                        .min(MAX_WAIT)
                }
                Failure::Status {
                    code: StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT,
                    ..
                } if tries < UNAVAILABLE_TRIES => UNAVAILABLE_WAIT,
                _ => return Err(failure),
            };
            sleep(wait).await;
        }
    }

    /// Sends the request once, without a retry.
    pub(super) async fn once(
        &self,
        method: http::Method,
        path: &str,
        accept: &'static str,
        content_type: &'static str,
        body: Vec<u8>,
    ) -> Result<Answer, Failure> {
        let whole = self.send(method, path, accept, content_type, body);
        match self.connected.request_timeout {
            None => whole.await,
            Some(limit) => timeout(limit, whole)
                .await
                .unwrap_or(Err(Failure::TimedOut(limit))),
        }
    }

    async fn send(
        &self,
        method: http::Method,
        path: &str,
        accept: &'static str,
        content_type: &'static str,
        body: Vec<u8>,
    ) -> Result<Answer, Failure> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, content_type)
            .body(Body::from(body))
            .map_err(|error| Failure::Body(format!("{path} is not a path: {error}")))?;
        self.connected.sent.fetch_add(1, Ordering::Relaxed);
        let response = self
            .connected
            .client
            .send(request)
            .await
            .map_err(|error| Failure::Connection(Box::new(self.connected.unreachable(&error))))?;
        let (head, body) = response.into_parts();
        let (body, turn) = receive(body).await?;
        if head.status.is_success() {
            let content_type = text(&head.headers, header::CONTENT_TYPE)
                .unwrap_or_default()
                .to_owned();
            return Ok(Answer {
                content_type,
                date: date(&head.headers),
                body,
                _turn: turn,
            });
        }
        Err(refusal(head.status, &head.headers, &body))
    }
}

/// Receives a body. A body that turns out to be large waits for its turn, and returns it.
async fn receive(mut body: Body) -> Result<(Vec<u8>, Option<SemaphorePermit<'static>>), Failure> {
    let mut received = Vec::new();
    let mut turn = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::Body("the answer broke off before its end".into()))?;
        let Some(data) = frame.data_ref() else { continue };
        let size = received.len() + data.len();
        if size > MAX_ANSWER {
            let limit = MAX_ANSWER >> 20;
            return Err(Failure::Body(format!("the answer is larger than {limit} MB")));
        }
        if size > LARGE_ANSWER && turn.is_none() {
            // Nobody closes the semaphore. Whoever has the turn needs no other answer before it is dropped.
            turn = LARGE_ANSWERS.acquire().await.ok();
        }
        received.extend_from_slice(data);
    }
    Ok((received, turn))
}

fn refusal(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
    let status = serde_json::from_slice::<Status>(body).ok();
    let from_header = text(headers, header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
    // The API server's answer to a path that none of its servers knows, for example after a CRD was deleted.
    let by_api = body.starts_with(b"404 page not found")
        || status
            .as_ref()
            .is_some_and(|status| status.kind.as_deref() == Some("Status"));
    let (message, next, from_body) = match status {
        Some(status) => (
            status
                .message
                .filter(|message| !message.is_empty())
                .map(|message| {
                    // Only the causes name the objects that cannot be read.
                    let causes = match (status.reason.as_deref(), &status.details) {
                        (Some("StorageReadError"), Some(details)) => details.causes.as_slice(),
                        _ => &[],
                    };
                    let all: Vec<_> = std::iter::once(&*message)
                        .chain(causes.iter().filter_map(|cause| cause.message.as_deref()))
                        .collect();
                    quoted(&all.join("; "))
                }),
            status
                .metadata
                .and_then(|metadata| metadata.next)
                .filter(|token| !token.is_empty()),
            status.details.and_then(|details| details.retry_after_seconds),
        ),
        None => (None, None, None),
    };
    Failure::Status {
        code,
        message: message.unwrap_or_else(|| format!("{code}: {}", decode::excerpt(body))),
        next,
        by_api,
        retry_after: from_header.or(from_body).map(Duration::from_secs),
    }
}

/// Deserializes `null` as the default. Go writes an empty list as `null`, and so do several documents of the API.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The beginning of a server's message, up to the limit.
pub(super) fn quoted(message: &str) -> String {
    let cut = message.char_indices().nth(MAX_MESSAGE);
    match cut.and_then(|(end, _)| message.get(..end)) {
        None => message.to_owned(),
        Some(beginning) => format!("{beginning}..."),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    DateTimeParser::new()
        .parse_timestamp(text(headers, header::DATE)?)
        .ok()
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::{Body, LARGE_ANSWER, receive};

    #[test]
    fn large_answers_are_received_one_after_the_other() {
        let mut context = Context::from_waker(Waker::noop());
        let large = || Body::from(vec![b'x'; LARGE_ANSWER + 1]);
        let mut first = pin!(receive(large()));
        let Poll::Ready(Ok((body, turn))) = first.as_mut().poll(&mut context) else {
            panic!("the body is there");
        };
        assert_eq!((body.len(), turn.is_some()), (LARGE_ANSWER + 1, true));
        let mut second = pin!(receive(large()));
        assert!(second.as_mut().poll(&mut context).is_pending());
        let mut small = pin!(receive(Body::from(b"{}".to_vec())));
        assert!(matches!(
            small.as_mut().poll(&mut context),
            Poll::Ready(Ok((_, None)))
        ));
        drop(turn);
        assert!(second.as_mut().poll(&mut context).is_ready());
    }
}
