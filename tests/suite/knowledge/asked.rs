//! Inputs of `explain FINALIZER`, their forms, and the answers for finalizers outside the catalogue.

use std::{
    fs,
    io::Read,
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{PV, PVC, explain, json, names};
use crate::harness::Plugin;

#[test]
fn pasted_text_is_understood() {
    for (pasted, expected) in [
        (&[PV] as &[&str], &[PV] as &[&str]),
        (&["'kubernetes.io/pv-protection',"], &[PV]),
        (&["\"kubernetes.io/pv-protection\""], &[PV]),
        (&["[kubernetes.io/pv-protection]"], &[PV]),
        (
            &[
                "[\"kubernetes.io/pv-protection\",",
                "\"kubernetes.io/pvc-protection\"]",
            ],
            &[PV, PVC],
        ),
        (
            &["{\"metadata\":{\"finalizers\":[\"kubernetes.io/pv-protection\"]}}"],
            &[PV],
        ),
        (&["metadata.finalizers: - kubernetes.io/pv-protection"], &[PV]),
        (&["metadata.finalizers:", "-", PV], &[PV]),
        (&["- kubernetes.io/pv-protection"], &[PV]),
        (
            &["- kubernetes.io/pv-protection\n- kubernetes.io/pvc-protection"],
            &[PV, PVC],
        ),
        (&["-", PV], &[PV]),
        (&["KUBERNETES.IO/PV-Protection"], &[PV]),
        (&["kubernetes.io/pv-protection,"], &[PV]),
        (&[PV, PVC, PV], &[PV, PVC]),
        (
            &["foregrounddeletion", "orphan"],
            &["foregroundDeletion", "orphan"],
        ),
        // Every argument is a name. In a text, only words that look like a finalizer are.
        (&["orphan", "my-own"], &["orphan", "my-own"]),
        (
            &["some content has finalizers remaining: kubernetes.io/pvc-protection in 1 resource instances"],
            &[PVC],
        ),
        (
            &["acme.cert-manager.io/finalizer"],
            &["acme.cert-manager.io/finalizer"],
        ),
    ] {
        let report = json(explain(&[pasted, &["-o", "json"]].concat()));
        assert_eq!(names(&report), expected, "{pasted:?}");
    }
}

#[test]
fn a_manifest_on_standard_input_is_read() {
    let manifest = "kind: Namespace\nmetadata:\n  name: x\n  finalizers:\n  - example.com/own\nspec:\n  finalizers:\n  - kubernetes\n";
    let output = Plugin::new(["explain", "-", "-o", "json"]).stdin(manifest).run();
    assert_eq!(names(&json(output)), ["example.com/own", "kubernetes"]);
    let nothing = Plugin::new(["explain", "-"]).stdin("").run();
    assert_eq!(nothing.code, 2, "{nothing}");
    assert!(
        nothing
            .stderr
            .contains("no name of a finalizer on standard input"),
        "{nothing}"
    );
}

#[test]
fn a_name_matched_in_another_case_says_so() {
    let text = explain(&["Kubernetes.io/PV-Protection"]).success();
    assert!(
        text.starts_with("kubernetes.io/pv-protection\n(given as Kubernetes.io/PV-Protection"),
        "{text}"
    );
}

#[test]
fn an_unknown_name_is_called_unknown_and_the_rest_deduced() {
    let text = explain(&["kubernetes.io/pv-protecton"]).success();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "kubernetes.io/pv-protecton is not in the catalogue: no controller is known for it."
    );
    assert!(lines[1].contains("nothing confirms"), "{text}");
    assert_eq!(
        lines[2],
        "Removal by hand costs: unknown, so data-loss is assumed."
    );
    assert!(
        lines[3].contains("did you mean") && lines[3].contains(PV),
        "{text}"
    );
    let report = json(explain(&["kubernetes.io/pv-protecton", "-o", "json"]));
    let one = &report["finalizers"][0];
    assert_eq!(one["inCatalogue"], false);
    assert_eq!(one["deduced"]["near"][0], PV);
    let name = explain(&["kubernetes.io/pv-protecton", PVC, "-o", "name"]);
    assert_eq!((name.code, &*name.stdout), (0, "kubernetes.io/pvc-protection\n"));
    assert!(
        name.stderr.contains("pv-protecton is not in the catalogue"),
        "{name}"
    );
}

#[test]
fn a_too_general_pattern_is_not_called_knowledge() {
    let text = explain(&["my-app-deleted"]).success();
    assert!(
        text.starts_with("my-app-deleted is not in the catalogue: "),
        "{text}"
    );
    assert!(text.contains("Only if the object is of its kinds:"), "{text}");
}

#[test]
fn a_bare_type_or_object_gets_the_command_that_helps() {
    let output = explain(&["pvc"]);
    assert_eq!(output.code, 2, "{output}");
    for command in [
        "kubectl finalizers catalog --kinds pvc",
        "kubectl finalizers scan pvc",
    ] {
        assert!(output.stderr.contains(command), "{output}");
    }
    // The type was forgotten.
    let output = explain(&["web-1"]);
    assert_eq!((output.code, &*output.stdout), (2, ""), "{output}");
    assert!(output.stderr.contains("TYPE/web-1"), "{output}");
    let perhaps = explain(&["widgets.example.com/x"]).success();
    assert!(perhaps.contains("widgets.example.com x\n"), "{perhaps}");
}

#[test]
fn finalizers_are_explained_even_beside_an_object_without_a_cluster() {
    let output = Plugin::new(["explain", PV, "pv/x"])
        .env("KUBECONFIG", "/nonexistent")
        .run();
    assert!(output.code != 0 && output.stdout.starts_with(PV), "{output}");
}

#[test]
fn no_kubeconfig_is_read() {
    let home = TempDir::new().unwrap();
    let garbage = home.path().join("garbage");
    fs::write(&garbage, "{ this is: no kubeconfig").unwrap();
    fs::create_dir(home.path().join(".kube")).unwrap();
    fs::copy(&garbage, home.path().join(".kube/config")).unwrap();
    for verb in [&["explain", PV] as &[&str], &["catalog"]] {
        let plain = Plugin::new(verb.iter().copied()).run().success();
        for path in [&garbage, &home.path().join("missing")] {
            let run = || {
                Plugin::new(verb.iter().copied())
                    .home(home.path())
                    .kubeconfig(path)
                    .run()
            };
            assert_eq!(run().success(), plain);
        }
    }
}

#[test]
fn hostile_strings_do_no_harm() {
    let long = "x".repeat(100_000);
    let long_name = format!("{long}.example.com/{long}");
    for hostile in [
        "\u{1b}]0;owned\u{7}\u{1b}[2J.example.com/x",
        "example.com/\u{202e}txt.exe",
        "wrangler.cattle.io/$(reboot)",
        "wrangler.cattle.io/`reboot`",
        "wrangler.cattle.io/x&reboot",
        "wrangler.cattle.io/|reboot",
        "example.com/{name}{finalizer}{{",
        "%s%n/%x",
        "\u{feff}",
        "",
        " ",
        "\n",
        "你好.example.com/世界",
        "../../etc/passwd",
        &long_name[..100_000],
    ] {
        for format in ["table", "wide", "json", "yaml", "name"] {
            let output = explain(&[hostile, "-o", format]);
            assert!([0, 2].contains(&output.code), "{hostile:?} {output}");
            assert!(!output.stderr.contains("panicked"), "{output}");
            let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!output.stdout.contains(acts), "{format} {:?}", output.stdout);
            assert!(!output.stderr.contains(acts), "{format} {:?}", output.stderr);
            if ["table", "wide"].contains(&format) {
                // The string appears only as the name, and never in a command.
                let commands = output
                    .stdout
                    .lines()
                    .filter(|line| line.trim_start().starts_with("kubectl"));
                let risky = commands
                    .filter(|line| line.contains("reboot"))
                    .collect::<Vec<_>>();
                assert!(risky.is_empty(), "{risky:?}");
            }
        }
        let found = super::catalog(&[hostile]);
        assert!(found.code == 0 && !found.stderr.contains("panicked"), "{found}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in [
        &["catalog", "-o", "json"] as &[&str],
        &["catalog", "-o", "wide"],
        &["explain", "-"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-finalizers"))
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, PV.as_bytes()).unwrap();
        drop(stdin);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), &*said),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}
