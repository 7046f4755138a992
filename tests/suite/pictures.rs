//! Pictures of the recorded cluster, and of files in which strangers chose the names.

use std::fs;

use tempfile::TempDir;

use crate::harness::Plugin;

const RECORDED: &str = "examples/stuck-cluster.snapshot";
/// A name that breaks out of each of the three languages if it is not quoted.
const HOSTILE: &str = r#"a"]; b [label="c</script><img src=x onerror=alert(1)>-->%%{init}%%"#;

fn drawn(words: &[&str], from: &str, format: &str) -> String {
    let all = words.iter().copied().chain(["-o", format, "--from", from]);
    let output = Plugin::new(all).run();
    assert!(!output.stderr.contains("error"), "{output}");
    output.success()
}

#[test]
fn a_scan_and_an_explanation_have_each_picture() {
    for words in [&["scan"][..], &["explain", "pvc/data-0", "-n", "db"]] {
        let dot = drawn(words, RECORDED, "dot");
        assert!(dot.contains("digraph waits {") && dot.ends_with("}\n"), "{dot}");
        assert!(dot.contains(r#"[label="pod/db-0 -n db\nkeeps it\n"#), "{dot}");
        let mermaid = drawn(words, RECORDED, "mermaid");
        assert!(mermaid.contains("\nflowchart LR\n"), "{mermaid}");
        assert!(mermaid.contains("pod/db-0 -n db<br/>keeps it<br/>"), "{mermaid}");
        let page = drawn(words, RECORDED, "html");
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
            "{page}"
        );
        assert!(page.contains("default-src 'none'"), "{page}");
        assert!(page.contains("<code>pod/db-0 -n db</code>"), "{page}");
        assert!(
            page.contains(concat!("kubectl-finalizers v", env!("CARGO_PKG_VERSION"))),
            "{page}"
        );
        // The same recording is drawn the same.
        assert_eq!(page, drawn(words, RECORDED, "html"));
    }
}

#[test]
fn root_causes_are_marked_with_a_word() {
    let explained = ["explain", "challenges.acme.cert-manager.io/api-cert", "-n", "pay"];
    for format in ["dot", "mermaid"] {
        assert!(
            drawn(&["scan"], RECORDED, format).contains("root cause"),
            "{format}"
        );
    }
    for format in ["dot", "mermaid", "html"] {
        assert!(
            drawn(&explained, RECORDED, format).contains("root cause"),
            "{format}"
        );
    }
}

#[test]
fn several_objects_are_one_picture() {
    let words = ["explain", "pvc/data-0", "ns/pay", "-n", "db"];
    assert_eq!(drawn(&words, RECORDED, "dot").matches("digraph").count(), 1);
    assert_eq!(drawn(&words, RECORDED, "mermaid").matches("flowchart").count(), 1);
    let page = drawn(&words, RECORDED, "html");
    assert_eq!(page.matches("<!DOCTYPE").count(), 1);
    assert_eq!(page.matches("<article").count(), 2);
}

#[test]
fn the_picture_shows_gaps() {
    for format in ["dot", "mermaid", "html"] {
        let picture = drawn(&["scan"], RECORDED, format);
        assert!(picture.contains("NOT READ (may hide stuck objects)"), "{picture}");
        assert!(picture.contains("metrics.k8s.io/v1beta1"), "{picture}");
    }
}

#[test]
fn names_from_files_stay_text() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("hostile.json");
    let object = serde_json::json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": HOSTILE,
            "namespace": "db",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 0,
            "finalizers": [format!("example.com/{HOSTILE}")],
        },
    });
    fs::write(&file, object.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for (format, raw) in [
        ("dot", &[r#""]; b"#, "</script>"][..]),
        ("mermaid", &["\"]; b", "</script>", "-->%", "%%{"]),
        ("html", &["c</script>", "<img"]),
    ] {
        let picture = drawn(&["scan"], file, format);
        assert!(picture.contains("init"), "{picture}");
        for raw in raw {
            // A quote behind a backslash ends no text of dot.
            assert!(!picture.replace("\\\"", "").contains(raw), "{raw} in\n{picture}");
        }
    }
}

#[test]
fn refuses_an_output_that_cannot_be_drawn() {
    for format in ["dot", "mermaid", "html"] {
        let finalizer = Plugin::new(["explain", "kubernetes.io/pv-protection", "-o", format]).run();
        assert_eq!(
            (finalizer.code, finalizer.stdout.as_str()),
            (2, ""),
            "{finalizer}"
        );
        assert!(
            finalizer.stderr.contains("no picture of a finalizer alone"),
            "{finalizer}"
        );
        let holders = Plugin::new(["scan", "--by", "holder", "-o", format, "--from", RECORDED]).run();
        assert_eq!(holders.code, 2, "{holders}");
        assert_eq!(Plugin::new(["catalog", "-o", format]).run().code, 2);
    }
}
