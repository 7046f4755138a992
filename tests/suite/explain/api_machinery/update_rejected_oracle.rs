//! Random webhooks on a real cluster. The verdict is `rejected` if and only if the server's dry run rejects the
//! removal of the finalizer. `FINALIZERS_ADMISSION_ROUNDS=200` plays more rounds, `FINALIZERS_ADMISSION_SEED`
//! others.

use serde_json::{Value, json};

use crate::{
    explain::{
        api_machinery::update_rejected::{GROUP, canary, configuration, two_versions, wait_until_used},
        dice::Dice,
        told::{delete, refusal},
    },
    harness::{Cluster, Options},
};

const HOLD: &str = "admission.example.test/hold";
const ROUNDS: u64 = 16;

/// Random choices of this test.
trait Choices {
    /// One or two of these values.
    fn some(&mut self, from: &[&str]) -> Value;
    fn selector(&mut self) -> Value;
}

impl Choices for Dice {
    fn some(&mut self, from: &[&str]) -> Value {
        let mut all = vec![*self.pick(from)];
        if self.below(3) == 0 {
            let more = *self.pick(from);
            // The server accepts `*` only alone.
            if !all.contains(&more) && more != "*" && all[0] != "*" {
                all.push(more);
            }
        }
        json!(all)
    }

    fn selector(&mut self) -> Value {
        let expression =
            |operator: &str| json!({"matchExpressions": [{"key": "team", "operator": operator}]});
        let within = |operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": "team", "operator": operator, "values": values}]});
        match self.below(14) {
            0 => json!({"matchLabels": {"team": "a"}}),
            1 => within("In", &["a", "c"]),
            2 => within("NotIn", &["a"]),
            3 => expression("Exists"),
            4 => expression("DoesNotExist"),
            _ => json!({}),
        }
    }
}

/// The plugin does not evaluate the last three. An empty field does not exist, and access to it is an error.
const CONDITIONS: &[&str] = &[
    "has(object.metadata.deletionTimestamp)",
    "!has(object.metadata.deletionTimestamp)",
    "object.metadata.deletionTimestamp == null",
    "oldObject.metadata.deletionTimestamp != null && request.operation == 'UPDATE'",
    "request.operation != 'DELETE'",
    "request.operation in ['CREATE', \"UPDATE\"]",
    "!(request.resource.group == '' && request.resource.resource in ['configmaps', 'namespaces'])",
    "request.resource.resource == 'widgets' || request.kind.kind == 'Gadget'",
    "request.name == 'w' || object.metadata.name in ['g']",
    "false && object.no.such.field == 'a'",
    "has(object.metadata.labels) && 'team' in oldObject.metadata.labels",
    "!has(object.metadata.labels) || object.metadata.labels['team'] == 'b'",
    "has(object.metadata.annotations) || oldObject.metadata.name == object.metadata.name",
    "request.namespace == 'inside' && request.subResource == ''",
    "request.namespace == ''",
    "request.userInfo.username == 'admin'",
];
const KNOWN: usize = CONDITIONS.len() - 3;

fn fields(dice: &mut Dice) -> (Value, bool) {
    let mut rule = json!({
        "apiGroups": dice.some(&["*", "*", "*", "*", GROUP, GROUP, "", "apps"]),
        "apiVersions": dice.some(&["*", "*", "*", "*", "v1", "v2", "v3"]),
        "resources": [dice.pick(&["*", "*", "*/*", "*/*", "widgets", "widgets/*", "gadgets", "configmaps", "namespaces", "namespaces/finalize",
            "widgets/status", "*/status"])],
        "operations": dice.some(&["*", "*", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "CREATE", "DELETE"]),
    });
    if dice.below(2) == 0 {
        rule["scope"] = json!(dice.pick(&["*", "Namespaced", "Cluster"]));
    }
    let mut fields =
        json!({"rules": [rule], "namespaceSelector": dice.selector(), "objectSelector": dice.selector()});
    if dice.below(3) == 0 {
        fields["matchPolicy"] = json!(dice.pick(&["Exact", "Equivalent"]));
    }
    if dice.below(8) == 0 {
        fields["failurePolicy"] = json!("Ignore");
    }
    let mut certain = true;
    if dice.below(5) < 2 {
        let chosen = dice.below(CONDITIONS.len());
        certain = chosen < KNOWN;
        fields["matchConditions"] = json!([{"name": "c", "expression": CONDITIONS[chosen]}]);
    }
    (fields, certain)
}

/// Targets in deletion, each with its namespace.
fn targets(cluster: &Cluster) -> [(String, &'static str); 4] {
    let meta = |name: &str, namespace: Option<&str>, team: Option<&str>| {
        let mut meta = json!({"name": name, "finalizers": [HOLD]});
        if let Some(namespace) = namespace {
            meta["namespace"] = json!(namespace);
        }
        if let Some(team) = team {
            meta["labels"] = json!({"team": team});
        }
        meta
    };
    two_versions(cluster, "widgets", "Widget", "Namespaced");
    two_versions(cluster, "gadgets", "Gadget", "Cluster");
    let custom = format!("{GROUP}/v2");
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "inside", "labels": {"team": "a"}}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta("n", None, Some("b"))}),
        json!({"apiVersion": custom, "kind": "Widget", "metadata": meta("w", Some("inside"), Some("a"))}),
        json!({"apiVersion": custom, "kind": "Gadget", "metadata": meta("g", None, None)}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("c", Some("inside"), Some("b"))}),
    ] {
        cluster.apply(&object.to_string());
    }
    let targets = [
        (format!("widgets.{GROUP}/w"), "inside"),
        (format!("gadgets.{GROUP}/g"), ""),
        ("configmaps/c".to_owned(), "inside"),
        ("namespaces/n".to_owned(), ""),
    ];
    for (what, namespace) in &targets {
        delete(cluster, what, namespace);
    }
    targets
}

/// The verdict on each target, and all explanations as one text.
fn stories(cluster: &Cluster, targets: &[(String, &str)]) -> Vec<(String, String)> {
    let mut words = vec!["explain", "-o=json", "--namespace=inside"];
    words.extend(targets.iter().map(|(what, _)| what.as_str()));
    let text = cluster.plugin(words).run().success();
    serde_json::Deserializer::from_str(&text)
        .into_iter::<Value>()
        .map(|story| {
            let story = story.unwrap();
            let waits = story["waitsFor"].as_array().unwrap();
            let held = waits
                .iter()
                .find(|wait| wait["finalizer"]["name"] == HOLD)
                .unwrap();
            (held["verdict"].as_str().unwrap().to_owned(), story.to_string())
        })
        .collect()
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn the_verdict_is_rejected_if_and_only_if_the_server_rejects() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let rounds = number("FINALIZERS_ADMISSION_ROUNDS").unwrap_or(ROUNDS);
    let mut dice = Dice::new(number("FINALIZERS_ADMISSION_SEED").unwrap_or(7));
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let targets = targets(&cluster);
    // A webhook of an earlier round could reject their creation later.
    for round in 0..rounds {
        canary(&cluster, "inside", &format!("canary-{round}"));
    }
    let (mut refused, mut passed) = (0, 0);
    let half = rounds / 2;
    for round in 0..rounds {
        let kind = if round < half {
            "ValidatingWebhookConfiguration"
        } else {
            "MutatingWebhookConfiguration"
        };
        if round == half {
            cluster
                .kubectl(["delete", "validatingwebhookconfiguration", "oracle"])
                .success();
        }
        let (fields, certain) = fields(&mut dice);
        let canary = format!("canary-{round}");
        cluster.apply(&configuration("inside", kind, "oracle", &canary, &fields).to_string());
        wait_until_used(&cluster, "inside", &canary);
        for ((what, namespace), (verdict, story)) in targets.iter().zip(stories(&cluster, &targets)) {
            let said = refusal(&cluster, what, namespace);
            let context = format!("round {round}, {what}: {said:?}\n{fields:#}\n{story}");
            match (&*verdict, &said) {
                ("rejected", Some(said)) => assert!(said.contains("case.example.test"), "{context}"),
                ("rejected", None) => panic!("it would not be refused: {context}"),
                (_, Some(_)) => assert!(!certain && story.contains("case.example.test"), "{context}"),
                (_, None) => {}
            }
            *(if said.is_some() { &mut refused } else { &mut passed }) += 1;
        }
    }
    eprintln!("{rounds} webhooks: {refused} refusals, {passed} passed");
    assert!(refused > 0 && passed > 0, "{refused} refused, {passed} passed");
}
