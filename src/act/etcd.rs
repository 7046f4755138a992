//! Reads and replaces one key of etcd, through the JSON form of its API, which every etcd since 3.4 has on its client port
//! (<https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/>).
//!
//! A value is replaced only at the revision that was read, and keeps its lease. No other key is written.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Limited};
use kube::{Client, client::Body};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    cluster::connect::{datastore, fault},
    error::Error,
    plan::{Entry, StoredChange},
    settings::EtcdAccess,
};

/// etcd answers within milliseconds, or it has no leader.
const LIMIT: Duration = Duration::from_secs(15);
/// The largest answer. etcd accepts 1.5 MB by default, and base64 adds a third.
const MAX_ANSWER: usize = 64 << 20;
/// How much of an error is quoted.
const MAX_MESSAGE: usize = 300;

/// One etcd.
pub struct Etcd {
    client: Client,
    url: String,
}

/// The result of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The new value is stored.
    Done,
    /// The key has another revision, so nothing was written.
    Changed,
    /// etcd refused it, so nothing was written.
    Refused(String),
    /// There was no answer. It may be stored.
    Unanswered(String),
}

enum Failure {
    Refused(String),
    Unanswered(String),
}

/// Numbers are strings in this API, and what is zero or empty is left out.
#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<KeyValue>,
}

#[derive(Deserialize)]
struct KeyValue {
    #[serde(default)]
    key: String,
    mod_revision: String,
    #[serde(default)]
    value: String,
}

#[derive(Deserialize)]
struct Transaction {
    #[serde(default)]
    succeeded: bool,
}

fn strange() -> String {
    "the answer does not look like one of etcd".to_owned()
}

impl Etcd {
    /// The etcd at this address. Sends no request yet.
    pub fn new(access: &EtcdAccess) -> Result<Self, Error> {
        Ok(Etcd {
            client: datastore(&access.url, &access.authority, &access.certificate, &access.key)?,
            url: access.url.to_string().trim_end_matches('/').to_owned(),
        })
    }

    /// Reads a key from a majority of the members; none if etcd does not have it.
    pub async fn get(&self, key: &str) -> Result<Option<Entry>, String> {
        let found = self.range(&json!({"key": STANDARD.encode(key)})).await?;
        let Some(found) = found.into_iter().next() else {
            return Ok(None);
        };
        Ok(Some(Entry {
            key: key.to_owned(),
            mod_revision: found.mod_revision.parse().map_err(|_| strange())?,
            value: STANDARD.decode(found.value).map_err(|_| strange())?,
        }))
    }

    /// The first key from this one on, without its value; none if there is none.
    pub async fn first_key(&self, from: &[u8]) -> Result<Option<String>, String> {
        let range = json!({
            "key": STANDARD.encode(from), "range_end": STANDARD.encode([0]), "keys_only": true, "limit": 1,
        });
        let found = self.range(&range).await?.into_iter().next();
        let key = found.map(|found| STANDARD.decode(found.key).map_err(|_| strange()));
        Ok(key
            .transpose()?
            .map(|key| String::from_utf8_lossy(&key).into_owned()))
    }

    async fn range(&self, range: &Value) -> Result<Vec<KeyValue>, String> {
        let answer = self.post("/v3/kv/range", range).await;
        let answer = answer.map_err(|failure| match failure {
            Failure::Refused(why) | Failure::Unanswered(why) => why,
        })?;
        let range: Range = serde_json::from_value(answer).map_err(|_| strange())?;
        Ok(range.kvs)
    }

    /// Replaces the value, if the key still has the revision that was read. Sent once.
    pub async fn replace(&self, change: &StoredChange) -> Replaced {
        let StoredChange { before, after, .. } = change;
        let key = STANDARD.encode(&before.key);
        let transaction = json!({
            "compare": [{
                "key": key, "target": "MOD", "result": "EQUAL", "mod_revision": before.mod_revision.to_string(),
            }],
            "success": [{"request_put": {"key": key, "value": STANDARD.encode(after), "ignore_lease": true}}],
        });
        match self.post("/v3/kv/txn", &transaction).await {
            Ok(answer) => match serde_json::from_value(answer) {
                Ok(Transaction { succeeded: true }) => Replaced::Done,
                Ok(Transaction { succeeded: false }) => Replaced::Changed,
                Err(error) => {
                    Replaced::Unanswered(format!("the answer does not look like one of etcd: {error}"))
                }
            },
            Err(Failure::Refused(why)) => Replaced::Refused(why),
            Err(Failure::Unanswered(why)) => Replaced::Unanswered(why),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let lost = |why: String| Failure::Unanswered(why);
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string().into_bytes()))
            .map_err(|error| lost(error.to_string()))?;
        let asking = async {
            let answer = self
                .client
                .send(request)
                .await
                .map_err(|error| lost(fault::unreachable(&error, &self.url, None).to_string()))?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await;
            let body = body.map_err(|error| lost(format!("its answer broke off: {error}")))?;
            Ok((head.status, body.to_bytes()))
        };
        let answered = timeout(LIMIT, asking).await;
        let (status, body) = answered
            .map_err(|_| lost(format!("no answer from {} within {}s", self.url, LIMIT.as_secs())))??;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body)
                .map_err(|error| lost(format!("its answer is not JSON: {error}")));
        }
        let said: String = String::from_utf8_lossy(&body).chars().take(MAX_MESSAGE).collect();
        let why = format!("{} answered {status}: {}", self.url, said.trim());
        // A server error can follow a transaction that is stored.
        Err(if status.is_client_error() {
            Failure::Refused(why)
        } else {
            lost(why)
        })
    }
}
