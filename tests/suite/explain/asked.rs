//! Targets that do not exist, that exist in several namespaces, or whose type name is ambiguous.

use super::{refused, told::SOON};
use crate::harness::{Cluster, Options, wait};

/// A type with one object, `x`.
fn with_a_type(cluster: &Cluster, group: &str, names: &str) {
    let plural = names.split([':', ',']).nth(1).unwrap().trim();
    cluster.apply(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: Cluster
  names: {{{names}}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
"
    ));
    let kind = names.split("kind: ").nth(1).unwrap().split(',').next().unwrap();
    wait("the new type is served", SOON, || {
        cluster.kubectl(["get", &format!("{plural}.{group}")]).code == 0
    });
    cluster.apply(&format!(
        "{{apiVersion: {group}/v1, kind: {kind}, metadata: {{name: x}}}}"
    ));
}

/// Compares with the real kubectl, so the test fails if kubectl resolves names differently.
#[test]
fn an_ambiguous_type_name_resolves_as_in_kubectl_and_the_other_type_is_named() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    cluster.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}");
    cluster.apply("{apiVersion: v1, kind: Service, metadata: {name: x, namespace: default}, spec: {ports: [{port: 80}]}}");
    for (group, names) in [
        (
            "zz.example.com",
            "plural: services, kind: Service, shortNames: [svc, cm]",
        ),
        (
            "aa.example.com",
            "plural: gadgets, kind: Gadget, shortNames: [gg, widget]",
        ),
        (
            "bb.example.com",
            "plural: widgets, kind: Gadget, shortNames: [gg, service]",
        ),
        (
            "cc.example.com",
            "plural: things, singular: gadgetish, kind: Odd, shortNames: [oddity]",
        ),
        (
            "dd.example.com",
            "plural: odds, singular: oddone, kind: Odder, shortNames: [odd]",
        ),
    ] {
        with_a_type(&cluster, group, names);
    }
    let both = "svc service services cm gg gadget Gadget widget widgets gadgetish odd oddone oddity gg.bb.example.com \
                services.zz services.v1.zz.example.com cm.zz.example.com";
    for word in both.split(' ') {
        let kubectl = cluster.kubectl(["get", word, "x", "-o", "json"]).success();
        let kubectl: serde_json::Value = serde_json::from_str(&kubectl).unwrap();
        let ours = cluster.plugin(["explain", word, "x", "-o", "json"]).run();
        let said = super::document(&ours.clone().success());
        for field in ["apiVersion", "kind"] {
            assert_eq!(said["target"][field], kubectl[field], "{word}: {ours}");
        }
        let other = match word {
            "svc" | "service" | "services" | "cm" => "services.zz.example.com",
            "gg" | "gadget" | "Gadget" => "widgets.bb.example.com",
            _ => "",
        };
        if other.is_empty() {
            assert!(ours.stderr.is_empty(), "{word}: {ours}");
        } else {
            assert!(
                ours.stderr.contains(&format!("write {other} for the other")),
                "{word}: {ours}"
            );
        }
    }
}

#[test]
fn a_target_without_name_or_type_is_an_error() {
    let cluster = Cluster::shared();
    let hint = "write pv/NAME or pv NAME; what is stuck: kubectl finalizers scan pv";
    for (words, error) in [
        (&["pv/"] as &[&str], "pv/: there is no name behind the slash"),
        (&["pv/", "x"], "pv/: there is no name behind the slash"),
        (&["pv/a/b"], "pv/a/b: no name of an object has a slash"),
        (
            &["pv", "a%2Fb"],
            "pv/a%2Fb: no name of an object has a percent sign",
        ),
        (&["pv", ".."], "pv/..: no object is called that"),
    ] {
        refused(cluster.plugin([&["explain"], words].concat()), 2, error, hint);
    }
    refused(
        cluster.plugin(["explain", "deploymnets/x"]),
        2,
        "there is no type \"deploymnets\" that can be listed",
        "did you mean deployments.apps?",
    );
    refused(
        cluster.plugin(["explain", "quuxes.example.com", "x"]),
        2,
        "there is no type \"quuxes.example.com\" that can be listed",
        "kubectl api-resources lists the types",
    );
    refused(
        cluster.plugin(["explain", "all", "x"]),
        2,
        "all is a category of types: which type is it?",
        "what is stuck among them: kubectl finalizers scan all",
    );
    let alone = cluster.plugin(["explain", "pvc"]).run();
    assert_eq!(alone.code, 2, "{alone}");
    assert!(
        alone
            .stderr
            .contains("which persistentvolumeclaim? Write pvc/NAME"),
        "{alone}"
    );
}

#[test]
fn a_missing_object_suggests_near_names() {
    let cluster = Cluster::shared();
    let (here, there) = (cluster.namespace("whereabouts"), cluster.namespace("kept-apart"));
    for (ns, name) in [(&here, "uploads"), (&here, "uploads-old"), (&there, "only-there")] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}"
        ));
    }
    let explain = |name: &str, ns: &str| cluster.plugin(["explain", "cm", name, "-n", ns]);
    let missing = |name: &str| format!("configmaps {name} in namespace {} does not exist", here.name());
    refused(
        explain("uplaods", here.name()),
        1,
        &missing("uplaods"),
        "did you mean uploads?",
    );
    refused(
        explain("upload", here.name()),
        1,
        &missing("upload"),
        "did you mean uploads or uploads-old?",
    );
    refused(
        explain("only-there", here.name()),
        1,
        &missing("only-there"),
        &format!(
            "there is one in namespace {0}: kubectl finalizers explain configmaps/only-there -n {0}",
            there.name()
        ),
    );
    refused(
        explain("nothing-like-it", here.name()),
        1,
        &missing("nothing-like-it"),
        "if it was stuck, it is gone now",
    );
    // One letter differs, and no other namespace has the name.
    let typo = here.name().replace("whereabouts", "whereabuots");
    refused(
        explain("quux", &typo),
        1,
        &format!("namespace {typo} does not exist, and so no configmaps quux in it"),
        &format!("did you mean namespace {}?", here.name()),
    );
    refused(
        cluster.plugin(["explain", "pv/no-such-volume-at-all"]),
        1,
        "persistentvolumes no-such-volume-at-all does not exist",
        "if it was stuck, it is gone now",
    );

    let getter = cluster
        .user("may-get")
        .may("get", "configmaps,namespaces")
        .create();
    refused(
        explain("uplaods", here.name()).as_user(&getter),
        1,
        &missing("uplaods"),
        "you may not list configmaps there, so no similar name can be offered",
    );
    let at_home = cluster
        .user("at-home")
        .may_in(here.name(), "get,list", "configmaps")
        .create();
    refused(
        explain("uplaods", here.name()).as_user(&at_home),
        1,
        &missing("uplaods"),
        "did you mean uploads?",
    );
    let nobody = cluster.user("may-nothing").create();
    let out = explain("uploads", here.name()).as_user(&nobody).run();
    assert_eq!(out.code, 1, "{out}");
    assert!(out.stderr.contains("cannot read configmaps uploads"), "{out}");
    assert!(out.stderr.contains("forbidden"), "{out}");
}

/// Includes Secrets: the search asks for metadata only, and names are metadata.
#[test]
fn an_object_is_found_in_any_namespace() {
    let cluster = Cluster::shared();
    let (one, two) = (cluster.namespace("one"), cluster.namespace("two"));
    let name = cluster.unique("token");
    for ns in [&one, &two] {
        ns.apply(&format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}}}"
        ));
    }
    let out = cluster
        .plugin(["explain", "-A", "secret", &name, "-o", "name"])
        .run();
    let mut lines: Vec<_> = out.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            format!("secrets/{name} -n {}", one.name()),
            format!("secrets/{name} -n {}", two.name())
        ],
        "{out}"
    );
    refused(
        cluster.plugin(["explain", "-A", "secret", "no-such-secret"]),
        1,
        "there is no secrets no-such-secret in any namespace",
        "if it was stuck, it is gone now",
    );
}
