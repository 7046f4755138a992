//! Measures how long it takes to find out who may change an object, and what can reject the change, with very
//! many roles and webhooks: `cargo bench --bench holder`, without a cluster.
//!
//! There are 20,000 bindings of 2,000 roles, and 3,000 webhooks, 100 of which match the object. The yardstick
//! is decoding the same lists as a server sends them (JSON to values). In turn with it, the benchmark
//! measures:
//! - explaining an object with an unknown finalizer: its controller is found by the permissions on the
//!   object;
//! - explaining an object whose controller runs and does nothing: the permissions of its account are
//!   computed;
//! - explaining 200 objects of one type one after the other, as `scan` does: the permissions are computed
//!   once.
//!
//! The claim: each explanation takes well under a second, and less time than decoding what it reads.
//! `-- --bindings 5000` and `-- --webhooks 500` set other numbers.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs
)]

use std::{collections::BTreeMap, hint::black_box, time::Instant};

use jiff::Timestamp;
use kubectl_finalizers::{
    diagnose::{self, Verdict, diagnose, diagnose_with},
    knowledge::Knowledge,
    object::ResourceType,
    snapshot::{
        facts::{Answer, By, Facts, Object, Query, Resource},
        selector::Selector,
    },
};
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T12:00:00Z";
const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
/// The resources that accounts of other controllers may change.
const OTHERS: [&str; 5] = ["pods", "services", "configmaps", "deployments", "ingresses"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str, otherwise: usize| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map_or(otherwise, |at| arguments[at + 1].parse().expect("a number"))
    };
    let world = World::new(number("--bindings", 20_000), number("--webhooks", 3_000));
    let knowledge = Knowledge::builtin();
    let decoding = best(5, || {
        black_box(
            world
                .texts
                .iter()
                .map(|(resource, text)| decoded(resource, text).len())
                .sum::<usize>(),
        );
    });
    let bytes: usize = world.texts.iter().map(|(_, text)| text.len()).sum();
    println!(
        "decoding {:5.1} MB of lists, the yardstick  {decoding:8.1} ms",
        bytes as f64 / 1e6
    );
    for (what, target, verdict) in [
        (
            "a holder that nobody has described",
            target("widgets.acme-corp.example/hold"),
            Verdict::Waiting,
        ),
        (
            "one that runs: may it?",
            target("finalizer.keda.sh"),
            Verdict::Failing,
        ),
    ] {
        let facts = world.facts_for(&target, &knowledge);
        let progress = diagnose(&target, &facts, &knowledge);
        assert!(progress.wanted.is_empty());
        assert_eq!(
            progress.diagnosis.waits[0].verdict, verdict,
            "{:#?}",
            progress.diagnosis
        );
        let took = best(9, || {
            black_box(diagnose(&target, &facts, &knowledge));
        });
        println!("{what:42} {took:8.1} ms, {:.2} of the yardstick", took / decoding);
        let many = best(3, || {
            let view = diagnose::view(&facts, &knowledge);
            for _ in 0..200 {
                black_box(diagnose_with(&target, &view));
            }
        });
        println!(
            "{:42} {many:8.1} ms, {:.2} of the yardstick",
            "200 of them",
            many / decoding
        );
    }
}

/// Milliseconds for one run, the best of several.
fn best(times: usize, run: impl Fn()) -> f64 {
    let once = || {
        let began = Instant::now();
        run();
        began.elapsed().as_secs_f64() * 1000.0
    };
    (0..times).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// A custom object that has been terminating for ten minutes.
fn target(finalizer: &str) -> Object {
    let (group, plural, kind) = if finalizer.ends_with("keda.sh") {
        ("keda.sh", "scaledobjects", "ScaledObject")
    } else {
        ("acme-corp.example", "widgets", "Widget")
    };
    made(
        &Resource::new(group, plural),
        json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": "a", "namespace": "shop", "uid": "u",
            "deletionTimestamp": "2026-01-01T11:50:00Z", "finalizers": [finalizer]}}),
    )
}

fn made(resource: &Resource, value: Value) -> Object {
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    Object {
        resource: resource.clone(),
        kind: text("kind"),
        api_version: text("apiVersion"),
        value,
    }
}

fn decoded(resource: &Resource, text: &str) -> Vec<Object> {
    let Value::Object(mut list) = serde_json::from_str(text).unwrap() else {
        unreachable!("lists are objects");
    };
    let Value::Array(items) = list["items"].take() else {
        unreachable!("lists have items");
    };
    items.into_iter().map(|item| made(resource, item)).collect()
}

/// A cluster, in the form of a server's lists.
struct World {
    texts: Vec<(Resource, String)>,
    objects: BTreeMap<Resource, Vec<Object>>,
}

impl World {
    fn new(bindings: usize, webhooks: usize) -> Self {
        let half = bindings / 2;
        let roles = (bindings / 10).max(2);
        let lists = [
            (
                Resource::new(RBAC, "clusterroles"),
                (0..roles).map(role).collect::<Vec<_>>(),
            ),
            (
                Resource::new(RBAC, "clusterrolebindings"),
                (0..half).map(|at| binding(at, roles, false)).collect(),
            ),
            (
                Resource::new(RBAC, "rolebindings"),
                (half..bindings).map(|at| binding(at, roles, true)).collect(),
            ),
            (
                Resource::new(ADMISSION, "validatingwebhookconfigurations"),
                (0..webhooks).map(webhook).collect(),
            ),
            (
                Resource::new("apps", "deployments"),
                vec![
                    deployment("operators", "widgets"),
                    deployment("keda", "keda-operator"),
                ],
            ),
        ];
        let texts: Vec<_> = lists
            .into_iter()
            .map(|(resource, items)| (resource, json!({"metadata": {}, "items": items}).to_string()))
            .collect();
        World {
            objects: texts
                .iter()
                .map(|(resource, text)| (resource.clone(), decoded(resource, text)))
                .collect(),
            texts,
        }
    }

    /// The facts after every wanted query has been answered.
    fn facts_for(&self, target: &Object, knowledge: &Knowledge) -> Facts {
        let types = self
            .objects
            .keys()
            .chain([&target.resource])
            .map(|resource| ResourceType {
                group: resource.group.clone(),
                plural: resource.plural.clone(),
                ..ResourceType::default()
            });
        let mut facts = Facts {
            redacted: false,
            now: NOW.parse::<Timestamp>().unwrap(),
            types: types.collect(),
            gaps: Vec::new(),
            kept: 0,
            answers: BTreeMap::new(),
        };
        loop {
            let wanted = diagnose(target, &facts, knowledge).wanted;
            if wanted.is_empty() {
                return facts;
            }
            for query in wanted {
                let answer = self.answer(&query);
                facts.answers.insert(query, Ok(answer));
            }
        }
    }

    fn answer(&self, query: &Query) -> Answer {
        let all = |resource: &Resource, namespace: &Option<String>| {
            let objects = self.objects.get(resource).into_iter().flatten();
            let place = namespace.clone();
            objects.filter(move |object| place.as_ref().is_none_or(|place| object.namespace() == place))
        };
        match query {
            Query::Object {
                resource,
                namespace,
                name,
            } => {
                let is_namespace = resource.name() == "namespaces";
                let namespace_object =
                    || made(resource, json!({"kind": "Namespace", "metadata": {"name": name}}));
                let found = all(resource, namespace)
                    .find(|object| object.name() == name)
                    .cloned();
                Answer::Object(
                    found
                        .or_else(|| is_namespace.then(namespace_object))
                        .map(Box::new),
                )
            }
            Query::List { resource, namespace } => Answer::List(all(resource, namespace).cloned().collect()),
            Query::Search {
                resource,
                namespace,
                by,
            } => {
                let fits = |object: &&Object| match by {
                    By::Name(name) => object.name() == name,
                    By::Labels(selector) => Selector::parse(selector).unwrap().matches(&object.labels()),
                    By::Node(node) => object.text("/spec/nodeName") == node,
                    By::Held => !object.finalizers().is_empty(),
                };
                Answer::List(all(resource, namespace).filter(fits).cloned().collect())
            }
            Query::Events { .. } | Query::Owned(_) => Answer::List(Vec::new()),
            Query::Version => Answer::Version("v1.34.1".into()),
            Query::Content { .. } => Answer::Content(Box::default()),
        }
    }
}

/// The role at 0 belongs to the controller of widgets.
fn role(at: usize) -> Value {
    let mut rules: Vec<_> = OTHERS
        .iter()
        .map(|resource| json!({"apiGroups": ["", "apps"], "resources": [resource], "verbs": ["get", "list", "update"]}))
        .collect();
    if at == 0 {
        rules.push(json!({"apiGroups": ["acme-corp.example"], "resources": ["widgets", "widgets/status"], "verbs": ["*"]}));
    }
    json!({"kind": "ClusterRole", "metadata": {"name": format!("role-{at}")}, "rules": rules})
}

fn binding(at: usize, roles: usize, in_namespace: bool) -> Value {
    let account = |name: String| json!({"kind": "ServiceAccount", "namespace": "operators", "name": name});
    // The first role has one binding.
    let role = if at == 0 { 0 } else { 1 + at % (roles - 1) };
    let name = if at == 0 {
        "widgets".to_owned()
    } else {
        format!("account-{at}")
    };
    let kind = if in_namespace {
        "RoleBinding"
    } else {
        "ClusterRoleBinding"
    };
    let mut metadata =
        json!({"name": format!("binding-{at}"), "labels": {"app.kubernetes.io/managed-by": "Helm"}});
    if in_namespace {
        metadata["namespace"] = "shop".into();
    }
    json!({"kind": kind, "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": format!("role-{role}")},
        "subjects": [account(name), account(format!("other-{at}")), {"kind": "User", "name": format!("user-{at}")}]})
}

/// Every thirtieth webhook matches all updates, if its condition allows it.
fn webhook(at: usize) -> Value {
    let asked = at.is_multiple_of(30);
    let groups = if asked {
        json!(["*"])
    } else {
        json!([format!("group-{at}.example")])
    };
    json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": format!("webhook-{at}")},
        "webhooks": [{"name": format!("w{at}.example.com"), "failurePolicy": "Fail", "sideEffects": "None",
            "clientConfig": {"url": format!("https://webhook-{at}.example.com/")},
            "rules": [{"apiGroups": groups, "apiVersions": ["*"], "resources": ["*"], "operations": ["UPDATE"], "scope": "*"}],
            "namespaceSelector": {"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]},
            "matchConditions": [{"name": "one", "expression": format!("object.metadata.name != 'x{at}'")}]}]})
}

/// A Deployment with one ready Pod.
fn deployment(namespace: &str, name: &str) -> Value {
    let labels = json!({"app": name});
    json!({"kind": "Deployment", "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name}}},
        "status": {"readyReplicas": 1}})
}
