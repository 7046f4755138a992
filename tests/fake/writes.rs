//! The fake stores updates as a test wants it to.

use serde_json::{Value, json};

use crate::client::{JSON, get, patch};
use crate::server::{Fake, Fault, Kind, Writes, object};

const PATH: &str = "/api/v1/namespaces/db/pods/web-1";

fn fake(writes: Writes) -> Fake {
    let pod = object("db", "web-1").uid("u-1").finalizer("a/b").finalizer("c/d");
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object("pods", pod.deleting("2026-01-01T00:00:00Z"))
        .writes(writes)
}

fn removal(entry: &str) -> Value {
    json!([
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/finalizers/0", "value": entry},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ])
}

#[test]
fn a_dry_run_is_stored_only_by_a_server_that_ignores_it() {
    for (writes, left) in [
        (Writes::Stored, json!(["a/b", "c/d"])),
        (Writes::DryRunStored, json!(["c/d"])),
    ] {
        let server = fake(writes).start();
        let answer = patch(&server, &format!("{PATH}?dryRun=All"), &removal("a/b"));
        assert_eq!(answer.json()["metadata"]["finalizers"], json!(["c/d"]));
        let now = get(&server, PATH, JSON).json();
        assert_eq!(now["metadata"]["finalizers"], left, "{writes:?}");
    }
}

#[test]
fn an_update_is_stored_and_the_last_finalizer_removes_the_object() {
    let server = fake(Writes::Stored).start();
    assert_eq!(patch(&server, PATH, &removal("x/y")).code, 422);
    assert_eq!(patch(&server, PATH, &removal("a/b")).code, 200);
    assert_eq!(
        get(&server, PATH, JSON).json()["metadata"]["resourceVersion"],
        "101"
    );
    assert_eq!(patch(&server, PATH, &removal("c/d")).code, 200);
    assert_eq!(get(&server, PATH, JSON).code, 404);
}

#[test]
fn a_fault_can_come_after_the_update() {
    let fault = Fault::html(502).stored().method("PATCH");
    let server = fake(Writes::Stored).on(PATH, fault).start();
    assert_eq!(patch(&server, PATH, &removal("a/b")).code, 502);
    let now = get(&server, PATH, JSON).json();
    assert_eq!(now["metadata"]["finalizers"], json!(["c/d"]));
}
