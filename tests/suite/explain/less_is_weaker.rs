//! What an explanation costs and reads, and what it says when rights are missing.
//!
//! The audit log of the server tells which requests a run sent. Rights are withdrawn in the test process, from a
//! snapshot: [`withheld`]. Ten scenarios also withdraw them from real users, because the words of a refusal are the
//! server's: [`withstands_real_rights`].

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::weaker;

use crate::{
    explain::{reads, replayed::replayed, withheld},
    harness::{Asked, Cluster, Plugin, RunningPlugin, wait},
};

/// With more types than this, only some of the empty types are tried.
const MANY: usize = 25;
/// How often a difference is checked again, because the object may be changing.
const ATTEMPTS: u32 = 3;
/// How many plugins run at once: there are only this many processors.
const TOGETHER: usize = 3;

/// A verb on a type, in all namespaces.
type Right = (String, String);

/// Explains the target, then explains it again from a snapshot without each answer that the first run used: the
/// result may only be weaker. The snapshot must say the same as the cluster. Fails if more than `budget` requests
/// were sent, or if a request is not in [`reads`].
#[track_caller]
pub fn withstands_less(cluster: &Cluster, target: &str, namespace: &str, budget: usize) {
    let snapshot = replayed(cluster, target, namespace);
    let name = cluster.unique("everything");
    let (full, _) = within_budget(cluster, &name, target, namespace, budget);
    withheld::withstands_less(&snapshot, &full);
}

/// The same, and also with a real user for each right that the run used. This user has all other rights, because RBAC
/// only adds rights: each right has a group of its own.
///
/// Of the rights to list a namespace's content only some are tried: types in the explanation, single objects,
/// and one other type.
#[track_caller]
pub fn withstands_real_rights(cluster: &Cluster, target: &str, namespace: &str, budget: usize) {
    withstands_less(cluster, target, namespace, budget);
    // A later run may see another state, because controllers retry and other tests use the same cluster. A real
    // fault shows each time.
    let mut before = Vec::new();
    for _ in 1..ATTEMPTS {
        let (faults, _) = faults_without_each_right(cluster, target, namespace, budget);
        if faults.is_empty() {
            return;
        }
        before.extend(faults);
    }
    let (faults, full) = faults_without_each_right(cluster, target, namespace, budget);
    assert!(
        faults.is_empty(),
        "{}\nand before:\n{}\n{target}: {full:#}",
        faults.join("\n"),
        before.join("\n")
    );
}

/// Explains with all rights, and checks how many requests that took and what they read.
#[track_caller]
fn within_budget(
    cluster: &Cluster,
    name: &str,
    target: &str,
    namespace: &str,
    budget: usize,
) -> (Value, Vec<Asked>) {
    let all = ["system:masters".to_owned()];
    let full = said(explain_with_rights(cluster, name, &all, target, namespace));
    let asked = cluster.asked(&format!("\"username\":\"{name}\""));
    // Other tests create the objects on further pages. The version is only in JSON.
    let requests: Vec<_> = asked
        .iter()
        .filter_map(|asked| asked.event["requestURI"].as_str())
        .filter(|uri| !uri.contains("continue=") && *uri != "/version")
        .collect();
    assert!(
        !requests.is_empty() && requests.len() <= budget,
        "{} requests for {target}, and not {budget}: {requests:#?}",
        requests.len(),
    );
    reads::only_what_it_may(&asked, &full);
    (full, asked)
}

/// The faults of the explanations without one right, and the explanation with all rights.
#[track_caller]
fn faults_without_each_right(
    cluster: &Cluster,
    target: &str,
    namespace: &str,
    budget: usize,
) -> (Vec<String>, Value) {
    let all = ["system:masters".to_owned()];
    let name = cluster.unique("everything");
    let (before, asked) = within_budget(cluster, &name, target, namespace, budget);

    let used: BTreeSet<Right> = asked
        .into_iter()
        .filter(|asked| !asked.type_name.is_empty())
        .map(|asked| (asked.type_name, asked.verb))
        .collect();
    grant(cluster, &used);
    let types: BTreeSet<&String> = used.iter().map(|(type_name, _)| type_name).collect();
    let of = |hidden: &String| -> Vec<&Right> { used.iter().filter(|(name, _)| name == hidden).collect() };
    let mut withdrawals: Vec<Vec<&Right>> = used.iter().map(|right| vec![right]).collect();
    if types.len() > MANY {
        let text = before.to_string();
        let mut alike = 0;
        withdrawals.retain(|right| {
            let (type_name, verb) = right[0];
            let matters = verb == "get" || text.contains(type_name);
            alike += usize::from(!matters);
            matters || alike == 1
        });
    }
    withdrawals.extend(types.into_iter().map(of).filter(|rights| rights.len() > 1));

    let mut answers = Vec::new();
    for some in withdrawals.chunks(TOGETHER) {
        let running: Vec<_> = some
            .iter()
            .map(|withdrawn| {
                let left = used.iter().filter(|right| !withdrawn.contains(right));
                let groups: Vec<_> = left.map(group).collect();
                explain_with_rights(cluster, &cluster.unique("less"), &groups, target, namespace).spawn()
            })
            .collect();
        answers.extend(running.into_iter().map(RunningPlugin::finish));
    }
    let full = [
        before,
        said(explain_with_rights(cluster, &name, &all, target, namespace)),
    ];
    let target_right = (
        full[0]["target"]["resource"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        "get".to_owned(),
    );
    let mut faults = Vec::new();
    for (withdrawn, out) in withdrawals.iter().zip(answers) {
        let hidden = &withdrawn[0].0;
        let found = if withdrawn.contains(&&target_right) {
            let told = out.code == 1 && out.stdout.is_empty() && out.stderr.contains("cannot read");
            if told { Vec::new() } else { vec![out.to_string()] }
        } else {
            let less = serde_json::from_str(&out.clone().success()).expect("an explanation");
            weaker::faults(&full, &less, Some(hidden))
        };
        let verbs: Vec<_> = withdrawn.iter().map(|(_, verb)| verb.as_str()).collect();
        faults.extend(
            found
                .iter()
                .map(|fault| format!("without {} of {hidden}: {fault}", verbs.join(" and "))),
        );
    }
    let [full, _] = full;
    (faults, full)
}

/// Requests besides one for each type, with room for types that other tests create meanwhile.
const OTHERS: usize = 25;

/// How many requests may list a namespace's content: one for each type, and a few more.
pub fn for_all_types(cluster: &Cluster) -> usize {
    let types = cluster.kubectl(["api-resources", "--namespaced", "--verbs=list", "--no-headers"]);
    types.stdout.lines().count() + OTHERS
}

fn explain_with_rights(
    cluster: &Cluster,
    name: &str,
    groups: &[String],
    target: &str,
    namespace: &str,
) -> Plugin {
    let mut words = vec![
        "explain".to_owned(),
        target.to_owned(),
        "-o=json".to_owned(),
        format!("--as={name}"),
    ];
    if !namespace.is_empty() {
        words.push(format!("--namespace={namespace}"));
    }
    words.extend(groups.iter().map(|group| format!("--as-group={group}")));
    cluster.plugin(words)
}

#[track_caller]
fn said(plugin: Plugin) -> Value {
    serde_json::from_str(&plugin.run().success()).expect("an explanation")
}

fn group((type_name, verb): &Right) -> String {
    format!("may:{verb}:{type_name}")
}

/// Creates a group for each right. All scenarios of a cluster share these groups.
fn grant(cluster: &Cluster, rights: &BTreeSet<Right>) {
    static GRANTED: Mutex<BTreeSet<(String, Right)>> = Mutex::new(BTreeSet::new());
    let mut granted = GRANTED.lock().unwrap_or_else(PoisonError::into_inner);
    let new: Vec<_> = rights
        .iter()
        .filter(|right| granted.insert((cluster.url().to_owned(), (*right).clone())))
        .collect();
    let Some(last) = new.last() else { return };
    let api = "rbac.authorization.k8s.io";
    let objects: Vec<_> = new
        .iter()
        .flat_map(|right| {
            let (type_name, verb) = right;
            let (plural, in_group) = type_name.split_once('.').unwrap_or((type_name, ""));
            let metadata = json!({"name": group(right)});
            let rule = json!({"verbs": [verb], "apiGroups": [in_group], "resources": [plural]});
            [
                json!({"apiVersion": format!("{api}/v1"), "kind": "ClusterRole", "metadata": metadata, "rules": [rule]}),
                json!({
                    "apiVersion": format!("{api}/v1"), "kind": "ClusterRoleBinding", "metadata": metadata,
                    "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": metadata["name"]},
                    "subjects": [{"apiGroup": api, "kind": "Group", "name": metadata["name"]}],
                }),
            ]
        })
        .collect();
    cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
    // The authorizer gets the objects of a kind in the order of their creation.
    wait("the API server knows the rights", Duration::from_secs(10), || {
        let words = [
            "auth",
            "can-i",
            &last.1,
            &last.0,
            "--all-namespaces",
            "--as=somebody",
        ];
        let words = words
            .map(str::to_owned)
            .into_iter()
            .chain([format!("--as-group={}", group(last))]);
        cluster.kubectl(words).code == 0
    });
}

#[test]
fn the_audit_log_has_every_request() {
    let cluster = Cluster::shared();
    let name = cluster.unique("recorded");
    cluster
        .plugin([
            "explain",
            "ns/default",
            &format!("--as={name}"),
            "--as-group=system:masters",
        ])
        .run()
        .success();
    let asked = cluster.asked(&format!("\"username\":\"{name}\""));
    let all: Vec<&Asked> = asked
        .iter()
        .filter(|asked| asked.type_name == "namespaces")
        .collect();
    // One request explains the object, one checks at the end that it did not change.
    assert_eq!(all.len(), 2, "{asked:#?}");
    assert_eq!(
        (all[0].verb.as_str(), all[0].event["objectRef"]["name"].as_str()),
        ("get", Some("default"))
    );
}
