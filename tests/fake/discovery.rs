//! Discovery in its three formats.

use crate::client::{JSON, get};
use crate::server::{Discovery, Fake, Kind};

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

fn fake() -> Fake {
    Fake::new()
        .with_type(
            Kind::new("", "v1", "pods")
                .namespaced()
                .short("po")
                .category("all"),
        )
        .with_type(Kind::new("autoscaling", "v2", "horizontalpodautoscalers").namespaced())
        .with_type(Kind::new("autoscaling", "v1", "horizontalpodautoscalers").namespaced())
        .stale("metrics.k8s.io", "v1beta1")
}

#[test]
fn the_aggregated_document_has_names_verbs_and_freshness() {
    let server = fake().start();
    let core = get(&server, "/api", AGGREGATED);
    assert_eq!(
        core.header("Content-Type"),
        Some("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
    );
    let core = core.json();
    let pods = &core["items"][0]["versions"][0]["resources"][0];
    assert_eq!(core["kind"], "APIGroupDiscoveryList");
    assert_eq!(pods["resource"], "pods");
    assert_eq!(pods["responseKind"]["kind"], "Pod");
    assert_eq!(pods["scope"], "Namespaced");
    assert_eq!(pods["shortNames"][0], "po");
    assert_eq!(pods["categories"][0], "all");
    assert_eq!(pods["subresources"][0]["subresource"], "status");

    let groups = get(&server, "/apis", AGGREGATED).json();
    assert_eq!(groups["items"][0]["metadata"]["name"], "autoscaling");
    assert_eq!(
        groups["items"][0]["versions"][0]["version"], "v2",
        "the first version is preferred"
    );
    assert_eq!(groups["items"][0]["versions"][0]["freshness"], "Current");
    assert_eq!(groups["items"][1]["versions"][0]["freshness"], "Stale");
}

#[test]
fn the_old_documents_have_the_same_content() {
    let server = fake().legacy_discovery().start();
    let core = get(&server, "/api", AGGREGATED);
    assert_eq!(core.code, 200);
    assert_eq!(core.header("Content-Type"), Some("application/json"));
    assert_eq!(core.json()["versions"][0], "v1");
    assert_eq!(get(&server, "/apis", AGGREGATED).json()["kind"], "APIGroupList");
    assert_eq!(
        get(&server, "/apis/autoscaling", JSON).json()["preferredVersion"]["version"],
        "v2"
    );
    let resources = get(&server, "/api/v1", JSON).json();
    assert_eq!(resources["resources"][0]["name"], "pods");
    assert_eq!(resources["resources"][1]["name"], "pods/status");
    assert_eq!(get(&server, "/apis/metrics.k8s.io/v1beta1", JSON).code, 503);
}

#[test]
fn a_server_may_refuse_the_aggregated_accept() {
    let server = fake().discovery(Discovery::LegacyRefusing).start();
    assert_eq!(get(&server, "/apis", AGGREGATED).code, 406);
    assert_eq!(get(&server, "/apis", JSON).json()["kind"], "APIGroupList");
}

#[test]
fn a_client_that_accepts_plain_json_gets_the_old_document() {
    let server = fake().start();
    assert_eq!(get(&server, "/apis", JSON).json()["kind"], "APIGroupList");
}

#[test]
fn an_older_server_has_only_the_beta_version() {
    let server = fake().discovery(Discovery::AggregatedBeta).start();
    let both = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    assert_eq!(get(&server, "/apis", AGGREGATED).json()["kind"], "APIGroupList");
    assert_eq!(
        get(&server, "/apis", both).json()["apiVersion"],
        "apidiscovery.k8s.io/v2beta1"
    );
}
