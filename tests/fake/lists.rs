//! Lists of healthy servers: pages, selectors, formats.

use serde_json::json;

use crate::client::{JSON, PARTIAL, PROTOBUF, get, page};
use crate::server::{Fake, Kind, Running, cluster_object, hostile, object};

fn pods() -> Running {
    let fake = Fake::new().with_type(Kind::new("", "v1", "pods").namespaced());
    let fake = (0..7).fold(fake, |fake, n| {
        let namespace = if n % 2 == 0 { "even" } else { "odd" };
        let app = if n < 3 { "web" } else { "db" };
        fake.object("pods", object(namespace, &format!("p{n}")).label("app", app))
    });
    fake.start()
}

#[test]
fn a_list_continues_where_its_page_ended() {
    let server = pods();
    let first = page(&server, "/api/v1/pods", PARTIAL, 3, None);
    assert_eq!(first.names(), ["p0", "p1", "p2"]);
    assert_eq!(first.json()["metadata"]["remainingItemCount"], 4);
    let second = page(&server, "/api/v1/pods", PARTIAL, 3, first.token().as_deref());
    assert_eq!(second.names(), ["p3", "p4", "p5"]);
    let third = page(&server, "/api/v1/pods", PARTIAL, 3, second.token().as_deref());
    assert_eq!(third.names(), ["p6"]);
    assert_eq!(third.token(), None);
}

#[test]
fn a_token_must_come_back_unchanged() {
    let server = pods();
    let token = page(&server, "/api/v1/pods", PARTIAL, 3, None).token().unwrap();
    let unescaped = get(
        &server,
        &format!("/api/v1/pods?limit=3&continue={token}"),
        PARTIAL,
    );
    assert_eq!(unescaped.code, 400);
    let other_selector = format!(
        "/api/v1/pods?labelSelector=app%3Dweb&limit=3&continue={}",
        "3%2B2%2F%7C%26%3D%3D"
    );
    assert_eq!(get(&server, &other_selector, PARTIAL).code, 400);
}

#[test]
fn namespaces_and_selectors_restrict_a_list() {
    let server = pods();
    let names = |path: &str| get(&server, path, PARTIAL).names();
    assert_eq!(names("/api/v1/namespaces/odd/pods"), ["p1", "p3", "p5"]);
    assert_eq!(names("/api/v1/pods?labelSelector=app%3Dweb"), ["p0", "p1", "p2"]);
    assert_eq!(
        names("/api/v1/pods?labelSelector=app!%3Dweb"),
        ["p3", "p4", "p5", "p6"]
    );
    assert_eq!(names("/api/v1/pods?labelSelector=!app"), [""; 0]);
    assert_eq!(names("/api/v1/pods?fieldSelector=metadata.name%3Dp4"), ["p4"]);
    assert_eq!(
        get(&server, "/api/v1/pods?labelSelector=app+in+(web)", PARTIAL).code,
        400
    );
    let selected = get(&server, "/api/v1/pods?labelSelector=app%3Dweb&limit=1", PARTIAL).json();
    assert!(
        selected["metadata"]["remainingItemCount"].is_null(),
        "the API server omits it with a selector"
    );
}

#[test]
fn a_metadata_list_has_only_metadata() {
    let pod = object("db", "web-1")
        .finalizer("a/b")
        .deleting("2026-01-01T00:00:00Z")
        .grace(30)
        .label("app", "web")
        .annotation("note", "\u{1b}")
        .owner("apps/v1", "ReplicaSet", "web", "1-2-3")
        .usual_managed_fields()
        .spec(json!({"nodeName": "n1"}));
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object("pods", pod)
        .start();
    let list = get(&server, "/api/v1/pods", PARTIAL).json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    let item = &list["items"][0];
    assert!(item["spec"].is_null());
    assert_eq!(item["kind"], "PartialObjectMetadata");
    assert_eq!(item["metadata"]["finalizers"], json!(["a/b"]));
    assert_eq!(item["metadata"]["deletionTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(item["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(item["metadata"]["ownerReferences"][0]["kind"], "ReplicaSet");
    assert_eq!(item["metadata"]["annotations"]["note"], "\u{1b}");
    assert_eq!(item["metadata"]["managedFields"][1]["subresource"], "status");
    assert!(item["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].is_object());
    assert_eq!(item["metadata"]["uid"].as_str().unwrap().len(), 36);

    let whole = get(&server, "/api/v1/pods", JSON).json();
    assert_eq!(whole["kind"], "PodList");
    assert_eq!(whole["items"][0]["spec"]["nodeName"], "n1");
}

#[test]
fn custom_objects_are_encoded_from_maps_so_metadata_comes_last() {
    let server = Fake::new()
        .with_type(Kind::new("example.com", "v1", "widgets"))
        .object("widgets.example.com", cluster_object("w"))
        .start();
    let whole = get(&server, "/apis/example.com/v1/widgets", JSON);
    let text = String::from_utf8(whole.body.clone()).unwrap();
    assert!(text.find("\"items\"").unwrap() < text.rfind("\"metadata\"").unwrap());
    assert_eq!(whole.json()["items"][0]["apiVersion"], "example.com/v1");
}

#[test]
fn single_objects_are_read_by_name() {
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "namespaces"))
        .with_type(Kind::new("apiregistration.k8s.io", "v1", "apiservices"))
        .object(
            "namespaces",
            cluster_object("db").spec(json!({"finalizers": ["kubernetes"]})),
        )
        .object(
            "apiservices.apiregistration.k8s.io",
            cluster_object("v1beta1.metrics.k8s.io").status(json!({"conditions": [{"type": "Available"}]})),
        )
        .start();
    let namespace = get(&server, "/api/v1/namespaces/db", JSON).json();
    assert_eq!(namespace["kind"], "Namespace");
    assert_eq!(namespace["spec"]["finalizers"][0], "kubernetes");
    let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io";
    let service = get(&server, path, JSON).json();
    assert_eq!(service["kind"], "APIService");
    assert_eq!(service["status"]["conditions"][0]["type"], "Available");
    assert_eq!(
        get(&server, "/api/v1/namespaces/none", JSON).json()["reason"],
        "NotFound"
    );
    assert_eq!(get(&server, "/api/v1/nothings", JSON).code, 404);
    assert_eq!(get(&server, "/version", JSON).json()["gitVersion"], "v1.36.3");
}

#[test]
fn a_server_can_lack_protobuf_or_metadata_lists() {
    let only = |fake: Fake, accept: &str| {
        let server = fake.with_type(Kind::new("", "v1", "pods").namespaced()).start();
        let answer = get(&server, "/api/v1/pods", accept);
        (
            answer.code,
            String::from_utf8_lossy(&answer.body).contains("PartialObjectMetadataList"),
        )
    };
    let strict = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    assert_eq!(only(Fake::new().json_only(), PROTOBUF), (200, true));
    assert_eq!(only(Fake::new().whole_only(), PROTOBUF), (200, false));
    assert_eq!(only(Fake::new().whole_only(), strict), (406, false));
}

#[test]
fn hostile_text_arrives_unchanged() {
    let fake = Fake::new().with_type(Kind::new("", "v1", "pods").namespaced());
    let fake = hostile::ALL.iter().fold(fake, |fake, (name, text)| {
        fake.object("pods", object("db", text).finalizer(*text).label("case", *name))
    });
    let server = fake.object("pods", object("db", &hostile::long(1 << 20))).start();
    let names = get(&server, "/api/v1/pods", PARTIAL).names();
    for ((_, text), name) in hostile::ALL.iter().zip(&names) {
        assert_eq!(name, text);
    }
    assert_eq!(names.last().unwrap().len(), 1 << 20);
}

#[test]
fn generated_objects_follow_the_stored_ones_and_are_the_same_each_time() {
    let server = Fake::new()
        .with_type(Kind::new("example.com", "v1", "widgets").namespaced())
        .object("widgets.example.com", object("db", "stored"))
        .generate("widgets.example.com", 1_000_000, |n| {
            object("db", &format!("w{n}"))
        })
        .start();
    let path = "/apis/example.com/v1/widgets";
    let first = page(&server, path, PARTIAL, 3, None);
    assert_eq!(first.names(), ["stored", "w0", "w1"]);
    assert_eq!(first.json()["metadata"]["remainingItemCount"], 999_998);
    assert_eq!(page(&server, path, PARTIAL, 3, None).body, first.body);
    // The token of the last page is made here, because reading up to it takes long in a debug build.
    let last = page(&server, path, PARTIAL, 500, Some("999999+2001/|&=="));
    assert_eq!(last.names(), ["w999998", "w999999"]);
    assert_eq!(last.token(), None);
}
