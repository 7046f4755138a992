//! Each fault looks on the wire as it should.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::client::{JSON, PARTIAL, get, page};
use crate::server::{Fake, Fault, Kind, Rule, Running, object, status};

const PODS: &str = "/api/v1/pods";

fn with(fault: impl Into<Rule>) -> Running {
    fake().on(PODS, fault).start()
}

fn fake() -> Fake {
    let fake = Fake::new().with_type(Kind::new("", "v1", "pods").namespaced());
    (0..4).fold(fake, |fake, n| {
        fake.object("pods", object("db", &format!("p{n}")))
    })
}

#[test]
fn errors_of_the_api_server_are_statuses() {
    for (fault, code, reason) in [
        (Fault::forbidden("pods"), 403, "Forbidden"),
        (Fault::unauthorized(), 401, "Unauthorized"),
        (Fault::not_found(), 404, "NotFound"),
        (Fault::not_acceptable(), 406, "NotAcceptable"),
        (
            Fault::conversion_webhook("example.com/v1", "Widget"),
            500,
            "InternalError",
        ),
        (Fault::gateway_timeout(), 504, "Timeout"),
    ] {
        let answer = get(&with(fault), PODS, PARTIAL);
        assert_eq!(
            (answer.code, answer.json()["reason"].as_str()),
            (code, Some(reason))
        );
    }
    let answer = get(
        &with(Fault::conversion_webhook("example.com/v1", "Widget")),
        PODS,
        PARTIAL,
    );
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("conversion webhook for example.com/v1, Kind=Widget failed: Post \"https://")
    );
    let busy = get(
        &with(Fault::Status(
            status(429, "TooManyRequests", "initialising").retry_after(2),
        )),
        PODS,
        JSON,
    );
    assert_eq!(busy.header("Retry-After"), Some("2"));
    assert_eq!(busy.json()["details"]["retryAfterSeconds"], 2);
}

#[test]
fn proxies_and_aggregators_do_not_send_a_status() {
    let html = get(&with(Fault::html(502)), PODS, PARTIAL);
    assert_eq!((html.code, html.header("Content-Type")), (502, Some("text/html")));
    assert_eq!(get(&with(Fault::html(200)), PODS, PARTIAL).code, 200);
    assert_eq!(
        get(&with(Fault::unavailable()), PODS, PARTIAL).body,
        b"service unavailable\n"
    );
    let login = get(
        &with(Fault::Redirect("https://login.example/".into())),
        PODS,
        PARTIAL,
    );
    assert_eq!(
        (login.code, login.header("Location")),
        (302, Some("https://login.example/"))
    );
}

#[test]
fn too_many_requests_with_and_without_a_retry_time() {
    let server = with(
        Fault::TooManyRequests {
            retry_after: Some("1"),
        }
        .times(2),
    );
    let codes = || get(&server, PODS, PARTIAL).code;
    assert_eq!([codes(), codes(), codes()], [429, 429, 200]);
    let server = with(Fault::TooManyRequests { retry_after: None });
    for _ in 0..3 {
        let answer = get(&server, PODS, PARTIAL);
        assert_eq!((answer.code, answer.header("Retry-After")), (429, None));
    }
}

#[test]
fn faults_apply_where_they_should() {
    let server = fake()
        .on(PODS, Fault::html(502).nth(2))
        .on("/api/v1/namespaces/*", Fault::forbidden("pods"))
        .on(PODS, Fault::not_acceptable().when_accept("as=Partial"))
        .start();
    let code = |path: &str, accept: &str| get(&server, path, accept).code;
    assert_eq!(
        [code(PODS, JSON), code(PODS, JSON), code(PODS, JSON)],
        [200, 502, 200]
    );
    assert_eq!(code("/api/v1/namespaces/db/pods", JSON), 403);
    assert_eq!(code(PODS, PARTIAL), 406);
}

#[test]
fn an_expired_list_continues_with_the_token_of_the_status() {
    let server = with(Fault::Expired { fresh_token: true }.page(2).times(1));
    let first = page(&server, PODS, PARTIAL, 2, None);
    let gone = page(&server, PODS, PARTIAL, 2, first.token().as_deref());
    assert_eq!(
        (gone.code, gone.json()["reason"].as_str()),
        (410, Some("Expired"))
    );
    let rest = page(&server, PODS, PARTIAL, 2, gone.token().as_deref());
    assert_eq!(rest.names(), ["p2", "p3"]);

    let server = with(Fault::Expired { fresh_token: false }.page(2));
    let first = page(&server, PODS, PARTIAL, 2, None);
    let gone = page(&server, PODS, PARTIAL, 2, first.token().as_deref());
    assert_eq!((gone.code, gone.token()), (410, None));
}

#[test]
fn a_truncated_body_announces_more_than_it_sends() {
    let answer = get(&with(Fault::TruncateBody), PODS, PARTIAL);
    let promised: usize = answer.header("Content-Length").unwrap().parse().unwrap();
    assert!(answer.end.is_ok());
    assert_eq!(answer.body.len(), promised / 2);

    let chunked = get(
        &fake().chunked().on(PODS, Fault::TruncateBody).start(),
        PODS,
        PARTIAL,
    );
    assert_eq!(chunked.header("Transfer-Encoding"), Some("chunked"));
    assert!(chunked.end.is_ok() && !chunked.body.is_empty() && !chunked.body.ends_with(b"0\r\n\r\n"));
}

#[test]
fn connections_end_or_fall_silent() {
    let closed = get(&with(Fault::CloseBeforeHeaders), PODS, PARTIAL);
    assert!(closed.end.is_ok() && closed.code == 0);
    for (fault, kind, code) in [
        (Fault::ResetBeforeHeaders, ErrorKind::ConnectionReset, 0),
        (Fault::HangBeforeHeaders, ErrorKind::WouldBlock, 0),
        (Fault::HangMidBody, ErrorKind::WouldBlock, 200),
    ] {
        let server = with(fault);
        let answer = get(&server, PODS, PARTIAL);
        assert_eq!(answer.end.unwrap_err().kind(), kind);
        assert_eq!(answer.code, code);
    }
    // The kernel decides how much of the body survives a reset.
    let reset = get(&with(Fault::ResetMidBody), PODS, PARTIAL);
    assert_eq!(reset.end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn the_fake_notices_a_client_that_stops_waiting() {
    let server = with(Fault::HangBeforeHeaders);
    get(&server, PODS, PARTIAL).end.unwrap_err();
    let start = Instant::now();
    while server.open_connections() > 0 {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "the connection is still open"
        );
        std::thread::yield_now();
    }
}

#[test]
fn slow_responses_are_complete() {
    for fault in [
        Fault::Delay(Duration::from_millis(50)),
        Fault::Trickle {
            bytes: 100,
            pause: Duration::from_millis(10),
        },
    ] {
        let server = with(fault);
        let start = Instant::now();
        assert_eq!(get(&server, PODS, PARTIAL).names().len(), 4);
        assert!(start.elapsed() > Duration::from_millis(40));
    }
}

#[test]
fn continue_tokens_can_go_in_circles() {
    let server = with(Fault::SameToken);
    let first = page(&server, PODS, PARTIAL, 2, None);
    let second = page(&server, PODS, PARTIAL, 2, first.token().as_deref());
    assert_eq!(first.token(), second.token());
    assert_eq!(second.names(), ["p0", "p1"]);

    let server = with(Fault::EndlessPages);
    let first = page(&server, PODS, PARTIAL, 2, None);
    let second = page(&server, PODS, PARTIAL, 2, first.token().as_deref());
    assert_eq!(second.names(), [""; 0]);
    assert!(second.token().is_some() && first.token() != second.token());
}

#[test]
fn warnings_are_sent_with_the_response() {
    let answer = get(
        &with(Fault::Warning("v1beta1 is deprecated".into())),
        PODS,
        PARTIAL,
    );
    assert_eq!(answer.header("Warning"), Some("299 - \"v1beta1 is deprecated\""));
    assert_eq!(answer.names().len(), 4);
}
