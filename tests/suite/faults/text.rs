//! Text from the server that attacks the terminal. No control character reaches a terminal.

use serde_json::{Value, json};

use super::{
    fake::{Fake, Fault, Kind, Object, Running, cluster_object, hostile, object},
    healthy, report, scan,
};
use crate::harness::{Output, Plugin};

const FORMS: [&str; 5] = ["table", "wide", "name", "json", "yaml"];

/// What no byte of the output may do: start a control sequence, move the cursor, reverse the line, or be
/// invisible.
#[track_caller]
fn harmless(out: &Output) {
    for text in [&out.stdout, &out.stderr] {
        let acts = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}')
        };
        assert!(
            !text.contains(acts),
            "{:?} in {text:?}",
            text.chars().find(|&c| acts(c))
        );
        assert!(!text.contains(char::REPLACEMENT_CHARACTER), "{text:?}");
    }
    assert!(!out.stderr.contains("panicked"), "{out}");
}

fn stuck(namespace: &str, name: &str) -> Object {
    object(namespace, name).deleting("2026-01-01T00:00:00Z")
}

/// A server with this text in every field of the API that is printed.
fn everywhere(text: &str) -> Fake {
    let condition = |kind: &str| json!({ "type": kind, "status": "True", "reason": text, "message": text });
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces"))
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .object("pods", stuck("db", text).finalizer("a/b"))
        .object("pods", stuck(text, "in-odd-namespace").finalizer(text))
        .object("pods", stuck("db", "in-name-of-two").finalizer(text).finalizer(format!("{text}2")))
        .object(
            "namespaces",
            cluster_object("conditions")
                .deleting("2026-01-01T00:00:00Z")
                .spec(json!({ "finalizers": [text] }))
                .status(json!({ "conditions": [condition("NamespaceDeletionDiscoveryFailure"), condition(text)] })),
        )
        .with_type(Kind::new("failing.example.com", "v1", "gadgets"))
        .on("/apis/failing.example.com/v1/gadgets", Fault::internal(text))
        .with_type(Kind::new("html.example.com", "v1", "gadgets"))
        .on("/apis/html.example.com/v1/gadgets", Fault::text(500, text))
        .with_type(Kind::new("expired.example.com", "v2", "gizmos"))
        .with_type(Kind::new("expired.example.com", "v1", "gizmos"))
        .on(
            "/apis/expired.example.com/v2/gizmos",
            Fault::internal(format!("conversion webhook for x failed: {text}")),
        )
        .with_type(Kind::new(text, "v1", "things"))
        .with_type(Kind::new("odd.example.com", text, "things"))
        .with_type(Kind::new("odd.example.com", "v1", text).short(text).category(text).kind(text))
        .object(&format!("{text}.odd.example.com"), stuck("", "of-an-odd-type").finalizer("a/b"))
        .with_type(Kind::new("stale.example.com", "v1", text))
        .stale("stale.example.com", "v1")
        .with_type(Kind::new("apiregistration.k8s.io", "v1", "apiservices"))
        .object(
            "apiservices.apiregistration.k8s.io",
            cluster_object("v1.stale.example.com").status(json!({ "conditions": [
                { "type": "Available", "status": "False", "reason": text, "message": text }
            ] })),
        )
}

#[test]
fn text_from_the_server_is_escaped_in_tables() {
    let shown = |name: &str, server: &Running, form: &str| {
        let out = scan(server, &["--all", "-o", form]);
        assert_eq!(out.code, 0, "{name}, {form}: {out}");
        harmless(&out);
    };
    for (name, text) in hostile::ALL {
        let server = everywhere(text).start();
        for form in FORMS {
            shown(name, &server, form);
        }
        shown(
            name,
            &everywhere(text).legacy_discovery().json_only().start(),
            "wide",
        );
    }
}

#[test]
fn json_and_yaml_keep_the_original_characters() {
    for (name, text) in hostile::ALL {
        let server = everywhere(text).start();
        let json: Value = report(&server, &[]).json;
        let yaml = scan(&server, &["-o", "yaml"]).success();
        let yaml: Value =
            serde_saphyr::from_str(&yaml).unwrap_or_else(|error| panic!("{name}: {error}\n{yaml}"));
        for report in [&json, &yaml] {
            let objects = report["terminating"].as_array().unwrap();
            assert!(
                objects.iter().any(|object| object["name"] == *text),
                "{name}: {report:#}"
            );
            assert!(
                objects.iter().any(|object| object["namespace"] == *text),
                "{name}"
            );
        }
    }
}

#[test]
fn text_in_errors_is_escaped() {
    for (name, text) in hostile::ALL {
        for fault in [
            Fault::internal(*text),
            Fault::text(500, text),
            Fault::json(format!("{text}[")),
        ] {
            let out = scan(&healthy().on("/api*", fault).start(), &[]);
            assert_eq!(out.code, 1, "{name}: {out}");
            harmless(&out);
        }
        harmless(&scan(
            &healthy().start(),
            &[&format!("odd{}", text.replace(['\0', ','], ""))],
        ));
    }
}

#[test]
fn each_line_of_names_is_one_object_for_kubectl_and_for_a_shell() {
    let odd = [
        "has space",
        "line\nbreak",
        "tab\tbed",
        "quo'te",
        "quo\"te",
        "back\\slash",
        "$(reboot)",
        "`reboot`",
        "a;b",
        "a|b",
        "--kubeconfig=x",
        "",
        "a&b",
        "a>b",
        "*",
        "x y -n kube-system",
        "{a,b}",
        "~",
        "#x",
        "\u{1b}[2J",
    ];
    let mut fake = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(Kind::new("rbac.authorization.k8s.io", "v1", "clusterroles"))
        .object(
            "clusterroles.rbac.authorization.k8s.io",
            stuck("", "system:node-proxier_1").finalizer("a/b"),
        )
        .object("pods", stuck("db", "web-1.example").finalizer("a/b"));
    for name in odd {
        fake = fake
            .object("pods", stuck("db", name).uid(&format!("n{name}")))
            .object("pods", stuck(&format!("-{name}"), "x").uid(&format!("ns{name}")));
    }
    let out = scan(&fake.start(), &["-o", "name"]);
    assert_eq!(
        out.stdout,
        "clusterroles.rbac.authorization.k8s.io/system:node-proxier_1\npods/web-1.example -n db\n"
    );
    // What is left out is reported.
    assert!(
        out.stderr.contains("left out 40 objects") && out.stderr.contains("-o json"),
        "{out}"
    );
}

#[test]
fn a_very_long_message_is_shortened() {
    let server = healthy()
        .on(super::PODS, Fault::internal(hostile::long(1 << 20)))
        .start();
    for form in FORMS {
        let out = scan(&server, &["-o", form]).success();
        assert!(out.len() < 32 << 10, "{form}: {} bytes", out.len());
    }
}

#[test]
fn text_in_explanations_is_escaped() {
    for (name, text) in hostile::ALL {
        let server = everywhere(text).start();
        for target in [
            &["namespaces/conditions"][..],
            &["pods/in-name-of-two", "-n", "db"],
        ] {
            for form in ["table", "json"] {
                let arguments = ["explain", "-o", form].into_iter().chain(target.iter().copied());
                let out = Plugin::new(arguments).kubeconfig(server.kubeconfig()).run();
                assert!(!out.stdout.is_empty(), "{name}, {target:?}, {form}: {out}");
                harmless(&out);
            }
        }
        let finalizer = format!("odd.example/{}", text.replace('\0', ""));
        harmless(&Plugin::new(["explain", &finalizer]).run());
    }
}
