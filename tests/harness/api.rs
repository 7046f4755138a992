//! Requests to the API server from within the test process.
//!
//! A test asks for objects again and again while it waits. Each kubectl is a process that costs a tenth of a second of
//! CPU time, so this speaks for it where kubectl is not the point. Words and results are those of kubectl.

use std::{path::Path, sync::LazyLock, time::Duration};

use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time};

use super::{
    types::{Type, Types},
    wait,
};

/// Longer than any request of a test; only a frozen server takes so long.
const LIMIT: Duration = Duration::from_secs(60);
/// Who owns the fields that `kubectl apply --server-side` sets.
const MANAGER: &str = "kubectl";

const JSON: &str = "application/json";
/// Asks for all types of all groups at once.
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Two threads: requests of all tests wait here at the same time, and they are small.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime starts")
});

/// A client with the credentials of one kubeconfig.
pub struct Api {
    client: Client,
    types: Types,
}

/// What the server answered.
pub struct Answer {
    pub code: StatusCode,
    pub body: Value,
}

impl Answer {
    /// The object, if the request succeeded.
    #[track_caller]
    pub(super) fn success(self, what: &str) -> Value {
        assert!(
            self.code.is_success(),
            "{what}: {} {}",
            self.code,
            self.body["message"].as_str().unwrap_or_default()
        );
        self.body
    }
}

impl Api {
    /// Reads the kubeconfig; no request is sent yet.
    pub fn new(kubeconfig: &Path) -> Self {
        let client = RUNTIME.block_on(async {
            let file = Kubeconfig::read_from(kubeconfig).expect("the kubeconfig is valid");
            let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .expect("the kubeconfig has a current context");
            Client::try_from(config).expect("the credentials are valid")
        });
        Self {
            client,
            types: Types::default(),
        }
    }

    /// Sends one request. A connection that the server closed is opened again, once.
    pub fn send(&self, method: &str, path: &str, content: &str, body: &Value) -> Result<Answer, String> {
        let form = [JSON, content];
        self.once(method, path, form, body)
            .or_else(|_| self.once(method, path, form, body))
    }

    fn once(
        &self,
        method: &str,
        path: &str,
        [accept, content]: [&str; 2],
        body: &Value,
    ) -> Result<Answer, String> {
        let what = format!("{method} {path}");
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, content)
            .body(Body::from(bytes))
            .map_err(|error| format!("{what}: {error}"))?;
        RUNTIME.block_on(async {
            let exchange = async {
                let response = self
                    .client
                    .send(request)
                    .await
                    .map_err(|error| format!("{what}: {error}"))?;
                let code = response.status();
                let bytes = response
                    .into_body()
                    .collect()
                    .await
                    .map_err(|error| format!("{what}: {error}"))?
                    .to_bytes();
                let body = serde_json::from_slice(&bytes)
                    .unwrap_or_else(|_| json!({"message": String::from_utf8_lossy(&bytes)}));
                Ok(Answer { code, body })
            };
            time::timeout(LIMIT, exchange)
                .await
                .map_err(|_| format!("{what}: no answer within {LIMIT:?}"))?
        })
    }

    /// Whether the server says that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.once("GET", "/readyz", [JSON, JSON], &Value::Null)
            .is_ok_and(|answer| answer.code.is_success())
    }

    fn read(&self, path: &str) -> Result<Answer, String> {
        self.send("GET", path, JSON, &Value::Null)
    }

    /// Finds a type by the word that kubectl takes; the list is read again if the word is not in it.
    #[track_caller]
    fn find(&self, what: impl Fn(&Type) -> bool) -> Option<Type> {
        self.types.find(&what, |path| {
            let answer = self.once("GET", path, [DISCOVERY, JSON], &Value::Null);
            answer.unwrap_or_else(|error| panic!("{error}")).success(path)
        })
    }

    /// The type of objects with this version and kind. Discovery knows a new type a moment later than it is served.
    #[track_caller]
    pub(super) fn type_of(&self, version: &str, kind: &str) -> Type {
        let mut ty = None;
        wait(
            &format!("the server has {version} {kind}"),
            Duration::from_secs(10),
            || {
                ty = self.find(|ty| ty.api_version() == version && ty.kind == kind);
                ty.is_some()
            },
        );
        ty.expect("the wait ends with a type")
    }

    /// `kubectl get … -o json --ignore-not-found`; `Err` for words that only kubectl understands.
    #[track_caller]
    pub(super) fn get(&self, words: &[String]) -> Result<Option<Value>, ()> {
        let wanted = Words::parse(words)?;
        let Some(ty) = self.find(|ty| ty.is_named(&wanted.resource)) else {
            return Err(());
        };
        let everywhere = wanted.everywhere.then_some("");
        let namespace = everywhere.or(wanted.namespace.as_deref()).unwrap_or("default");
        let mut path = ty.path(namespace);
        if let Some(name) = &wanted.name {
            path = format!("{path}/{}", encoded(name));
        } else if let Some(selector) = &wanted.selector {
            path = format!("{path}?labelSelector={}", encoded(selector));
        }
        let answer = self.read(&path).unwrap_or_else(|error| panic!("{error}"));
        if answer.code == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let mut found = answer.success(&format!("GET {path}"));
        if wanted.name.is_some() {
            return Ok(Some(found));
        }
        // kubectl prints a list of whole objects.
        let mut items = std::mem::take(&mut found["items"]);
        for item in items.as_array_mut().into_iter().flatten() {
            item["apiVersion"] = ty.api_version().into();
            item["kind"] = ty.kind.clone().into();
        }
        Ok(Some(json!({"apiVersion": "v1", "kind": "List", "items": items})))
    }

    /// `kubectl apply --server-side` of a text with one or more documents.
    #[track_caller]
    pub(super) fn apply(&self, manifest: &str, namespace: &str) {
        for object in objects(manifest) {
            self.apply_one(&object, namespace);
        }
    }

    #[track_caller]
    fn apply_one(&self, object: &Value, namespace: &str) {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let kind = text("/kind");
        let ty = self.type_of(text("/apiVersion"), kind);
        let namespace = match text("/metadata/namespace") {
            "" => namespace,
            own => own,
        };
        let mut object = object.clone();
        if ty.namespaced {
            object["metadata"]["namespace"] = namespace.into();
        }
        let name = encoded(object["metadata"]["name"].as_str().expect("an object has a name"));
        let path = format!(
            "{}/{name}?fieldManager={MANAGER}&fieldValidation=Strict",
            ty.path(namespace)
        );
        let answer = self.send("PATCH", &path, "application/apply-patch+yaml", &object);
        answer
            .unwrap_or_else(|error| panic!("{error}"))
            .success(&format!("apply {kind} {name}"));
    }

    /// `kubectl patch … --type=merge`; `Err` for words that only kubectl understands. The subresource may be empty.
    #[track_caller]
    pub(super) fn patch(
        &self,
        words: &[String],
        subresource: &str,
        manager: &str,
        change: &Value,
    ) -> Result<(), ()> {
        let path = self.path_of(words)?;
        let path = format!("{path}{subresource}?fieldManager={manager}");
        let answer = self.send("PATCH", &path, "application/merge-patch+json", change);
        answer
            .unwrap_or_else(|error| panic!("{error}"))
            .success(&format!("PATCH {path}"));
        Ok(())
    }

    /// `kubectl delete … --wait=false --cascade=…`; `Err` for words that only kubectl understands.
    #[track_caller]
    pub(super) fn delete(&self, words: &[String], policy: &str) -> Result<(), ()> {
        let path = self.path_of(words)?;
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
        let answer = self.send("DELETE", &path, JSON, &options);
        answer
            .unwrap_or_else(|error| panic!("{error}"))
            .success(&format!("DELETE {path}"));
        Ok(())
    }

    /// The path of the object that the words name.
    #[track_caller]
    fn path_of(&self, words: &[String]) -> Result<String, ()> {
        let wanted = Words::parse(words)?;
        let (Some(ty), Some(name)) = (self.find(|ty| ty.is_named(&wanted.resource)), &wanted.name) else {
            return Err(());
        };
        let namespace = wanted.namespace.as_deref().unwrap_or("default");
        Ok(format!("{}/{}", ty.path(namespace), encoded(name)))
    }

    /// Whether a request for this path succeeds, and soon. The server lets those for a type wait whose objects it cannot read.
    pub(super) fn serves(&self, path: &str) -> bool {
        let request = Request::builder().uri(path).body(Body::empty());
        let Ok(request) = request else { return false };
        RUNTIME.block_on(async {
            let answer = time::timeout(Duration::from_secs(10), self.client.send(request)).await;
            matches!(answer, Ok(Ok(answer)) if answer.status().is_success())
        })
    }

    /// Creates an object of a built-in type.
    #[track_caller]
    pub(super) fn create(&self, path: &str, object: &Value) {
        let answer = self.send("POST", path, JSON, object);
        answer
            .unwrap_or_else(|error| panic!("{error}"))
            .success(&format!("POST {path}"));
    }

    /// Asks for the deletion of a collection and does not care what becomes of it.
    pub(super) fn begin_to_delete(&self, collection: &str) {
        let options = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        let request = Request::builder()
            .method("DELETE")
            .uri(collection)
            .header(header::CONTENT_TYPE, JSON)
            .body(Body::from(options.to_string().into_bytes()));
        let Ok(request) = request else { return };
        RUNTIME.block_on(async {
            let _ = time::timeout(Duration::from_secs(3), self.client.send(request)).await;
        });
    }

    /// Takes the finalizers off all ConfigMaps of a namespace and does not care what becomes of it.
    pub(super) fn free_config_maps(&self, namespace: &str) {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let found = self.read(&path).map(|answer| answer.body).unwrap_or_default();
        let held = |item: &&Value| !item["metadata"]["finalizers"].is_null();
        for item in found["items"].as_array().into_iter().flatten().filter(held) {
            let path = format!("{path}/{}", item["metadata"]["name"].as_str().unwrap_or_default());
            let free = json!({"metadata": {"finalizers": null}});
            let _ = self.send("PATCH", &path, "application/merge-patch+json", &free);
        }
    }

    /// `kubectl auth can-i VERB TYPE`.
    pub(super) fn may(&self, verb: &str, resource: &str, namespace: Option<&str>) -> bool {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let group = if resource == "*" { "*" } else { group };
        let attributes = json!({"verb": verb, "resource": plural, "group": group, "namespace": namespace.unwrap_or_default()});
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes}});
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = self.send("POST", path, JSON, &review);
        answer.is_ok_and(|answer| answer.body["status"]["allowed"] == true)
    }
}

/// The objects of a text with one or more documents, which may be lists.
#[track_caller]
pub(super) fn objects(manifest: &str) -> Vec<Value> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(manifest).unwrap_or_else(|error| panic!("{error}\nin {manifest}"));
    let mut objects = Vec::new();
    for mut document in documents {
        let is_list = document["kind"] == "List";
        match document.get_mut("items") {
            Some(Value::Array(items)) if is_list => objects.append(items),
            _ => objects.push(document),
        }
    }
    objects.retain(|object| !object.is_null());
    objects
}

/// The words of a kubectl command about one type.
#[derive(Default)]
struct Words {
    resource: String,
    name: Option<String>,
    namespace: Option<String>,
    everywhere: bool,
    selector: Option<String>,
}

impl Words {
    /// `Err` for what is left to kubectl: other flags, several types or several names.
    fn parse(words: &[String]) -> Result<Self, ()> {
        let mut parsed = Self::default();
        let mut plain = Vec::new();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            match flag {
                "--namespace" | "-n" | "--selector" | "-l" => {
                    let value = if value.is_empty() {
                        words.next().ok_or(())?
                    } else {
                        value
                    };
                    if flag.ends_with('n') || flag == "--namespace" {
                        parsed.namespace = Some(value.to_owned());
                    } else {
                        parsed.selector = Some(value.to_owned());
                    }
                }
                "--all-namespaces" | "-A" => parsed.everywhere = true,
                _ if word.starts_with('-') => return Err(()),
                _ => plain.push(word),
            }
        }
        let (resource, name) = match plain[..] {
            [one] => one
                .split_once('/')
                .map_or((one, None), |(ty, name)| (ty, Some(name))),
            [resource, name] if !resource.contains('/') => (resource, Some(name)),
            _ => return Err(()),
        };
        if resource.contains(',') {
            return Err(());
        }
        resource.clone_into(&mut parsed.resource);
        parsed.name = name.map(str::to_owned);
        Ok(parsed)
    }
}

/// A value in a URL.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(one).collect()
}
