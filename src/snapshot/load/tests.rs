//! Tests with dumps as kubectl writes them, recorded from a real API server (1.36), and with faulty dumps.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Wanted, load};
use crate::{
    error::Error,
    snapshot::{Filter, Snapshot, What, Why, glob::Glob, selector::Selector},
};

const GET_YAML: &str = include_str!("testdata/get-all.yaml");
const GET_JSON: &str = include_str!("testdata/get-all.json");

/// A directory with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a directory");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    folder
}

/// What is asked of a dump.
#[derive(Clone, Default)]
struct LoadOptions {
    namespace: Option<&'static str>,
    types: Vec<String>,
    exclude: Vec<String>,
    all: bool,
    filter: Filter,
}

impl LoadOptions {
    fn types(words: &[&str]) -> Self {
        LoadOptions {
            types: words.iter().map(|&word| word.to_owned()).collect(),
            ..LoadOptions::default()
        }
    }

    fn of(&self, paths: &[PathBuf], stdin: &[u8]) -> Result<Snapshot, Error> {
        let wanted = Wanted {
            namespace: self.namespace,
            types: &self.types,
            exclude: &self.exclude,
            all: self.all,
            by_holder: false,
            filter: &self.filter,
            now: at("2030-01-01T00:00:00Z"),
        };
        load(paths, &mut &stdin[..], &wanted)
    }

    fn stdin(&self, text: &str) -> Result<Snapshot, Error> {
        self.of(&["-".into()], text.as_bytes())
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a timestamp")
}

fn stdin(text: &str) -> Snapshot {
    LoadOptions::default()
        .stdin(text)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    LoadOptions::default()
        .stdin(text)
        .expect_err("no dump")
        .to_string()
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/snapshot/load/testdata")
        .join(name)
}

/// `type/name` of every kept object, in order.
fn kept(snapshot: &Snapshot) -> Vec<String> {
    let mut kept: Vec<_> = snapshot
        .tally
        .kept
        .iter()
        .map(|seen| format!("{}/{}", seen.object.type_name, seen.object.name))
        .collect();
    kept.sort();
    kept
}

/// The gaps about files, as messages.
fn faults(snapshot: &Snapshot) -> Vec<String> {
    let mut faults: Vec<_> = snapshot
        .gaps
        .iter()
        .filter_map(|gap| match &gap.what {
            What::File { path, line } => {
                let line = line.map_or(String::new(), |line| format!(":{line}"));
                Some(format!("{path}{line}: {}", gap.why.message()))
            }
            _ => None,
        })
        .collect();
    faults.sort();
    faults
}

/// The types that are reported as missing from the dump.
fn absent(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .gaps
        .iter()
        .filter_map(|gap| match (&gap.what, &gap.why) {
            (What::Type { name, .. }, Why::NotInDump) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

fn counts(snapshot: &Snapshot) -> Vec<(String, u64)> {
    snapshot
        .types
        .iter()
        .map(|read| (read.ty.name(), read.objects))
        .collect()
}

fn noted(snapshot: &Snapshot, part: &str) -> bool {
    snapshot.notes.iter().any(|note| note.contains(part))
}

const STUCK: [&str; 5] = [
    "gateways.example.org/g",
    "namespaces/gone",
    "persistentvolumeclaims/data-0",
    "persistentvolumes/pv-1",
    "pods/db-0",
];

// --- dumps as kubectl writes them

#[test]
fn yaml_and_json_of_kubectl_get_load_the_same() {
    let (yaml, json) = (stdin(GET_YAML), stdin(GET_JSON));
    assert_eq!(kept(&yaml), STUCK);
    assert_eq!(faults(&yaml), [""; 0]);
    assert_eq!(yaml.tally.kept, json.tally.kept);
    assert_eq!(yaml.tally.usage, json.tally.usage);
    assert_eq!(yaml.tally.remaining, json.tally.remaining);
    assert_eq!(counts(&yaml), counts(&json));
    assert_eq!(yaml.gaps, json.gaps);
    assert_eq!(yaml.observed_at, json.observed_at);
    assert_eq!(yaml.notes, json.notes);
    // 6 namespaces, and nothing from the ConfigMap that holds a list in its data.
    assert!(counts(&yaml).contains(&("namespaces".into(), 6)));
    assert!(counts(&yaml).contains(&("configmaps".into(), 2)));
    assert_eq!(yaml.tally.remaining["gone"]["gateways.example.org"], 1);
    assert!(
        !yaml.tally.remaining.contains_key("db"),
        "only what is going is counted"
    );
}

#[test]
fn a_namespace_has_both_finalizer_lists_and_its_conditions() {
    let snapshot = stdin(GET_YAML);
    let gone = snapshot
        .tally
        .kept
        .iter()
        .find(|seen| seen.object.name == "gone")
        .expect("the namespace");
    assert_eq!(gone.finalizers[0].to_string(), "spec: kubernetes");
    assert!(gone.object.uid.len() == 36 && gone.object.namespace.is_none());
}

#[test]
fn the_newest_lease_gives_the_time_of_the_dump() {
    let snapshot = stdin(GET_YAML);
    let time = snapshot.observed_at.to_string();
    assert!(time.starts_with("2026-11-21T09:39:1"), "{time}");
    assert!(noted(&snapshot, "the newest Lease renewal"));
}

#[test]
fn reports_the_types_that_a_dump_lacks() {
    assert_eq!(
        absent(&stdin(GET_YAML)),
        [
            "apiservices.apiregistration.k8s.io",
            "mutatingwebhookconfigurations.admissionregistration.k8s.io",
            "storageclasses.storage.k8s.io",
            "validatingwebhookconfigurations.admissionregistration.k8s.io",
            "volumeattachments.storage.k8s.io",
        ]
    );
    // An empty list without a type says nothing about any type.
    let nothing = stdin("apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n");
    assert_eq!((nothing.tally.objects, absent(&nothing).len()), (0, 13));
    // An empty list of a type does.
    let no_pods = stdin(r#"{"kind":"PodList","apiVersion":"v1","items":[]}"#);
    assert!(!absent(&no_pods).contains(&"pods".to_owned()));
    assert_eq!(counts(&no_pods), [("pods".to_owned(), 0)]);
}

#[test]
fn a_selection_reports_only_its_types() {
    let snapshot = LoadOptions::types(&["pvc", "sc", "gw"])
        .stdin(GET_YAML)
        .expect("a dump");
    assert_eq!(
        kept(&snapshot),
        ["gateways.example.org/g", "persistentvolumeclaims/data-0"]
    );
    assert_eq!(absent(&snapshot), ["storageclasses.storage.k8s.io"]);
    let unknown = LoadOptions::types(&["quux"])
        .stdin(GET_YAML)
        .expect_err("a mistake");
    assert!(unknown.to_string().contains("quux"), "{unknown}");

    let options = LoadOptions {
        exclude: vec!["pods".into(), "sc".into()],
        ..LoadOptions::default()
    };
    let snapshot = options.stdin(GET_YAML).expect("a dump");
    assert!(!kept(&snapshot).contains(&"pods/db-0".into()));
    assert!(!absent(&snapshot).contains(&"storageclasses.storage.k8s.io".into()));
}

#[test]
fn one_namespace_has_its_content_and_its_namespace_object() {
    let options = |namespace| LoadOptions {
        namespace: Some(namespace),
        ..LoadOptions::default()
    };
    let gone = options("gone").stdin(GET_YAML).expect("a dump");
    assert_eq!(kept(&gone), ["gateways.example.org/g", "namespaces/gone"]);
    assert_eq!(absent(&gone), [""; 0], "cluster-scoped types were not asked for");
    assert_eq!(gone.tally.objects, 2);

    let other = options("other").stdin(GET_YAML).expect("a dump");
    assert_eq!(other.tally.objects, 0);
    let gaps: Vec<_> = other.gaps.iter().map(|gap| &gap.what).collect();
    assert!(gaps.contains(&&What::Namespace("other".into())), "{gaps:?}");
    assert!(
        gaps.iter()
            .any(|what| matches!(what, What::TypeIn { name, .. } if name == "pods")),
        "{gaps:?}"
    );
}

#[test]
fn applies_the_filters_that_a_server_would_apply() {
    let options = LoadOptions {
        filter: Filter {
            selector: Some(Selector::parse("app=db").expect("a selector")),
            ..Filter::default()
        },
        ..LoadOptions::default()
    };
    assert_eq!(
        kept(&options.stdin(GET_YAML).expect("a dump")),
        ["persistentvolumeclaims/data-0"]
    );
    assert_eq!(
        kept(&options.stdin(GET_JSON).expect("a dump")),
        ["persistentvolumeclaims/data-0"]
    );
    let options = LoadOptions {
        filter: Filter {
            finalizers: vec![Glob::new("*-protection")],
            ..Filter::default()
        },
        ..LoadOptions::default()
    };
    assert_eq!(kept(&options.stdin(GET_YAML).expect("a dump")), &STUCK[2..4]);
    // At the time of the dump, nothing is an hour old. By the local clock everything would be.
    let options = LoadOptions {
        filter: Filter {
            older_than: Some(jiff::SignedDuration::from_hours(1)),
            ..Filter::default()
        },
        ..LoadOptions::default()
    };
    assert_eq!(kept(&options.stdin(GET_YAML).expect("a dump")), [""; 0]);
}

#[test]
fn reads_directories_of_cluster_info_dump_without_their_logs() {
    for name in ["cluster-info", "cluster-info-yaml", "cluster-info.txt"] {
        let snapshot = LoadOptions::default()
            .of(&[testdata(name)], b"")
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(faults(&snapshot), [""; 0], "{name}");
        assert_eq!(kept(&snapshot), ["pods/db-0"], "{name}");
        assert!(counts(&snapshot).contains(&("nodes".into(), 1)), "{name}");
        assert!(
            counts(&snapshot).contains(&("deployments.apps".into(), 0)),
            "{name}"
        );
        assert!(
            absent(&snapshot).contains(&"persistentvolumeclaims".into()),
            "{name}"
        );
        let pods = snapshot
            .types
            .iter()
            .find(|read| read.ty.plural == "pods")
            .expect("pods");
        assert!(pods.ty.namespaced && pods.objects == 1);
    }
}

#[test]
fn reads_objects_in_many_forms() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","deletionTimestamp":"2026-01-01T00:00:00Z"}}"#;
    let other = pod.replace("\"a\"", "\"b\"");
    let flow_list = format!("apiVersion: v1\nitems: [{pod}, {other}]\nkind: List\n");
    let nested = format!(
        r#"{{"kind":"List","apiVersion":"v1","items":[{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":[{pod}]}},{{"kind":"PodList","apiVersion":"v1","items":[{other}]}}]}}"#
    );
    let without_kind = |text: &str| text.replace(r#""apiVersion":"v1","kind":"Pod","#, "");
    let typed = format!(
        r#"{{"apiVersion":"v1","items":[{},{}],"kind":"PodList"}}"#,
        without_kind(pod),
        without_kind(&other)
    );
    let yaml = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: n\n  deletionTimestamp: \"2026-01-01T00:00:00Z\"\nspec:\n  x: |\n    ---\n    - 1\n"
        )
    };
    let item = |name: &str| {
        format!(
            "  -   kind: Pod\n      apiVersion: v1\n      metadata: {{name: {name}, namespace: n, deletionTimestamp: 2026-01-01T00:00:00Z}}\n"
        )
    };
    for (what, text) in [
        ("lines", format!("{pod}\n{other}\n")),
        ("no space", format!("{pod}{other}")),
        ("array", format!("[{pod},\n{other}]")),
        ("nested lists", nested),
        ("kind behind the items", typed),
        ("flow list", flow_list),
        ("JSON documents in YAML", format!("---\n{pod}\n---\n{other}\n")),
        ("JSON documents with marks", format!("{pod}\n---\n{other}\n")),
        (
            "documents",
            format!(
                "%YAML 1.2\n---\n# first\n{}\n--- # second\n{}...\n---\n",
                yaml("a"),
                yaml("b")
            ),
        ),
        (
            "Windows",
            format!("\u{feff}{}---\n{}", yaml("a"), yaml("b")).replace('\n', "\r\n"),
        ),
        (
            "indented items",
            format!("kind: List\napiVersion: v1\nitems:\n{}{}", item("a"), item("b")),
        ),
        ("sequence", format!("{}\n{}", item("a"), item("b"))),
        (
            "dash alone",
            format!(
                "apiVersion: v1\nitems:\n-\n{}-\n{}kind: List\n",
                yaml("a")
                    .replace('\n', "\n  ")
                    .replacen("api", "  api", 1)
                    .trim_end_matches(' '),
                yaml("b")
                    .replace('\n', "\n  ")
                    .replacen("api", "  api", 1)
                    .trim_end_matches(' ')
            ),
        ),
    ] {
        let snapshot = LoadOptions::default()
            .stdin(&text)
            .unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        assert_eq!(faults(&snapshot), [""; 0], "{what}:\n{text}");
        assert_eq!(kept(&snapshot), ["pods/a", "pods/b"], "{what}:\n{text}");
    }
}

#[test]
fn converts_utf_16() {
    let bytes: Vec<u8> = std::iter::once(0xfeff)
        .chain(GET_YAML.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let snapshot = LoadOptions::default().of(&["-".into()], &bytes).expect("a dump");
    assert_eq!(kept(&snapshot), STUCK);
    assert!(noted(&snapshot, "stdin is UTF-16"));
}

#[test]
fn counts_a_repeated_object_once_and_keeps_the_later_copy() {
    let before = GET_YAML.replace("    deletionTimestamp:", "    wasDeletionTimestamp:");
    for (one, other) in [(GET_YAML, before.as_str()), (&before, GET_YAML)] {
        let folder = folder(&[("a.yaml", one.as_bytes()), ("b.yaml", other.as_bytes())]);
        let snapshot = LoadOptions::default()
            .of(&[folder.path().to_owned()], b"")
            .expect("a dump");
        assert_eq!(kept(&snapshot), STUCK);
        assert_eq!(snapshot.tally.objects, stdin(GET_YAML).tally.objects);
        assert!(noted(&snapshot, "more than once"));
    }
    let manifest = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: n\n";
    assert_eq!(stdin(&format!("{manifest}---\n{manifest}")).tally.objects, 1);
}

#[test]
fn finds_plurals_in_definitions_anywhere_in_the_dump() {
    let object = b"apiVersion: example.org/v1\nkind: Gateway\nmetadata:\n  name: g\n  finalizers: [a/b]\n";
    let folder = folder(&[("1.yaml", object), ("2.yaml", GET_YAML.as_bytes())]);
    let both = LoadOptions {
        all: true,
        ..LoadOptions::default()
    }
    .of(&[folder.path().join("1.yaml"), folder.path().join("2.yaml")], b"")
    .expect("a dump");
    assert!(kept(&both).contains(&"gateways.example.org/g".into()));
    let alone = LoadOptions::default()
        .of(&[folder.path().join("1.yaml")], b"")
        .expect("a dump");
    assert_eq!(counts(&alone), [("gatewaies.example.org".to_owned(), 1)]);
}

#[test]
fn notes_a_dump_of_only_one_namespace() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: n\n";
    assert!(noted(
        &stdin(pod),
        "is in n: other namespaces were probably not saved"
    ));
    assert!(!noted(&stdin(GET_YAML), "probably not saved"));
}

#[test]
fn keeps_no_data_of_secrets() {
    for text in [GET_YAML, GET_JSON] {
        let options = LoadOptions {
            all: true,
            ..LoadOptions::default()
        };
        let everything = format!("{:?}", options.stdin(text).expect("a dump"));
        for secret in ["ZG8tbm90LWtlZXA=", "do-not-keep", "inner"] {
            assert!(text.contains(secret) && !everything.contains(secret), "{secret}");
        }
    }
}

// --- faulty dumps

#[test]
fn rejects_other_files_and_says_what_they_are() {
    assert!(refused("").ends_with("stdin: empty"), "{}", refused(""));
    assert!(refused("\n# nothing\n\n").contains("stdin"));
    assert!(refused("k8s\0\n\u{1}").ends_with("binary, not text"));
    assert!(
        LoadOptions::default()
            .of(&["-".into()], b"\x1f\x8b\x08\0\0")
            .expect_err("gzip")
            .to_string()
            .contains("unpack it first")
    );
    let table = fs::read_to_string(testdata("table.txt")).expect("a table");
    assert!(
        refused(&table).contains("a table as kubectl prints it"),
        "{}",
        refused(&table)
    );
    for text in [
        "hello",
        "hello: world\n",
        "[1,2]",
        "{}",
        "{\"a\":1}",
        "{",
        "\u{feff}",
        "]",
        "- 1\n- 2\n",
    ] {
        assert!(refused(text).contains("stdin"), "{text}");
    }
}

#[test]
fn rejects_the_output_of_kubectl_describe() {
    let described = "Name:             web-0\nNamespace:        default\nLabels:           <none>\n";
    assert!(refused(described).contains("save them with -o yaml"));
}

#[test]
fn reports_a_saved_refusal_of_the_server() {
    let status = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods is forbidden: User \"x\"","reason":"Forbidden","code":403}"#;
    assert!(refused(status).contains("pods is forbidden"));
    let yaml = "apiVersion: v1\ncode: 403\nkind: Status\nmessage: 'pods is forbidden: x'\nmetadata: {}\nreason: Forbidden\nstatus: Failure\n";
    assert!(refused(yaml).contains("pods is forbidden"));
    let snapshot = stdin(&format!("{GET_JSON}\n{status}"));
    assert!(
        snapshot
            .gaps
            .iter()
            .any(|gap| matches!(&gap.why, Why::Forbidden(text) if text.contains("pods")))
    );
}

#[test]
fn a_fault_affects_only_its_object() {
    // The PVC in both formats: a number for its finalizers, and a time that is none.
    let yaml = GET_YAML.replace(
        "    - kubernetes.io/pvc-protection\n",
        "      kubernetes.io/pvc-protection: 1\n",
    );
    let json = GET_JSON.replace(r#""kubernetes.io/pvc-protection""#, "7");
    let wrong = GET_JSON.replace(
        r#""deletionTimestamp": "2026-11-21T09:39:41Z""#,
        r#""deletionTimestamp": "soon""#,
    );
    for (text, missing, what) in [
        (&yaml, "persistentvolumeclaims/data-0", "invalid type: map"),
        (&json, "persistentvolumeclaims/data-0", "invalid type: integer"),
        (&wrong, "pods/db-0", "\"soon\" is not a time"),
    ] {
        let snapshot = stdin(text);
        let rest: Vec<_> = STUCK.iter().filter(|name| **name != missing).collect();
        assert_eq!(kept(&snapshot).iter().collect::<Vec<_>>(), rest);
        let faults = faults(&snapshot);
        assert_eq!(faults.len(), 1, "{faults:?}");
        // The line is the first line of the object.
        let lines: Vec<_> = text.lines().collect();
        let line: usize = faults[0]
            .split(':')
            .nth(1)
            .and_then(|line| line.parse().ok())
            .expect("a line");
        let begin = lines[line - 1].trim();
        assert!(begin == "{" || begin == "- apiVersion: v1", "{begin}");
        let name = missing.split('/').nth(1).expect("a name");
        assert!(lines[line..line + 25].iter().any(|line| line.contains(name)));
        assert!(faults[0].contains(what), "{faults:?}");
    }
}

#[test]
fn a_torn_line_loses_only_that_line() {
    let pod = |name: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","deletionTimestamp":"2026-01-01T00:00:00Z"}}}}"#
        )
    };
    let text = format!("{}\n{}\n{}\n", pod("a"), &pod("b")[..60], pod("c"));
    let snapshot = stdin(&text);
    assert_eq!(kept(&snapshot), ["pods/a", "pods/c"]);
    assert!(
        faults(&snapshot)[0].starts_with("stdin:2: not JSON from here on"),
        "{:?}",
        faults(&snapshot)
    );
}

#[test]
fn detects_truncation_where_possible() {
    let cut = &GET_YAML[..GET_YAML.find("- apiVersion: coordination").expect("leases")];
    let snapshot = stdin(cut);
    // The last object may be incomplete, even if it looks complete.
    assert_eq!(kept(&snapshot), &STUCK[1..]);
    assert!(
        faults(&snapshot)[0].contains("cut short within a list"),
        "{:?}",
        faults(&snapshot)
    );
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  finalizers:\n  - kubernetes.io/pv";
    assert!(faults(&stdin(pod))[0].starts_with("stdin:6: does not end with a line break"));
    let json = stdin(&GET_JSON[..GET_JSON.len() / 2]);
    assert!(faults(&json)[0].contains("cut short"), "{:?}", faults(&json));
}

/// A device without an end.
struct Endless;
impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(b'x');
        Ok(buffer.len())
    }
}

#[test]
fn rejects_deep_and_endless_input() {
    let deep = format!(
        "{}{}",
        r#"{"kind":"List","items":["#.repeat(50_000),
        "]}".repeat(50_000)
    );
    assert!(faults(&stdin(&format!("{GET_JSON}{deep}")))[0].contains("too deep"));
    for text in [
        "[".repeat(200_000),
        "{\"a\":".repeat(200_000),
        "- ".repeat(100_000),
    ] {
        drop(LoadOptions::default().stdin(&text).expect_err("nonsense"));
    }
    let deep: Vec<_> = (0..2000).map(|depth| " ".repeat(depth) + "a:").collect();
    drop(
        LoadOptions::default()
            .stdin(&format!("metadata:\n{}\n", deep.join("\n")))
            .expect_err("nonsense"),
    );

    let filter = Filter::default();
    let wanted = Wanted {
        namespace: None,
        types: &[],
        exclude: &[],
        all: false,
        by_holder: false,
        filter: &filter,
        now: Timestamp::UNIX_EPOCH,
    };
    let error = load(&["-".into()], &mut Endless, &wanted).expect_err("endless");
    assert!(error.to_string().contains("too long"), "{error}");
}

#[test]
fn counts_faults_beyond_the_limit() {
    let text = format!("{GET_YAML}{}", "---\nkind: [\n".repeat(100));
    let snapshot = stdin(&text);
    assert_eq!(faults(&snapshot).len(), 21);
    assert!(
        faults(&snapshot)
            .iter()
            .any(|fault| fault == "stdin: 80 more parts of it could not be used")
    );
}

#[test]
fn invalid_utf_8_loses_an_object_in_yaml_and_the_rest_in_json() {
    let corrupt = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        let name = text.find("data-0").expect("the claim");
        let name = name + text[name + 1..].find("data-0").map_or(0, |next| next + 1);
        bytes[name] = 0xff;
        bytes
    };
    let yaml = LoadOptions::default()
        .of(&["-".into()], &corrupt(GET_YAML))
        .expect("a dump");
    assert_eq!(kept(&yaml).len(), 4, "{:?}", faults(&yaml));
    assert!(faults(&yaml)[0].contains("not UTF-8"));
    let json = LoadOptions::default()
        .of(&["-".into()], &corrupt(GET_JSON))
        .expect("a dump");
    assert!(faults(&json).iter().any(|fault| fault.contains("not UTF-8")));
    assert!(kept(&json).contains(&"persistentvolumes/pv-1".into()));
}

#[test]
fn reads_directories_recursively_with_faults_as_gaps() {
    let folder = folder(&[
        ("deep/er/all.YAML", GET_YAML.as_bytes()),
        ("empty.yml", b""),
        ("values.yaml", b"replicas: 1\nimage: x\n"),
        ("more.yaml.gz", b"\x1f\x8b"),
        ("logs.txt", b"not an object"),
        ("noise.json", b"{\"kind\": "),
    ]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path(), folder.path().join("deep/loop")).expect("a link");
        std::os::unix::fs::symlink("nowhere.yaml", folder.path().join("dangling.yaml")).expect("a link");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.yaml")).expect("a link");
        std::os::unix::net::UnixListener::bind(folder.path().join("socket.yaml")).expect("a socket");
    }
    let snapshot = LoadOptions::default()
        .of(&[folder.path().to_owned()], b"")
        .expect("a dump");
    assert_eq!(kept(&snapshot), STUCK);
    let root = folder.path().display().to_string();
    let faults: Vec<_> = faults(&snapshot)
        .iter()
        .map(|fault| fault.replace(&root, "."))
        .collect();
    let expected = [
        #[cfg(unix)]
        "./dangling.yaml: cannot be read: No such file or directory (os error 2)",
        "./empty.yml: empty",
        "./more.yaml.gz: compressed; unpack it first",
        "./noise.json:1: cut short; what came before was used",
    ];
    assert_eq!(faults, expected);
    assert!(noted(
        &snapshot,
        "values.yaml: 1 documents are no Kubernetes objects, the first at line 1"
    ));
    assert!(!noted(&snapshot, "more than once"), "the loop was entered");
}

#[test]
fn a_missing_file_or_a_directory_without_objects_is_an_error() {
    let folder = folder(&[("logs.txt", b"x")]);
    let error = |path: PathBuf| LoadOptions::default().of(&[path], b"").expect_err("an error");
    assert!(matches!(
        error(folder.path().join("missing.yaml")),
        Error::Read { .. }
    ));
    let empty = error(folder.path().to_owned()).to_string();
    assert!(
        empty.contains("nothing in it looks like Kubernetes objects"),
        "{empty}"
    );
}

#[test]
fn a_pipe_has_the_current_time_as_its_time() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  deletionTimestamp: 2026-01-01T00:00:00Z\n";
    let snapshot = stdin(pod);
    assert_eq!(snapshot.observed_at, at("2030-01-01T00:00:00Z"));
    assert!(noted(&snapshot, "ages are measured at 2030-01-01T00:00:00Z: now"));
    let folder = folder(&[("a.yaml", pod.as_bytes())]);
    let file = LoadOptions::default()
        .of(&[folder.path().join("a.yaml")], b"")
        .expect("a dump");
    assert!(noted(&file, "a.yaml was written"), "{:?}", file.notes);
}

// --- arbitrary input

/// Whether this result looks complete.
fn looks_complete(result: &Result<Snapshot, Error>) -> bool {
    result.as_ref().is_ok_and(|snapshot| {
        !snapshot
            .gaps
            .iter()
            .any(|gap| matches!(gap.what, What::File { .. }))
    })
}

/// Asserts that every kept object is one of the whole dump, unchanged.
fn assert_objects_of_dump(result: &Result<Snapshot, Error>, whole: &Snapshot) {
    for seen in result.iter().flat_map(|snapshot| &snapshot.tally.kept) {
        let same = whole.tally.kept.iter().any(|full| {
            full.object.name == seen.object.name
                && full.object.uid == seen.object.uid
                && full.finalizers == seen.finalizers
        });
        assert!(same, "{seen:?}");
    }
}

#[test]
fn a_dump_truncated_anywhere_never_looks_complete() {
    let whole = stdin(GET_YAML);
    // What follows the kind says nothing about objects.
    let end = GET_YAML.rfind("kind: List").expect("a kind") + "kind: List".len();
    let options = LoadOptions::default();
    // A cut at a line end is hard to detect. Other cuts are sampled, because this test is slow without optimization.
    let worth = |text: &str, at: usize| at.is_multiple_of(31) || text[..at].ends_with('\n');
    for at in (0..end).filter(|&at| worth(GET_YAML, at)) {
        let result = options.stdin(&GET_YAML[..at]);
        assert!(
            !looks_complete(&result),
            "cut at {at}: {:?}",
            &GET_YAML[at.saturating_sub(40)..at]
        );
        assert_objects_of_dump(&result, &whole);
    }
    for at in (0..GET_JSON.trim_end().len()).filter(|&at| worth(GET_JSON, at)) {
        let result = options.stdin(&GET_JSON[..at]);
        assert!(
            !looks_complete(&result),
            "cut at {at}: {:?}",
            &GET_JSON[at.saturating_sub(40)..at]
        );
        assert_objects_of_dump(&result, &whole);
    }
}

fn bytes_like_a_dump() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: [&[u8]; 21] = [
        b"apiVersion: v1\n",
        b"kind: List\n",
        b"kind: Pod\n",
        b"items:\n",
        b"- ",
        b"  ",
        b"metadata:\n",
        b"  name: a\n",
        b"  finalizers: [a\n",
        b"---\n",
        b"\n",
        b"{\"kind\":\"List\",\"items\":[",
        b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        b"]}",
        b"==== START logs for",
        b"\xff",
        b"\"",
        b"|",
        b"\t",
        b"\r\n",
        b"\xef\xbb\xbf",
    ];
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(LoadOptions::default().of(&["-".into()], &bytes));
    }

    #[test]
    fn never_panics_on_bytes_like_a_dump(bytes in bytes_like_a_dump()) {
        drop(LoadOptions::default().of(&["-".into()], &bytes));
    }

    #[test]
    fn never_panics_on_a_corrupt_byte(at in any::<prop::sample::Index>(), byte in any::<u8>(), json in any::<bool>()) {
        let mut bytes = if json { GET_JSON } else { GET_YAML }.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drop(LoadOptions::default().of(&["-".into()], &bytes));
    }
}

/// The answer of a dump about the Pods of a namespace.
fn pods_of(files: &[(&str, &[u8])], namespace: &str) -> Result<usize, Why> {
    use crate::snapshot::facts::{Answer, Query, Resource};
    let folder = folder(files);
    let dump = super::dump(
        &[folder.path().to_owned()],
        &mut &b""[..],
        at("2030-01-01T00:00:00Z"),
    )
    .expect("a dump");
    let query = Query::List {
        resource: Resource::new("", "pods"),
        namespace: Some(namespace.to_owned()),
    };
    match dump.answer(&query, false)? {
        Answer::List(pods) => Ok(pods.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_a_complete_list_proves_that_an_object_does_not_exist() {
    let pod = |namespace: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"{namespace}"}}}}"#)
    };
    let list = |items: &[String], metadata: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"List","metadata":{metadata},"items":[{}]}}"#,
            items.join(",")
        )
    };
    let of = |text: &str, namespace: &str| pods_of(&[("a.json", text.as_bytes())], namespace);
    let absent = Err(Why::NotInDump);
    let both = list(&[pod("a"), pod("b")], "{}");
    assert_eq!(of(&both, "a"), Ok(1));
    assert_eq!(of(&both, "c"), Ok(0), "a list of several namespaces is of all");
    let one = list(&[pod("a")], "{}");
    assert_eq!(of(&one, "a"), Ok(1));
    assert_eq!(of(&one, "c"), absent, "perhaps only that namespace was asked for");
    assert_eq!(of(&pod("a"), "a"), absent, "a single object is no list");
    let page = list(&[pod("a"), pod("b")], r#"{"continue":"abc"}"#);
    assert_eq!(of(&page, "a"), absent, "there is another page");
    let faulty = list(&[pod("a"), pod("b"), r#"{"kind":"Pod"}"#.into()], "{}");
    assert_eq!(of(&faulty, "a"), absent, "what could not be read may be one");
    let torn = &both[..both.len() - 4];
    assert_eq!(of(torn, "a"), absent, "cut short");
    let yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: a}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: b}\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";
    let in_yaml = |text: &str| pods_of(&[("a.yaml", text.as_bytes())], "c");
    assert_eq!(in_yaml(yaml), Ok(0));
    assert_eq!(in_yaml(&format!("{yaml}  continue: abc\n")), absent);
    assert_eq!(in_yaml(yaml.trim_end_matches(|c| c != 'b')), absent);
}

#[test]
fn a_server_that_is_too_old_for_a_type_has_no_objects_of_it() {
    use crate::snapshot::facts::{Query, Resource};
    let asked = |node: &str, more: &str, plural: &str| {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n"}},"status":{{"nodeInfo":{{"kubeletVersion":"{node}"}}}}}}
{more}"#
        );
        let folder = folder(&[("a.json", text.as_bytes())]);
        let now = at("2030-01-01T00:00:00Z");
        let dump = super::dump(&[folder.path().to_owned()], &mut &b""[..], now).expect("a dump");
        let query = Query::List {
            resource: Resource::new("admissionregistration.k8s.io", plural),
            namespace: None,
        };
        dump.answer(&query, false).is_ok()
    };
    let (validating, mutating) = ("validatingadmissionpolicies", "mutatingadmissionpolicies");
    for (node, plural, is_known) in [
        ("v1.26.9-eks-3", validating, true),
        ("v1.27.0", validating, false),
        ("v1.32.1+k3s1", mutating, true),
        ("v1.33.1", mutating, false),
        ("", validating, false),
        ("v1.22.2", "validatingwebhookconfigurations", false),
    ] {
        assert_eq!(asked(node, "", plural), is_known, "{node} {plural}");
    }
    // A static Pod of the API server says it exactly, if no other can be missing.
    let server = |version: &str, place: &str, mirror: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"kube-apiserver-n","namespace":"{place}","annotations":{{"kubernetes.io/config.mirror":"{mirror}"}}}},"spec":{{"containers":[{{"name":"kube-apiserver","image":"registry.k8s.io/kube-apiserver:{version}"}}]}}}}"#
        )
    };
    let other = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}"#;
    let listed =
        |server: String| format!(r#"{{"apiVersion":"v1","kind":"List","items":[{server},{other}]}}"#);
    for (more, is_known) in [
        (listed(server("v1.29.4", "kube-system", "1f")), true),
        (listed(server("v1.30.0", "kube-system", "1f")), false),
        (server("v1.29.4", "kube-system", "1f"), false),
        (listed(server("v1.29.4", "hosted", "1f")), false),
        (listed(server("v1.29.4", "kube-system", "")), false),
    ] {
        assert_eq!(asked("v1.29.4", &more, validating), is_known, "{more}");
    }
    // Somebody turned it on before its time.
    let policy = r#"{"apiVersion":"admissionregistration.k8s.io/v1alpha1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"}}"#;
    assert!(!asked("v1.26.9", policy, validating));
}

#[test]
fn drops_the_data_of_a_secret_in_a_dump() {
    let json: &[u8] = br#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"a"},"data":{"k":"hunter2"},"stringData":{"k":"hunter2"}}"#;
    let yaml: &[u8] = b"apiVersion: v1\ndata:\n  k: hunter2\nkind: Secret\nmetadata:\n  name: t\n  namespace: a\nstringData: {k: hunter2}\n";
    let folder = folder(&[("a.json", json), ("b.yaml", yaml)]);
    let dump = super::dump(
        &[folder.path().to_owned()],
        &mut &b""[..],
        at("2030-01-01T00:00:00Z"),
    )
    .expect("a dump");
    let held = format!("{dump:?}");
    assert!(
        held.contains("\"t\"") && !held.contains("hunter2"),
        "{held:.2000}"
    );
}
