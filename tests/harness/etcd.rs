//! What etcd has stored, and how the plugin reaches it.

use std::sync::{Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};

use super::{Cluster, api::Api, kubeconfig};

static CREDENTIALS: Mutex<()> = Mutex::new(());

impl Cluster {
    /// The words of `rescue` for the etcd of this cluster. Its certificate is for servers and clients.
    pub fn etcd_words(&self) -> Vec<String> {
        let file = |name: &str| self.authority.file(name).display().to_string();
        vec![
            format!("--etcd={}", self.etcd_url()),
            format!("--etcd-cacert={}", file("ca.crt")),
            format!("--etcd-cert={}", file("server.crt")),
            format!("--etcd-key={}", file("server.key")),
        ]
    }

    /// The stored value of an object. `key` is its key below `/registry/`, such as `configmaps/NAMESPACE/NAME`.
    #[track_caller]
    pub fn stored(&self, key: &str) -> Option<Vec<u8>> {
        let key = BASE64.encode(format!("/registry/{key}"));
        let found = self.ask_etcd("kv/range", &json!({"key": key}));
        let value = found["kvs"][0]["value"].as_str()?;
        Some(BASE64.decode(value).expect("etcd answers in base64"))
    }

    /// Stores a value below `/registry/` as it is, behind the back of the API server.
    #[track_caller]
    pub fn store(&self, key: &str, value: &[u8]) {
        put(&self.etcd_api(), key, value);
    }

    /// Deletes the key of an object, and compacts the store: nobody can ask any more what happened before.
    #[track_caller]
    pub fn forget(&self, key: &str) {
        let key = BASE64.encode(format!("/registry/{key}"));
        let deleted = self.ask_etcd("kv/deleterange", &json!({"key": key}));
        assert_eq!(deleted["deleted"], "1", "{deleted}");
        let compacted = json!({"revision": deleted["header"]["revision"], "physical": true});
        self.ask_etcd("kv/compaction", &compacted);
    }

    /// Gives the key of an object a lease of so many seconds, and returns the lease.
    #[track_caller]
    pub fn leased(&self, key: &str, seconds: u32) -> Value {
        let value = self.stored(key).expect("the object is stored");
        let lease = self.ask_etcd("lease/grant", &json!({"TTL": seconds}))["ID"].clone();
        let key = BASE64.encode(format!("/registry/{key}"));
        let put = json!({"key": key, "value": BASE64.encode(value), "lease": lease});
        self.ask_etcd("kv/put", &put);
        lease
    }

    /// The lease of the key of an object; null if it has none.
    #[track_caller]
    pub fn lease(&self, key: &str) -> Value {
        let key = BASE64.encode(format!("/registry/{key}"));
        self.ask_etcd("kv/range", &json!({"key": key}))["kvs"][0]["lease"].clone()
    }

    /// The answer of etcd to a request below `/v3/`.
    #[track_caller]
    pub(super) fn ask_etcd(&self, what: &str, body: &Value) -> Value {
        ask(&self.etcd_api(), what, body)
    }

    /// A client of etcd. Each call writes the credentials for it into the folder of the cluster, which tests share.
    pub(super) fn etcd_api(&self) -> Api {
        let _alone = CREDENTIALS.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.directory().join("etcd.kubeconfig");
        let identity = self.authority.server("etcd-client", &["127.0.0.1"]);
        Api::new(&kubeconfig::write(
            file,
            self.etcd_url(),
            &self.authority,
            &identity,
        ))
    }
}

/// Stores a value below `/registry/`.
#[track_caller]
pub(super) fn put(etcd: &Api, key: &str, value: &[u8]) {
    let key = BASE64.encode(format!("/registry/{key}"));
    ask(
        etcd,
        "kv/put",
        &json!({"key": key, "value": BASE64.encode(value)}),
    );
}

#[track_caller]
fn ask(etcd: &Api, what: &str, body: &Value) -> Value {
    let answer = etcd.send("POST", &format!("/v3/{what}"), "application/json", body);
    let answer = answer.unwrap_or_else(|error| panic!("{error}"));
    assert!(answer.code.is_success(), "etcd {what}: {}", answer.body);
    answer.body
}
