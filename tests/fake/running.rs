//! The records of a running fake, and that real clients reach it.

use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::client::{JSON, PARTIAL, get};
use crate::server::{Fake, Fault, Kind, Running, object};

async fn kube_client(server: &Running) -> kube::Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    kube::Client::try_from(config).unwrap()
}

fn pods() -> Fake {
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(Kind::new("apps", "v1", "deployments").namespaced())
        .object(
            "pods",
            object("db", "web-1").finalizer("a/b").usual_managed_fields(),
        )
}

#[tokio::test]
async fn kube_connects_with_the_kubeconfig() {
    let server = pods().start();
    let client = kube_client(&server).await;
    let groups = client.list_api_groups_aggregated().await.unwrap();
    assert_eq!(
        groups.items[0].metadata.as_ref().unwrap().name.as_deref(),
        Some("apps")
    );
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::all(client);
    let list = pods
        .list_metadata(&kube::api::ListParams::default().limit(10))
        .await
        .unwrap();
    assert_eq!(
        list.items[0].metadata.finalizers.as_deref(),
        Some(&["a/b".to_owned()][..])
    );
    assert_eq!(server.connections(), 1, "connections are reused");
}

#[tokio::test]
async fn a_lists_chunks_are_readable() {
    let server = pods()
        .chunked()
        .generate("pods", 100, |n| {
            object("x", &format!("g{n}")).usual_managed_fields()
        })
        .start();
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::all(kube_client(&server).await);
    assert_eq!(
        pods.list_metadata(&kube::api::ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        101
    );
}

#[test]
fn requests_are_kept() {
    let server = pods().start();
    get(&server, "/api/v1/pods?limit=5", PARTIAL);
    get(&server, "/version", JSON);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].method, "GET");
    assert_eq!(requests[0].path_and_query, "/api/v1/pods?limit=5");
    assert_eq!(requests[0].query("limit").as_deref(), Some("5"));
    assert_eq!(requests[0].accept, PARTIAL);
    assert_eq!(requests[0].user_agent, "test/1");
    assert_eq!(requests[0].header("Host"), Some("fake"));
    assert_eq!(server.requests_to("/version").len(), 1);
    server.forget_requests();
    assert!(server.requests().is_empty());
}

#[test]
fn peaks_are_counted() {
    let server = pods().on("*", Fault::Delay(Duration::from_millis(500))).start();
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| get(&server, "/api/v1/pods", PARTIAL));
        }
    });
    assert_eq!(server.peak_connections(), 5);
    assert_eq!(server.peak_requests(), 5);
}

#[test]
fn the_date_is_now_or_as_the_test_sets_it() {
    let date = |server: &Running| get(server, "/version", JSON).header("Date").map(str::to_owned);
    let fixed = pods().clock_at("2026-01-02T03:04:05Z").start();
    assert_eq!(date(&fixed).as_deref(), Some("Fri, 02 Jan 2026 03:04:05 GMT"));
    assert!(date(&pods().start()).unwrap().ends_with(" GMT"));
    assert_eq!(date(&pods().without_date().start()), None);
}

#[test]
fn a_dropped_server_is_gone_with_its_files() {
    let server = pods().on("*", Fault::HangBeforeHeaders).start();
    let (address, kubeconfig) = (server.address(), server.kubeconfig().to_owned());
    let hanging = std::net::TcpStream::connect(address).unwrap();
    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err());
    assert!(!kubeconfig.exists());
    drop(hanging);
}

#[test]
#[should_panic(expected = "no such type was")]
fn objects_of_a_type_that_is_not_served_are_an_error() {
    Fake::new().object("podz", object("db", "web-1")).start();
}

#[test]
fn the_fake_does_not_accept_writes() {
    use std::io::{Read, Write};
    let server = pods().start();
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "PATCH /api/v1/namespaces/db/pods/web-1 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{{}}"
    )
    .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 405");
    assert_eq!(server.requests()[0].body, b"{}");
}
