//! `snapshot FILE`, and explanations and scans from such a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::LazyLock,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    explain::{
        replayed::{as_if_live, compare_when_stable, from, taken, timeless},
        told::condition,
    },
    harness::{Cluster, Plugin},
    stuck,
};

/// The cluster of the examples, after the grace period of its Pod and after the namespace controller wrote its
/// conditions. From then on the result does not change.
pub static STUCK: LazyLock<Cluster> = LazyLock::new(|| {
    let cluster = stuck::settled();
    condition(&cluster, "pay", "NamespaceDeletionDiscoveryFailure", "True");
    cluster
});

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_scan_of_a_snapshot_equals_the_scan_of_the_cluster() {
    compare_when_stable(|| {
        let folder = folder();
        let file = taken(&STUCK, &folder, "", "");
        let look = |line: &str| {
            let said = |text: &str| unpadded(&as_if_live(&timeless(text), &file));
            let live = || said(&STUCK.plugin(words(line)).run().success());
            [said(&from(&file, words(line))), live(), live()]
        };
        [
            "scan -o json",
            "scan --all -o json",
            "scan --terminating -o json",
            "scan -n db -o json",
            "scan -n pay --all -o json",
            "scan pvc,pv -o json",
            "scan --exclude ns,pods -o json",
            "scan --finalizer *pvc-protection -o json",
            "scan --older-than 1s -o json",
            "scan --older-than 9h -o json",
            "scan --sort-by name -o name",
            "scan --no-headers -o wide",
        ]
        .map(look)
        .to_vec()
    });
    let folder = folder();
    let file = taken(&STUCK, &folder, "", "");
    let code = Plugin::new(["scan", "--exit-code", "--from", &file.display().to_string()])
        .run()
        .code;
    assert_eq!(code, 4);
}

#[test]
fn the_same_file_always_gives_the_same_result() {
    let folder = folder();
    let file = taken(&STUCK, &folder, "", "");
    let first = from(&file, words("scan -o json"));
    let unpacked = folder.path().join("plain");
    let packed = fs::read(&file).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text).unwrap();
    fs::write(&unpacked, &text).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(first, from(&file, words("scan -o json")));
    let other = from(&unpacked, words("scan -o json"));
    assert_eq!(as_if_live(&first, &file), as_if_live(&other, &unpacked));
    assert!(first.contains(STUCK.url()), "{first}");
    let piped = Plugin::new(["scan", "-o=json", "--from=-"])
        .stdin(&text)
        .run()
        .success();
    // What came in on standard input cannot be read again, so there is no next command.
    assert_eq!(without_next(&first), without_next(&piped));
}

fn without_next(report: &str) -> Value {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("next");
                fields.values_mut().for_each(remove);
            }
            Value::Array(items) => items.iter_mut().for_each(remove),
            _ => {}
        }
    }
    let mut report = serde_json::from_str(report).unwrap();
    remove(&mut report);
    report
}

#[test]
fn the_file_is_complete_or_absent_and_only_its_owner_can_read_it() {
    let folder = folder();
    let file = taken(&STUCK, &folder, "", "db");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let names = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 1);
    let before = fs::read(&file).unwrap();
    let again = STUCK.plugin(["snapshot", &file.display().to_string()]).run();
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("exists, and is not overwritten"), "{again}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let nowhere = folder.path().join("no/such/place");
    let failed = STUCK
        .plugin(["snapshot", &nowhere.display().to_string(), "-n", "db"])
        .run();
    assert_eq!(failed.code, 1, "{failed}");
    assert!(failed.stderr.contains("cannot write"), "{failed}");
    let absent = folder.path().join("absent");
    let failed = STUCK
        .plugin([
            "snapshot",
            &absent.display().to_string(),
            "pvc/no-such",
            "-n",
            "db",
        ])
        .run();
    assert_eq!(failed.code, 1, "{failed}");
    assert!(failed.stderr.contains("does not exist"), "{failed}");
    assert_eq!(names(), 1);
}

#[test]
fn a_type_that_was_not_recorded_is_unknown_later() {
    let folder = folder();
    let file = taken(&STUCK, &folder, "", "db");
    let other = Plugin::new(["explain", "pvc/uploads", "-n", "shop", "--from", &text(&file)]).run();
    assert_eq!(other.code, 1, "{other}");
    assert!(other.stderr.contains("not in this snapshot"), "{other}");
    let other = Plugin::new(["scan", "-n", "shop", "--exit-code", "--from", &text(&file)]).run();
    assert_eq!(other.code, 5, "{other}");
    let labels = Plugin::new(["scan", "-l", "app=web", "--from", &text(&file)]).run();
    assert_eq!(labels.code, 2, "{labels}");
}

#[test]
fn the_file_has_only_the_metadata_of_a_secret() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("vault");
    ns.apply(
        "{apiVersion: v1, kind: Secret, metadata: {name: key, finalizers: [example.test/keep]}, stringData: {password: hunter2}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, finalizers: [example.test/keep]}, data: {password: hunter2}}",
    );
    for what in ["secret/key", "configmap/settings"] {
        cluster
            .kubectl(["delete", what, "--wait=false", "--namespace", ns.name()])
            .success();
    }
    let folder = folder();
    let file = taken(cluster, &folder, "secret/key", ns.name());
    let mut content = String::new();
    let packed = fs::read(&file).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut content).unwrap();
    assert!(content.contains("\"settings\""), "{content}");
    // In plain text, and as the API encodes it.
    for never in ["hunter2", "aHVudGVyMg==", "last-applied"] {
        assert!(!content.contains(never), "{never}");
    }
    let said = from(
        &file,
        vec![
            "explain".into(),
            "secret/key".into(),
            "-n".into(),
            ns.name().into(),
        ],
    );
    assert!(said.contains("example.test/keep"), "{said}");
}

#[test]
fn a_truncated_file_is_reported() {
    let folder = folder();
    let file = taken(&STUCK, &folder, "", "db");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() * 2 / 3]).unwrap();
    for verb in ["scan", "explain"] {
        let mut words = vec![verb.to_owned(), "--from".into(), text(&file)];
        if verb == "explain" {
            words.push("pvc/data-0".into());
        }
        let out = Plugin::new(words).run();
        assert_eq!(out.code, 1, "{out}");
        assert!(out.stderr.contains("cut short after"), "{out}");
    }
}

/// The table without its column widths, which depend on the ages.
fn unpadded(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn files_from_kubectl_explain_only_what_they_contain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/stuck-cluster");
    let explain = |target: &str, namespace: &str, path: &Path| {
        Plugin::new([
            "explain",
            target,
            "-n",
            namespace,
            "-o=json",
            "--from",
            &text(path),
        ])
        .run()
    };
    let verdict = |out: &str| {
        let report: serde_json::Value = serde_json::from_str(out).unwrap();
        report["waitsFor"][0]["verdict"].as_str().unwrap().to_owned()
    };
    let whole = explain("pvc/data-0", "db", &root).success();
    assert_eq!(verdict(&whole), "in-use");
    assert!(whole.contains("db-0"), "{whole}");

    // The Pod that uses the claim is known, although there may be others.
    let folder = folder();
    let claim = root.join("persistentvolumeclaims.yaml");
    fs::copy(&claim, folder.path().join("claims.yaml")).unwrap();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: db-0, namespace: db}\nspec:\n  nodeName: node-7\n  volumes:\n  - name: data\n    persistentVolumeClaim: {claimName: data-0}\nstatus: {phase: Running}\n";
    fs::write(folder.path().join("pod.yaml"), pod).unwrap();
    let partly = explain("pvc/data-0", "db", folder.path()).success();
    assert_eq!(verdict(&partly), "in-use");
    assert!(partly.contains("NotInDump"), "{partly}");

    // A Pod that does not use the claim does not prove that none does.
    fs::write(folder.path().join("pod.yaml"), pod.replace("data-0", "other")).unwrap();
    let unknown = explain("pvc/data-0", "db", folder.path()).success();
    assert_eq!(verdict(&unknown), "unknown", "{unknown}");

    fs::write(
        folder.path().join("pod.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: [\n",
    )
    .unwrap();
    let out = explain("pvc/data-0", "db", folder.path());
    assert!(out.code == 0 && out.stderr.contains("pod.yaml:"), "{out}");
    assert_eq!(verdict(&out.stdout), "unknown");

    let absent = explain("pvc/no-such", "nowhere", &claim);
    assert_eq!(absent.code, 1, "{absent}");
}

/// Compares two documents: only names may differ, and each name has the same replacement everywhere.
fn same_but_for_names(plain: &Value, hidden: &Value, names: &mut BTreeMap<String, String>) {
    match (plain, hidden) {
        (Value::Object(plain), Value::Object(hidden)) => {
            assert!(plain.keys().eq(hidden.keys()), "{plain:#?}\n{hidden:#?}");
            for (key, value) in plain {
                same_but_for_names(value, &hidden[key], names);
            }
        }
        (Value::Array(plain), Value::Array(hidden)) => {
            assert_eq!(plain.len(), hidden.len(), "{plain:#?}\n{hidden:#?}");
            for (plain, hidden) in plain.iter().zip(hidden) {
                same_but_for_names(plain, hidden, names);
            }
        }
        (Value::String(plain), Value::String(hidden)) => {
            let words = |text: &str| -> Vec<String> {
                let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
                text.split(|c| !is_of_name(c)).map(str::to_owned).collect()
            };
            let (plain_words, hidden_words) = (words(&timeless(plain)), words(&timeless(hidden)));
            assert_eq!(plain_words.len(), hidden_words.len(), "{plain}\n{hidden}");
            for (plain, hidden) in plain_words.into_iter().zip(hidden_words) {
                let known = names.entry(plain.clone()).or_insert_with(|| hidden.clone());
                assert_eq!(*known, hidden, "{plain} is hidden in two ways");
            }
        }
        // The two snapshots were taken one after the other.
        (Value::Number(_), Value::Number(_)) => {}
        _ => assert_eq!(plain, hidden),
    }
}

#[test]
fn a_redacted_snapshot_gives_the_same_result_without_the_names() {
    let folder = folder();
    let plain = taken(&STUCK, &folder, "", "");
    let redacted = folder.path().join("redacted");
    let path = redacted.display().to_string();
    STUCK.plugin(["snapshot", &path, "--redact"]).run().success();
    let unpacked = std::process::Command::new("gunzip")
        .arg("-c")
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let words: BTreeSet<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .collect();
    for name in [
        "data-0",
        "db-0",
        "node-7",
        "node-3",
        "web-1",
        "pvc-6791fdd4",
        "api-cert",
        "preview-42",
    ] {
        assert!(!words.contains(name), "{name} is in the file");
    }
    let at = |file: &Path, words: &str| -> Value {
        serde_json::from_str(&from(file, self::words(words))).unwrap()
    };
    let sorted = |mut report: Value| -> Value {
        // Other names have another order.
        for list in ["terminating", "rootCauses"] {
            let rows = report[list].as_array_mut().unwrap();
            rows.sort_by_key(|row| {
                row["finalizers"].to_string() + &row["kind"].to_string() + &row["frees"].to_string()
            });
        }
        report
    };
    assert!(!text.contains("127.0.0.1"));
    let mut names = BTreeMap::new();
    let (plain_scan, hidden_scan) = (at(&plain, "scan -o json"), at(&redacted, "scan -o json"));
    // Objects such as Events come and go between the two snapshots.
    let stuck = |scan: &Value| ["stuck", "types", "leftBehind"].map(|total| scan["totals"][total].clone());
    assert_eq!(stuck(&plain_scan), stuck(&hidden_scan));
    same_but_for_names(
        &sorted(plain_scan)["terminating"],
        &sorted(hidden_scan)["terminating"],
        &mut names,
    );
    for (target, namespace) in [
        ("pvc/data-0", "db"),
        ("pod/web-1", "web"),
        ("challenge/api-cert", "pay"),
    ] {
        let (ty, name) = target.split_once('/').unwrap();
        let plain = at(&plain, &format!("explain {target} -n {namespace} -o json"));
        let mut hidden = at(
            &redacted,
            &format!("explain {ty}/{} -n {} -o json", names[name], names[namespace]),
        );
        assert_ne!(names[name], name);
        // The address of the server is hidden in words.
        assert_ne!(plain["source"], hidden["source"]);
        hidden["source"] = plain["source"].clone();
        same_but_for_names(&plain, &hidden, &mut names);
    }
}
