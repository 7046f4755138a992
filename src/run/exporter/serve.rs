//! Answers requests over HTTP from the last state. A request never leads to one to the cluster.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    time::sleep,
};

use super::{Published, process};
use crate::{
    output::metrics::{Exposition, write},
    report::metrics::began,
    run::timing,
};

/// Connections at once. Prometheus uses one, the kubelet two for its probes.
const CONNECTIONS: usize = 32;
/// A connection ends at the latest after this time, so that no client holds one for ever.
const LONGEST: Duration = Duration::from_secs(60);
/// The pause after a connection could not be accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers all requests. It never ends.
pub(super) async fn answer_all(listener: TcpListener, state: watch::Receiver<Published>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Nobody closes the semaphore.
        let turn = Arc::clone(&room).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let state = state.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let response = answer(request.method(), request.uri().path(), request.headers(), &state);
                async { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(timing::CLIENT)
                .serve_connection(TokioIo::new(stream), answer);
            // A client that disconnects, or that does not speak HTTP, is no failure of this process.
            drop(tokio::time::timeout(LONGEST, connection).await);
            drop(turn);
        });
    }
}

fn answer(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    state: &watch::Receiver<Published>,
) -> Response<Full<Bytes>> {
    if method != Method::GET && method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    }
    match path {
        "/metrics" => metrics(headers, &state.borrow()),
        "/healthz" => plain(StatusCode::OK, "ok\n"),
        "/readyz" if state.borrow().health.is_ready() => plain(StatusCode::OK, "ok\n"),
        "/readyz" => plain(StatusCode::SERVICE_UNAVAILABLE, "no look has succeeded yet\n"),
        _ => plain(StatusCode::NOT_FOUND, "see /metrics, /healthz and /readyz\n"),
    }
}

fn metrics(headers: &HeaderMap, state: &Published) -> Response<Full<Bytes>> {
    let format = accepted(headers);
    let mut own = state.health.families();
    own.push(began(state.began));
    own.extend(process::families());
    let own = own.iter().map(|family| (family, Duration::ZERO));
    let of_cluster = state.cluster.iter().flat_map(|(looked, families)| {
        let since = looked.elapsed();
        families.iter().map(move |family| (family, since))
    });
    let mut text = String::new();
    match write(own.chain(of_cluster), format, &mut text) {
        Ok(()) => response(StatusCode::OK, format.content_type(), text.into()),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", text.to_owned().into())
}

fn response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let content_type = http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// OpenMetrics if the client prefers it, otherwise the format of Prometheus, which every client can read.
fn accepted(headers: &HeaderMap) -> Exposition {
    let (mut open_metrics, mut text) = (0.0_f32, 0.0_f32);
    let values = headers.get_all(header::ACCEPT).iter();
    for range in values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
    {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let quality = parts
            .find_map(|part| part.strip_prefix("q="))
            .map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
        match media {
            "application/openmetrics-text" => open_metrics = open_metrics.max(quality),
            "text/plain" | "text/*" | "*/*" => text = text.max(quality),
            _ => {}
        }
    }
    if open_metrics > 0.0 && open_metrics >= text {
        Exposition::OpenMetrics
    } else {
        Exposition::Prometheus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(accept: &str) -> Exposition {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        accepted(&headers)
    }

    #[test]
    fn the_client_chooses_the_format() {
        for accept in [
            // What Prometheus 2.45 sends.
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
             text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/openmetrics-text",
            "text/plain, application/openmetrics-text",
        ] {
            assert_eq!(format(accept), Exposition::OpenMetrics, "{accept}");
        }
        for accept in [
            "*/*",
            "text/plain",
            "application/openmetrics-text;q=0, text/plain",
            "text/plain;q=0.9, application/openmetrics-text;q=0.4",
            "application/openmetrics-text;q=x",
            "",
        ] {
            assert_eq!(format(accept), Exposition::Prometheus, "{accept}");
        }
        assert_eq!(accepted(&HeaderMap::new()), Exposition::Prometheus);
    }

    #[test]
    fn only_reading_is_allowed_and_other_paths_are_not_found() {
        let (_sender, state) = watch::channel(Published::default());
        let status =
            |method: Method, path| answer(&method, path, &HeaderMap::new(), &state).status().as_u16();
        assert_eq!(status(Method::POST, "/metrics"), 405);
        assert_eq!(status(Method::GET, "/"), 404);
        assert_eq!(status(Method::GET, "/healthz"), 200);
        assert_eq!(status(Method::HEAD, "/metrics"), 200);
        assert_eq!(status(Method::GET, "/readyz"), 503);
    }
}
