//! What the plugin requests from the server, and what it does not.

use serde_json::json;

use crate::harness::Plugin;

use super::{
    PODS,
    fake::{Fake, Kind, Object, Recorded, Running, cluster_object, object},
    healthy, report, scan,
};

const NAMESPACES: &str = "/api/v1/namespaces";

fn lists(requests: &[Recorded]) -> impl Iterator<Item = &Recorded> {
    requests
        .iter()
        .filter(|request| !matches!(request.path(), "/api" | "/apis" | "/version"))
}

#[test]
fn everything_but_namespaces_is_listed_as_metadata_in_pages() {
    let server = healthy()
        .with_type(Kind::new("", "v1", "secrets").namespaced())
        .with_type(Kind::new("", "v1", "configmaps").namespaced())
        .start();
    report(&server, &[]).complete();
    let requests = server.requests();
    for request in lists(&requests) {
        assert_eq!(
            (request.method.as_str(), request.query("limit").as_deref()),
            ("GET", Some("500"))
        );
        if request.path() == NAMESPACES {
            assert_eq!(request.accept, "application/json");
            continue;
        }
        let clauses: Vec<_> = request.accept.split(',').map(str::trim).collect();
        assert_eq!(clauses.len(), 2, "{}", request.accept);
        for (clause, media) in clauses
            .iter()
            .zip(["application/vnd.kubernetes.protobuf", "application/json"])
        {
            assert_eq!(
                *clause,
                format!("{media};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
            );
        }
    }
}

/// The spec and status of a volume say what it is for and whether it is still used. So volumes are read whole,
/// and only once.
#[test]
fn healthy_volumes_nodes_and_attachments_are_read_once() {
    let volume = |phase: &str| {
        cluster_object("pv-1")
            .spec(json!({"persistentVolumeReclaimPolicy": "Delete"}))
            .status(json!({"phase": phase}))
    };
    let storage = |volume: Object| {
        let attached = json!({"nodeName": "node-1", "source": {"persistentVolumeName": "pv-1"}});
        healthy()
            .with_type(Kind::new("", "v1", "nodes"))
            .with_type(Kind::new("", "v1", "persistentvolumes"))
            .with_type(Kind::new("storage.k8s.io", "v1", "volumeattachments"))
            .object("nodes", cluster_object("node-1"))
            .object("persistentvolumes", volume)
            .object(
                "volumeattachments.storage.k8s.io",
                cluster_object("csi-1").spec(attached),
            )
            .start()
    };
    let asked = |server: &Running| {
        report(server, &[]).complete();
        server.requests().len()
    };
    let empty = asked(&healthy().start());
    let server = storage(volume("Bound"));
    assert_eq!(asked(&server), empty + 3, "{:#?}", server.requests());
    assert!(asked(&storage(volume("Released"))) > empty + 3);
}

#[test]
fn secrets_and_config_maps_are_never_read_whole_even_if_stuck() {
    let mut fake = healthy();
    for plural in ["secrets", "configmaps"] {
        fake = fake.with_type(Kind::new("", "v1", plural).namespaced());
        let held = object("db", "held").finalizer("a/b");
        fake = fake.object(plural, held.deleting("2026-01-01T00:00:00Z"));
    }
    let server = fake.start();
    assert_eq!(report(&server, &[]).terminating().len(), 2);
    for target in ["secrets/held", "configmaps/held"] {
        let explained = Plugin::new(["explain", target, "-n", "db"]).kubeconfig(server.kubeconfig());
        assert!(explained.run().success().contains("Terminating"), "{target}");
    }
    let requests = server.requests();
    let confidential =
        |request: &&Recorded| request.path().contains("/secrets") || request.path().contains("/configmaps");
    let asked: Vec<_> = requests.iter().filter(confidential).collect();
    assert_eq!(
        asked.len(),
        8,
        "each type is listed; scan reads each object once, and explain reads it twice"
    );
    for request in asked {
        let whole = request
            .accept
            .split(',')
            .any(|clause| !clause.contains("as=PartialObjectMetadata"));
        assert!(!whole, "{} {}", request.path_and_query, request.accept);
    }
}

#[test]
fn a_scan_as_json_costs_three_requests_and_one_for_each_page() {
    let server = healthy().start();
    report(&server, &[]).complete();
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.path().to_owned())
        .collect();
    let mut sorted = paths.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "/api",
            NAMESPACES,
            PODS,
            PODS,
            PODS,
            "/apis",
            "/apis/example.com/v1/widgets",
            "/version"
        ]
    );
    assert!(server.peak_connections() <= 8, "{}", server.peak_connections());
}

#[test]
fn a_scan_of_one_type_reads_no_other() {
    let server = healthy().start();
    report(&server, &["widgets"]).complete();
    let requests = server.requests();
    let paths: Vec<_> = lists(&requests).map(Recorded::path).collect();
    assert_eq!(paths, ["/apis/example.com/v1/widgets"]);
}

#[test]
fn a_scan_opens_at_most_eight_connections() {
    let mut fake = healthy();
    for n in 0..60 {
        fake = fake.with_type(Kind::new("many.example.com", "v1", &format!("thing{n}s")));
    }
    let slow = super::fake::Fault::Delay(std::time::Duration::from_millis(20));
    let server = fake.on("/apis/many.example.com/*", slow).start();
    report(&server, &[]).complete();
    assert_eq!(server.peak_requests(), 8);
    assert!(server.peak_connections() <= 8, "{}", server.peak_connections());
}

#[test]
fn selectors_and_tokens_arrive_unchanged() {
    let server = healthy()
        .object(
            "widgets.example.com",
            object("db", "blue")
                .label("app.example.com/colour", "blue")
                .finalizer("b/keep"),
        )
        .start();
    let selector = "app.example.com/colour=blue,!size";
    let report = report(&server, &["-l", selector]).complete();
    assert_eq!(
        (report.carrying("b/keep"), report.carrying("widget/keep")),
        (1, 0)
    );
    let requests = server.requests();
    for request in lists(&requests) {
        assert_eq!(
            request.query("labelSelector").as_deref(),
            Some(selector),
            "{}",
            request.path_and_query
        );
        assert!(
            !request.path_and_query.contains([' ', '!']),
            "{}",
            request.path_and_query
        );
    }
}

#[test]
fn a_selector_is_the_same_on_every_page() {
    let server = healthy().start();
    report(&server, &["pods", "-l", "!gone"]).all_selected();
    assert_eq!(server.requests_to(PODS).len(), 3);
}

impl super::Report {
    fn all_selected(self) {
        assert_eq!(self.complete().carrying("pod/keep"), 1_200);
    }
}

#[test]
fn every_request_has_the_user_agent() {
    let server = healthy().start();
    report(&server, &[]).complete();
    for request in server.requests() {
        assert!(
            request.user_agent.starts_with("kubectl-finalizers/"),
            "{:?}",
            request.user_agent
        );
    }
}

#[test]
fn one_namespace_is_read_by_name_and_nothing_outside_it() {
    let server = healthy().with_type(Kind::new("", "v1", "nodes")).start();
    scan(&server, &["-n", "db"]).success();
    let requests = server.requests();
    let mut paths: Vec<_> = lists(&requests).map(Recorded::path).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(
        paths,
        [
            "/api/v1/namespaces/db",
            "/api/v1/namespaces/db/pods",
            "/apis/example.com/v1/namespaces/db/widgets"
        ]
    );
}

#[test]
fn objects_with_odd_names_are_read_under_their_own_name() {
    let going = |name: &str| {
        cluster_object(name)
            .finalizer("a/b")
            .deleting("2026-01-01T00:00:00Z")
    };
    let mut fake = Fake::new().with_type(Kind::new("rbac.authorization.k8s.io", "v1", "clusterroles"));
    let names = ["a?b", "a#b", "a b", "a+b", "a%b", "ü", "a"];
    for name in names {
        fake = fake.object("clusterroles.rbac.authorization.k8s.io", going(name));
    }
    let report = report(&fake.start(), &[]);
    let objects = report.json["terminating"].as_array().unwrap();
    assert_eq!(objects.len(), names.len());
    for object in objects {
        let reason = object["reason"].as_str().unwrap();
        assert!(reason.contains("a/b"), "{object:#}");
    }
}

#[test]
fn an_invalid_namespace_cannot_change_the_request_path() {
    let server = healthy().start();
    for name in ["db/pods/x", "../secrets", "db?x=y", "db#x", "a b"] {
        scan(&server, &["-n", name]).success();
    }
    for request in server.requests() {
        let path = request.path();
        assert!(!path.contains("secrets") || path.contains("%2Fsecrets"), "{path}");
        let segments = path.split('/').count();
        assert!(segments <= 7, "{path}");
    }
}
