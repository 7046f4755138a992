//! Tests which accounts may change the object, and what missing rights of the controller mean.

use serde_json::{Value, json};

use crate::diagnose::{
    complaint::says_denied,
    testing::fixtures::{controller, going},
};

use super::*;

#[test]
fn a_controller_without_rights_is_failing() {
    let without = World::of([
        definition(),
        deployment("cert-manager", &labels(), 1, 1),
        account("cert-manager", "cert-manager"),
    ]);
    let diagnosis = without.explain(&challenge());
    assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0].on[0]
            .says
            .contains("may neither update nor patch challenges.acme.cert-manager.io")
    );
    let repair = diagnosis
        .steps
        .iter()
        .find(|step| step.text.contains("lacks the right to update"));
    let check = repair.and_then(|step| step.command.as_ref());
    assert_eq!(
        check.map(ToString::to_string).as_deref(),
        Some(
            "kubectl auth can-i update challenges.acme.cert-manager.io -n pay \
             --as=system:serviceaccount:cert-manager:cert-manager"
        )
    );
    // Rights that cannot be read are not missing rights.
    let hidden =
        World::of([definition(), deployment("cert-manager", &labels(), 1, 1)]).hiding("clusterroles");
    assert_eq!(verdict(&hidden.explain(&challenge())), Verdict::Waiting);
}

#[test]
fn a_program_of_the_type_is_not_the_controller_of_a_finalizer_of_another_product() {
    let group = "policy.open-cluster-management.io";
    let explained = |finalizer: &str| {
        let metadata = going("p", "ns", &[finalizer]);
        let policy = object(
            group,
            "policies",
            "Policy",
            json!({"metadata": metadata, "spec": {}}),
        );
        let labels = json!({"app": "policy-propagator"});
        let world = World::of(controller("ocm", "policy-propagator", &labels, group));
        verdict(&world.serving(group, "policies", "Policy").explain(&policy))
    };
    let of_global_hub = "global-hub.open-cluster-management.io/resource-cleanup";
    assert_eq!(explained(of_global_hub), Verdict::Unknown);
    assert_ne!(
        explained("policy.open-cluster-management.io/clean"),
        Verdict::Unknown
    );
}

#[test]
fn a_controller_that_may_not_delete_what_it_deletes_first_is_failing() {
    let account = json!([{"kind": "ServiceAccount", "namespace": "ot-operators", "name": "redis-operator"}]);
    let explained = |granted_on: Value, storage: &Value, hidden: &'static str| {
        let mut operator = deployment("ot-operators", &json!({"name": "redis-operator"}), 1, 1);
        operator.value["metadata"]["name"] = "redis-operator".into();
        operator.value["spec"]["template"]["spec"]["serviceAccountName"] = "redis-operator".into();
        let [mut role, bound] = granted("redis-operator", &json!(["redis", "redis/finalizers"]), &account);
        role.value["rules"][0]["apiGroups"] = json!(["redis.redis.opstreelabs.in"]);
        let rules = role.value["rules"].as_array_mut().expect("rules");
        let mut of_claims = json!({"apiGroups": [""], "resources": granted_on, "verbs": ["get", "delete"]});
        if granted_on[1] == "NAMED" {
            of_claims["resourceNames"] = json!(["data-cache-0"]);
        }
        rules.push(of_claims);
        let redis = object(
            "redis.redis.opstreelabs.in",
            "redis",
            "Redis",
            json!({"metadata": going("cache", "shop", &["redisFinalizer"]), "spec": {"storage": storage}}),
        );
        let world =
            World::of([operator, role, bound]).serving("", "persistentvolumeclaims", "PersistentVolumeClaim");
        let world = if hidden.is_empty() {
            world
        } else {
            world.hiding(hidden)
        };
        world.explain(&redis)
    };
    let diagnosis = explained(json!(["pods"]), &json!({}), "");
    assert_eq!(verdict(&diagnosis), Verdict::Failing, "{diagnosis:#?}");
    let lack = "may not delete persistentvolumeclaims, by the cluster's roles and bindings";
    assert!(diagnosis.waits[0].on[0].says.contains(lack), "{diagnosis:#?}");
    let check = diagnosis.steps.iter().find_map(|step| step.command.as_ref());
    assert_eq!(
        check.map(ToString::to_string).as_deref(),
        Some(
            "kubectl auth can-i delete persistentvolumeclaims -n shop --as=system:serviceaccount:ot-operators:redis-operator"
        )
    );
    // It has the right, or needs none, or its rights could not be read.
    for (granted_on, storage, hidden) in [
        (json!(["persistentvolumeclaims"]), json!({}), ""),
        (json!(["*"]), json!({}), ""),
        (json!(["persistentvolumeclaims", "NAMED"]), json!({}), ""),
        (json!(["pods"]), json!({"keepAfterDelete": true}), ""),
        (json!(["pods"]), Value::Null, ""),
        (json!(["pods"]), json!({}), "roles"),
    ] {
        let diagnosis = explained(granted_on, &storage, hidden);
        assert_ne!(
            verdict(&diagnosis),
            Verdict::Failing,
            "{storage} {hidden}: {diagnosis:#?}"
        );
    }
}

/// Roles may be read wrongly here. What the controller says itself is the better evidence.
#[test]
fn a_controller_that_gives_another_reason_does_not_fail_for_want_of_rights() {
    let mut challenge = challenge();
    challenge.value["status"] = json!({"conditions": [{"type": "Deleting", "status": "True", "reason": "Waiting",
        "message": "waiting until the record is gone", "lastTransitionTime": "2026-01-01T09:00:05Z"}]});
    let without = World::of([
        definition(),
        deployment("cert-manager", &labels(), 1, 1),
        account("cert-manager", "cert-manager"),
    ]);
    assert_eq!(verdict(&without.explain(&challenge)), Verdict::Waiting);
    assert!(says_denied("challenges is forbidden") && !says_denied("waiting until the record is gone"));
}

#[test]
fn a_pipeline_with_edit_rights_is_not_the_controller() {
    let account = |name: &str| json!([{"kind": "ServiceAccount", "namespace": "ops", "name": name}]);
    let mut pipeline = deployment("ops", &json!({"app": "ci"}), 1, 1);
    pipeline.value["metadata"]["name"] = "ci".into();
    pipeline.value["spec"]["template"]["spec"]["serviceAccountName"] = "ci".into();
    let mut all = vec![pipeline];
    all.extend(granted("widget-editor", &json!(["widgets"]), &account("ci")));
    let diagnosis = World::of(all.clone()).explain(&widget());
    assert!(
        diagnosis.waits[0].says().contains("ops/ci"),
        "no other account has the rights: {diagnosis:#?}"
    );
    all.extend(granted(
        "widget-manager",
        &json!(["widgets", "widgets/finalizers"]),
        &account("manager"),
    ));
    let diagnosis = World::of(all).explain(&widget());
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("Deployment ops/ci: runs and may change widgets.widgets.test"),
        "what may be the controller is named: {diagnosis:#?}"
    );
    let role = "runs and may change widgets.widgets.test, by widget-editor";
    assert!(
        diagnosis.evidence.iter().any(|one| one.value == role),
        "{diagnosis:#?}"
    );
}

#[test]
fn evaluates_rights_as_the_api_server_does() {
    let account = json!([{"kind": "ServiceAccount", "namespace": "cert-manager", "name": "cert-manager"}]);
    let base = || {
        vec![
            definition(),
            deployment("cert-manager", &labels(), 1, 1),
            self::account("cert-manager", "cert-manager"),
        ]
    };
    let with = |role: &str, change: &dyn Fn(&mut Value)| {
        let [mut granted, bound] = granted(role, &json!(["challenges"]), &account);
        granted.value["rules"][0]["apiGroups"] = json!(["acme.cert-manager.io"]);
        change(&mut granted.value["rules"][0]);
        let mut all = base();
        all.extend([granted, bound]);
        verdict(&World::of(all).explain(&challenge()))
    };
    assert_eq!(with("r", &|_| {}), Verdict::Waiting);
    assert_eq!(with("system:borrowed", &|_| {}), Verdict::Waiting);
    assert_eq!(
        with("r", &|rule| rule["resourceNames"] = json!(["api-cert"])),
        Verdict::Waiting
    );
    assert_eq!(
        with("r", &|rule| rule["resourceNames"] = json!(["another"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["verbs"] = json!(["get", "list", "watch"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["resources"] = json!(["challenges/status"])),
        Verdict::Failing
    );
    assert_eq!(
        with("r", &|rule| rule["apiGroups"] = json!([""])),
        Verdict::Failing
    );
    // The rules of a role that collects others, as its manifest has it.
    let collecting = |label: &str| {
        let [mut part, bound] = granted("r", &json!(["challenges"]), &account);
        part.value["rules"][0]["apiGroups"] = json!(["acme.cert-manager.io"]);
        let mut whole = part.clone();
        part.value["metadata"] = json!({"name": "part", "labels": {"into": label}});
        whole.value["rules"] = Value::Null;
        whole.value["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"into": "all"}}]});
        let mut all = base();
        all.extend([part, whole, bound]);
        verdict(&World::of(all).explain(&challenge()))
    };
    assert_eq!(collecting("all"), Verdict::Waiting);
    assert_eq!(collecting("others"), Verdict::Failing);
}

#[test]
fn the_operator_of_a_framework_is_whoever_signs_the_object_and_may_change_it() {
    let world = |name: &str| {
        let labels = json!({"app": name});
        let mut operator = deployment("tidy", &labels, 0, 0);
        operator.value["metadata"]["name"] = name.into();
        operator.value["spec"]["template"]["spec"]["serviceAccountName"] = "tidy".into();
        let [mut role, bound] = granted(
            "tidy",
            &json!(["namespaces"]),
            &json!([{"kind": "ServiceAccount", "namespace": "tidy", "name": "tidy"}]),
        );
        role.value["rules"] = json!([{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["patch"]}]);
        World::of([operator, role, bound])
    };
    let space = object(
        "",
        "namespaces",
        "Namespace",
        json!({"metadata": {"name": "old", "finalizers": ["kopf.zalando.org/KopfFinalizerMarker"],
            "annotations": {"tidy-operator.kopf.dev/last-seen": "x"},
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0},
            "status": {"phase": "Terminating"}}),
    );
    let signed = world("tidy-operator").explain(&space);
    assert!(
        signed.waits[0]
            .says()
            .contains("Deployment tidy/tidy-operator: is scaled to 0 replicas"),
        "{signed:#?}"
    );
    assert!(first_change(&signed).text.contains("let tidy-operator run again"));
    assert_eq!(command_line(&signed.steps[0]), "kubectl describe namespaces/old");
    // The same rights under a name that the object does not have say nothing.
    let unsigned = world("another").explain(&space);
    assert_eq!(verdict(&unsigned), Verdict::Unknown, "{unsigned:#?}");
}

/// Each OpenStack operator puts a finalizer that is named after its own kind on objects of the others.
#[test]
fn the_kind_in_a_finalizer_leads_to_the_operator_of_that_kind() {
    let [database, network] = ["mariadb", "neutron"].map(|name| {
        let program = format!("{name}-operator-controller-manager");
        let labels = json!({"openstack.org/operator-name": name});
        controller(
            &format!("{name}-system"),
            &program,
            &labels,
            &format!("{name}.openstack.org"),
        )
    });
    let said = |finalizer: &str| {
        let metadata = going("db", "ns", &[finalizer]);
        let target = object(
            "mariadb.openstack.org",
            "mariadbdatabases",
            "MariaDBDatabase",
            json!({"metadata": metadata}),
        );
        let world = World::of(database.clone().into_iter().chain(network.clone()));
        let world = world.serving("neutron.openstack.org", "neutronapis", "NeutronAPI");
        world.explain(&target).waits[0].says()
    };
    let network = said("openstack.org/neutronapi");
    assert!(
        network.contains("neutron-operator-controller-manager") && !network.contains("mariadb-operator"),
        "{network}"
    );
    let own = said("openstack.org/mariadbdatabase");
    assert!(
        own.contains("mariadb-operator-controller-manager") && !own.contains("neutron-operator"),
        "{own}"
    );
}

#[test]
fn several_leases_of_one_domain_are_of_several_programs() {
    let renewed = |namespace: &str| {
        let mut renewed = lease("2026-01-01T11:59:58Z");
        renewed.value["metadata"] =
            json!({"name": format!("{namespace}.widgets.test"), "namespace": namespace});
        renewed
    };
    let said = |all: Vec<Object>| World::of(all).explain(&widget()).waits[0].says();
    assert!(said(vec![renewed("one")]).contains("This runs, and is probably it: Lease one/one.widgets.test"));
    let both = said(vec![renewed("one"), renewed("two")]);
    assert!(
        both.contains("Lease one/one.widgets.test") && both.contains("Lease two/two.widgets.test"),
        "{both}"
    );
}
