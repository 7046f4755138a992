//! `scan` of several clusters, of which one is dead, one hangs and one refuses the credentials.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::jsonschema::draft202012;

use crate::server::{Fake, Fault, Kind, Running, cluster_object, object};

const FINALIZER: &str = "corp.example/hold";

/// A cluster in which a Widget is stuck, and nobody knows its controller.
fn stuck(name: &str) -> Running {
    Fake::new()
        .with_type(Kind::new("", "v1", "namespaces"))
        .object("namespaces", cluster_object("pay"))
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(Kind::new("corp.example", "v1", "widgets").namespaced())
        .object(
            "widgets.corp.example",
            object("pay", name)
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .start()
}

fn healthy() -> Running {
    Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .start()
}

/// A kubeconfig with these contexts and servers.
struct Config {
    directory: TempDir,
    file: PathBuf,
}

impl Config {
    fn of(contexts: &[(&str, &str)]) -> Self {
        let all = |line: &dyn Fn(&str, &str) -> String| -> String {
            contexts.iter().map(|(name, url)| line(name, url)).collect()
        };
        let clusters = all(&|name, url| format!("- {{name: {name}, cluster: {{server: '{url}'}}}}\n"));
        let contexts =
            all(&|name, _| format!("- {{name: {name}, context: {{cluster: {name}, user: me}}}}\n"));
        let text = format!(
            "apiVersion: v1\nkind: Config\nusers: [{{name: me, user: {{}}}}]\nclusters:\n{clusters}contexts:\n{contexts}"
        );
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        std::fs::write(&file, text).unwrap();
        Config { directory, file }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn run(&self, words: &[&str]) -> Output {
        run(&self.file, words)
    }
}

fn run(kubeconfig: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-finalizers"))
        .args(words)
        .env("KUBECONFIG", kubeconfig)
        .env("LC_ALL", "C")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The JSON of a scan, checked against the published schema of its kind. That of several clusters refers to the other.
#[track_caller]
fn json(output: &Output) -> Value {
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let one: Value = serde_json::from_str(include_str!("../../docs/scan.schema.json")).unwrap();
    let schema = if value["kind"] == "ClusterScans" {
        let mut several: Value =
            serde_json::from_str(include_str!("../../docs/clusters.schema.json")).unwrap();
        several["$defs"]["scan"] = one;
        several
    } else {
        one
    };
    let validator = draft202012::new(&schema).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    value
}

fn dead() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn a_cluster_that_does_not_answer_is_a_gap_and_holds_up_nobody() {
    let (one, two) = (stuck("one"), stuck("two"));
    let hangs = Fake::new().on("/*", Fault::HangBeforeHeaders).start();
    let refuses = Fake::new().on("/*", Fault::unauthorized()).start();
    let dead = dead();
    let config = Config::of(&[
        ("hangs", &hangs.url()),
        ("one", &one.url()),
        ("dead", &dead),
        ("two", &two.url()),
        ("refuses", &refuses.url()),
    ]);
    let began = Instant::now();
    let output = config.run(&["scan", "--all-contexts", "--request-timeout", "2s", "-o", "json"]);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["kind"], "ClusterScans");
    assert_eq!(report["complete"], false);
    let reasons: Vec<_> = report["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cluster| {
            let name = cluster["cluster"].as_str().unwrap();
            (name, cluster["notRead"]["reason"].as_str().unwrap_or("read"))
        })
        .collect();
    assert_eq!(
        reasons,
        [
            ("hangs", "TimedOut"),
            ("one", "read"),
            ("dead", "Connection"),
            ("two", "read"),
            ("refuses", "Unauthorized")
        ]
    );
    assert_eq!(report["totals"]["stuck"], 2);
    let causes = report["rootCauses"].as_array().unwrap();
    assert_eq!(causes.len(), 1, "{causes:#?}");
    assert_eq!(causes[0]["clusters"], serde_json::json!(["one", "two"]));
    assert_eq!(causes[0]["finalizer"]["name"], FINALIZER);
    let command = causes[0]["next"][1]["command"].as_str().unwrap();
    assert!(command.ends_with(" --context two"), "{command}");
    let object = &report["clusters"][3]["scan"]["terminating"][0];
    assert_eq!(
        (&object["cluster"], &object["name"]),
        (&"two".into(), &"two".into())
    );

    let output = config.run(&["scan", "--all-contexts", "--request-timeout", "2s", "--exit-code"]);
    assert_eq!(output.status.code(), Some(4));
    let text = text(&output);
    assert!(
        text.starts_with("5 clusters: 2 objects stuck, 1 cause.\n"),
        "{text}"
    );
    assert!(text.contains("hangs, dead, refuses\n"), "{text}");
    assert!(text.contains("one, two: No controller is known."), "{text}");
    assert!(
        text.contains("widgets.corp.example/two -n pay --context two\n"),
        "{text}"
    );
    assert!(
        text.contains("does not accept a request without credentials"),
        "{text}"
    );
}

/// docs/usage.md shows this output below this command; words with digits differ. `TRYCMD=overwrite` writes it anew.
#[track_caller]
fn assert_documented(command: &str, printed: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/usage.md");
    let page = fs::read_to_string(&path).unwrap();
    let begin = format!("```text\n$ kubectl finalizers {command}\n");
    let (before, after) = page.split_once(&begin).unwrap();
    let (shown, after) = after.split_once("```").unwrap();
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::write(path, format!("{before}{begin}{printed}```{after}")).unwrap();
        return;
    }
    let steady = |text: &str| -> Vec<String> {
        let word = |word: &str| {
            if word.contains(|c: char| c.is_ascii_digit()) {
                "#"
            } else {
                word
            }
            .to_owned()
        };
        text.split_whitespace().map(word).collect()
    };
    assert_eq!(steady(shown), steady(printed));
}

#[test]
fn several_clusters_are_reported_as_the_documents_show() {
    let (eu, us, dead) = (stuck("orders"), stuck("billing"), dead());
    let config = Config::of(&[("prod-eu", &eu.url()), ("prod-us", &us.url()), ("staging", &dead)]);
    let output = config.run(&["scan", "--all-contexts"]);
    assert_documented("scan --all-contexts", &text(&output));
}

#[test]
fn the_exit_code_reports_gaps_and_unread_clusters() {
    let fine = healthy();
    let dead = dead();
    let config = Config::of(&[("fine", &fine.url()), ("dead", &dead)]);
    let code = |words: &[&str]| config.run(words).status.code();
    assert_eq!(code(&["scan", "--context", "fine,dead"]), Some(0));
    assert_eq!(code(&["scan", "--context", "fine,dead", "--exit-code"]), Some(5));
    assert_eq!(code(&["scan", "--context", "dead", "--exit-code"]), Some(1));
    assert_eq!(code(&["scan", "--context", "fine,gone"]), Some(1));
    let config = Config::of(&[("dead", &dead)]);
    assert_eq!(config.run(&["scan", "--all-contexts"]).status.code(), Some(1));
    let exit_code = config.run(&["scan", "--all-contexts", "--exit-code"]);
    assert_eq!(exit_code.status.code(), Some(5));
}

#[test]
fn contexts_of_one_server_ask_it_once_and_one_name_is_a_scan_as_always() {
    let server = stuck("one");
    let config = Config::of(&[("a", &server.url()), ("b", &server.url())]);
    let report = json(&config.run(&["scan", "--all-contexts", "-o", "json"]));
    assert_eq!(report["totals"]["clusters"], 1);
    assert_eq!(report["clusters"][0]["otherContexts"], serde_json::json!(["b"]));
    assert_eq!(server.requests_to("/apis").len(), 1);
    let single = json(&config.run(&["scan", "--context", "b", "-o", "json"]));
    assert_eq!(single["kind"], "Scan");
    assert_eq!(single.get("cluster"), None);
    let names = config.run(&["scan", "--all-contexts", "-o", "name"]);
    assert_eq!(text(&names), "widgets.corp.example/one -n pay --context a\n");
    let rows = text(&config.run(&["scan", "--all-contexts", "--no-headers"]));
    assert!(rows.starts_with(" a   widget/one   -n pay   "), "{rows}");
    let holders = text(&config.run(&["scan", "--all-contexts", "--by", "holder"]));
    assert!(holders.contains("In a\nCONTROLLERS (1)\n"), "{holders}");
    assert!(config.path().exists());
}

fn saved(server: &Running, directory: &Path, file: &str) {
    let path = directory.join(file);
    let output = run(server.kubeconfig(), &["snapshot", path.to_str().unwrap()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_snapshot_of_each_cluster_is_scanned_side_by_side() {
    let (one, two) = (stuck("one"), stuck("two"));
    let dead = dead();
    let config = Config::of(&[("one", &one.url()), ("arn:x/two", &two.url()), ("dead", &dead)]);
    let directory = config.path().join("saved");
    let words = ["snapshot", directory.to_str().unwrap(), "--all-contexts"];
    let output = config.run(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("warning: dead: nothing was saved: "), "{said}");
    let mut files: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["arn-x-two.snapshot", "one.snapshot"]);
    let again = config.run(&words);
    assert_eq!(again.status.code(), Some(2));

    let from = directory.to_str().unwrap();
    let report = json(&run(
        Path::new("/nowhere"),
        &["scan", "--from", from, "-o", "json"],
    ));
    assert_eq!(report["kind"], "ClusterScans");
    assert_eq!(report["complete"], true);
    assert_eq!(
        report["rootCauses"][0]["clusters"],
        serde_json::json!(["arn-x-two", "one"])
    );
    let command = report["rootCauses"][0]["next"][1]["command"].as_str().unwrap();
    assert!(
        command.ends_with(&format!(" --from {from}/one.snapshot")),
        "{command}"
    );

    std::fs::write(directory.join("broken.snapshot"), "nothing").unwrap();
    let output = run(
        Path::new("/nowhere"),
        &["scan", "--from", from, "--terminating", "--exit-code"],
    );
    let text = text(&output);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text.starts_with("3 clusters: 2 objects stuck, 1 cause.\n"),
        "{text}"
    );
    assert!(text.contains(" broken "), "{text}");
    std::fs::write(
        directory.join("pods.yaml"),
        "apiVersion: v1\nkind: PodList\nitems: []\n",
    )
    .unwrap();
    let mixed = run(Path::new("/nowhere"), &["scan", "--from", from]);
    assert_eq!(mixed.status.code(), Some(2));
}

#[test]
fn a_scan_says_what_changed_since_a_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let before = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(Kind::new("corp.example", "v1", "widgets").namespaced())
        .object(
            "pods",
            object("db", "went")
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .object(
            "widgets.corp.example",
            object("db", "hidden")
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .object(
            "pods",
            object("db", "stays")
                .uid("1")
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .start();
    saved(&before, directory.path(), "before.snapshot");
    let now = Fake::new()
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .with_type(Kind::new("corp.example", "v1", "widgets").namespaced())
        .object(
            "pods",
            object("db", "stays")
                .uid("1")
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .object(
            "pods",
            object("db", "new")
                .finalizer(FINALIZER)
                .deleting("2026-01-01T00:00:00Z"),
        )
        .on("/apis/corp.example/v1/widgets", Fault::forbidden("widgets"))
        .start();
    let since = directory.path().join("before.snapshot");
    let since = since.to_str().unwrap();
    let names = |report: &Value, part: &str| -> Vec<String> {
        let objects = report["changes"][part].as_array().unwrap();
        objects
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    saved(&now, directory.path(), "now.snapshot");
    let file = directory.path().join("now.snapshot");
    let file = file.to_str().unwrap();
    for words in [
        &["scan", "--since", since, "-o", "json"][..],
        &["scan", "--since", since, "-o", "json", "--from", file],
    ] {
        let report = json(&run(now.kubeconfig(), words));
        assert_eq!(names(&report, "new"), ["new"]);
        assert_eq!(names(&report, "went"), ["went"]);
        assert_eq!(names(&report, "stays"), ["stays"]);
        assert_eq!(names(&report, "notKnown"), ["hidden"]);
        assert_eq!(report["changes"]["notKnown"][0]["notRead"], "now");
    }
    let text = text(&run(now.kubeconfig(), &["scan", "--since", since]));
    assert!(
        text.contains("UTC: 1 new, 1 went, 1 stays, 1 not known.\n"),
        "{text}"
    );
    // The causes follow as always.
    let changes = text.split("\n\n1. ").next().unwrap();
    assert_documented("scan --since yesterday.snapshot", &format!("{changes}\n…\n"));
    let rows = run(
        now.kubeconfig(),
        &["scan", "--since", since, "--no-headers", "--terminating"],
    );
    assert!(
        String::from_utf8_lossy(&rows.stdout).starts_with(" new "),
        "{rows:?}"
    );
    for wrong in [
        &["scan", "--since", "/dev/null"][..],
        &["scan", "--since", since, "--finalizer", FINALIZER],
        &["scan", "--since", since, "--all-contexts"],
    ] {
        assert_eq!(run(now.kubeconfig(), wrong).status.code(), Some(2), "{wrong:?}");
    }
}
