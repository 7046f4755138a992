//! One list fails during a scan.

use std::time::Duration;

use super::{
    PODS, fake,
    fake::{Fake, Fault, Kind, Running, object, status},
    healthy, report, scan, timed, with_pods_failing,
};

#[test]
fn a_list_without_faults_is_complete() {
    report(&healthy().start(), &[]).all_pods();
    report(&healthy().chunked().start(), &[]).all_pods();
}

#[test]
fn a_truncated_body_keeps_its_complete_items() {
    with_pods_failing(Fault::TruncateBody.page(2)).lost_pods(500, "Undecodable", "broke off before its end");
    with_pods_failing(Fault::ResetMidBody.page(3)).lost_pods(
        1_000,
        "Undecodable",
        "broke off before its end",
    );
    let chunked = healthy().chunked().on(PODS, Fault::TruncateBody.page(2)).start();
    report(&chunked, &[]).lost_pods(500, "Undecodable", "broke off before its end");
}

#[test]
fn a_connection_that_ends_without_a_response_is_a_gap() {
    with_pods_failing(Fault::CloseBeforeHeaders.page(2)).lost_pods(500, "Connection", "onnection");
    with_pods_failing(Fault::ResetBeforeHeaders.page(2)).lost_pods(500, "Connection", "onnection");
}

#[test]
fn an_expired_list_continues_with_the_new_token_and_says_so() {
    let report = with_pods_failing(Fault::Expired { fresh_token: true }.page(2).times(1)).all_pods();
    assert!(
        report.notes().contains("pods: the list expired"),
        "{}",
        report.notes()
    );
}

#[test]
fn an_expired_list_without_a_new_token_restarts_and_counts_nothing_twice() {
    let report = with_pods_failing(Fault::Expired { fresh_token: false }.page(3).times(1)).all_pods();
    assert_eq!(report.notes(), "[]");
}

#[test]
fn a_list_that_always_expires_is_stopped_and_what_was_read_is_kept() {
    with_pods_failing(Fault::Expired { fresh_token: false }.page(2)).lost_pods(500, "ServerError", "too old");
    with_pods_failing(Fault::Expired { fresh_token: true }.page(2)).lost_pods(500, "ServerError", "too old");
}

#[test]
fn a_client_that_must_wait_waits() {
    let busy = |retry_after| Fault::TooManyRequests { retry_after }.page(2).times(1);
    let (_, took) = timed(|| with_pods_failing(busy(Some("2"))).all_pods());
    assert!(took > Duration::from_secs(2), "{took:?}");
    for retry_after in [
        None,
        Some("soon"),
        Some("Wed, 21 Oct 2026 07:28:00 GMT"),
        Some("-1"),
    ] {
        let (_, took) = timed(|| with_pods_failing(busy(retry_after)).all_pods());
        assert!(took > Duration::from_secs(1), "{retry_after:?}: {took:?}");
    }
    let message = "too many requests, please try again later";
    let said_in_the_body = Fault::Status(status(429, "TooManyRequests", message).retry_after(1));
    with_pods_failing(said_in_the_body.page(1).times(2)).all_pods();
}

#[test]
fn a_client_that_must_always_wait_stops() {
    let fault = Fault::TooManyRequests {
        retry_after: Some("0"),
    };
    let server = healthy().on(PODS, fault.page(2)).start();
    report(&server, &[]).lost_pods(500, "Throttled", "Too many requests");
    assert_eq!(server.requests_to(PODS).len(), 1 + 5);
}

#[test]
fn a_restarting_api_server_is_tried_again_and_a_dead_one_only_once() {
    with_pods_failing(Fault::unavailable().page(2).times(1)).all_pods();
    with_pods_failing(Fault::gateway_timeout().page(2).times(1)).all_pods();
    let server = healthy().on(PODS, Fault::unavailable().page(2)).start();
    report(&server, &[]).lost_pods(500, "Unavailable", "service unavailable");
    assert_eq!(server.requests_to(PODS).len(), 1 + 2);
}

#[test]
fn a_response_that_does_not_come_or_end_costs_only_its_timeout() {
    let trickle = Fault::Trickle {
        bytes: 64,
        pause: Duration::from_millis(50),
    };
    for fault in [Fault::HangBeforeHeaders, Fault::HangMidBody, trickle] {
        let ((), took) = timed(|| {
            with_pods_failing(fault.page(2)).lost_pods(500, "TimedOut", "no answer within 2 s");
        });
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn a_slow_response_within_the_timeout_counts() {
    with_pods_failing(Fault::Delay(Duration::from_millis(400)).page(2)).all_pods();
}

#[test]
fn a_list_without_end_is_stopped_and_counts_nothing_twice() {
    with_pods_failing(Fault::SameToken).lost_pods(500, "Undecodable", "same page");
    let ((), took) = timed(|| {
        with_pods_failing(Fault::EndlessPages.after(1)).lost_pods(500, "Undecodable", "page after page");
    });
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn the_page_of_a_proxy_is_named_as_such() {
    with_pods_failing(Fault::html(200)).lost_pods(0, "Undecodable", "expected a list, got text/html: <html>");
    with_pods_failing(Fault::html(502)).lost_pods(0, "Unavailable", "502 Bad Gateway");
    with_pods_failing(Fault::Redirect("https://login.example/".into())).lost_pods(
        0,
        "ServerError",
        "302 Found",
    );
}

#[test]
fn the_servers_own_message_is_kept() {
    let undecryptable = r#"unable to transform key "/registry/pods/db/x": no matching prefix found"#;
    with_pods_failing(Fault::internal(undecryptable).page(2)).lost_pods(500, "ServerError", undecryptable);
}

#[test]
fn the_404_of_a_proxy_does_not_mean_that_a_type_or_object_is_gone() {
    with_pods_failing(Fault::html(404).page(2)).lost_pods(500, "ServerError", "404 Not Found: <html>");
    with_pods_failing(Fault::text(404, "404 page not found\n").page(2)).lost_pods(500, "Vanished", "removed");
    let server = healthy()
        .object(
            "widgets.example.com",
            object("db", "stuck")
                .finalizer("a/b")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .on(
            "/apis/example.com/v1/namespaces/db/widgets/stuck",
            Fault::html(404),
        )
        .start();
    let out = scan(&server, &[]).success();
    assert!(
        out.contains("widgets.example.com/stuck -n db") && !out.contains("gone since"),
        "{out}"
    );
}

#[test]
fn a_type_that_disappears_during_the_scan_is_a_gap() {
    with_pods_failing(Fault::not_found().page(2)).lost_pods(
        500,
        "Vanished",
        "removed while it was being read",
    );
}

#[test]
fn credentials_that_expire_during_the_scan_are_not_missing_rights() {
    let server = healthy().on(PODS, Fault::unauthorized().page(2)).start();
    report(&server, &[]).lost_pods(500, "Unauthorized", "401");
    // A user whom the server no longer knows gets no access review.
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

/// Two versions of the widgets, and no conversion to the preferred one.
fn dead_conversion(second: Option<Fault>) -> Running {
    let fault = Fault::conversion_webhook("example.com/v2", "Widget");
    let mut server = Fake::new()
        .with_type(Kind::new("example.com", "v2", "widgets").namespaced())
        .with_type(Kind::new("example.com", "v1", "widgets").namespaced())
        .generate("widgets.example.com", 3, |n| {
            object("db", &format!("widget-{n}")).finalizer("widget/keep")
        })
        .on("/apis/example.com/v2/widgets", fault);
    if let Some(fault) = second {
        server = server.on("/apis/example.com/v1/widgets", fault);
    }
    server.start()
}

#[test]
fn an_unavailable_conversion_webhook_is_avoided_through_another_version_and_named() {
    let report = report(&dead_conversion(None), &[]).complete();
    assert_eq!(report.carrying("widget/keep"), 3);
    let notes = report.notes();
    assert!(notes.contains("widgets.example.com was read as v1"), "{notes}");
    assert!(notes.contains(r#"service \"convert\" not found"#), "{notes}");
}

#[test]
fn an_unavailable_conversion_webhook_that_cannot_be_avoided_is_a_gap_with_its_message() {
    let other = Fault::conversion_webhook("example.com/v1", "Widget");
    let report = report(&dead_conversion(Some(other)), &[]);
    let gap = report.gap("widgets.example.com");
    assert_eq!(gap["reason"], "ServerError");
    let message = gap["message"].as_str().unwrap();
    assert!(
        message.contains("conversion webhook for example.com/v"),
        "{message}"
    );
    assert_eq!((report.objects(), report.code), (0, 5));
}

#[test]
fn a_server_without_protobuf_is_read_as_json() {
    report(&healthy().json_only().start(), &[]).all_pods();
}

#[test]
fn a_server_without_metadata_only_responses_is_read_whole_but_never_for_secrets_and_config_maps() {
    let server = healthy()
        .with_type(Kind::new("", "v1", "secrets").namespaced())
        .with_type(Kind::new("", "v1", "configmaps").namespaced().kind("ConfigMap"))
        .object("secrets", object("db", "password").finalizer("s/keep"))
        .whole_only()
        .start();
    let report = report(&server, &[]);
    assert_eq!(report.carrying("pod/keep"), 1_200);
    for name in ["secrets", "configmaps"] {
        assert_eq!(report.gap(name)["reason"], "MetadataOnlyRefused");
        for request in server.requests_to(&format!("/api/v1/{name}")) {
            for clause in request.accept.split(',') {
                assert!(
                    clause.contains("as=PartialObjectMetadataList"),
                    "{}",
                    request.accept
                );
            }
        }
    }
    assert_eq!((report.carrying("s/keep"), report.code), (0, 5));
}

#[test]
fn the_table_says_which_list_failed_why_and_after_how_many_objects() {
    let server = healthy()
        .on(
            PODS,
            Fault::internal("etcdserver: mvcc: database space exceeded").page(2),
        )
        .start();
    let out = scan(&server, &[]).success();
    assert!(
        out.starts_with("In what could be read, nothing is stuck."),
        "{out}"
    );
    assert!(
        out.contains("  pods: etcdserver: mvcc: database space exceeded (after 500 objects)\n"),
        "{out}"
    );
}

#[test]
fn a_warning_header_changes_nothing() {
    with_pods_failing(Fault::Warning(fake::hostile::ESCAPE.replace('\u{1b}', "^"))).all_pods();
}
