//! Layers never look up, the pure ones can neither talk to a server nor ask for the time, files do not import each
//! other in circles, and one place writes to the server.
//!
//! The code is parsed, so a new file is covered as soon as it exists. Items under `#[cfg(test)]` are left out.

mod circles;
mod code;
mod field_paths;
mod modules;
mod picture;
mod said_text;

use std::{collections::BTreeSet, fs, path::Path, sync::LazyLock};

use self::{
    circles::circles,
    modules::{Crate, File},
};

/// Lowest first. A layer may use those before it.
const LAYERS: &[&str] = &[
    "characters",
    "command",
    "object",
    "stored",
    "snapshot",
    "knowledge",
    "diagnose",
    "plan",
    "report",
    "output",
];
/// The modules that know the surroundings of the process.
const OUTER: &[&str] = &["cluster", "run", "act", "settings", "cli"];
/// Beginnings of paths of other crates that lead out of the process.
const OUTSIDE: &[&str] = &[
    "kube",
    "kube_client",
    "k8s_openapi",
    "tokio",
    "reqwest",
    "hyper",
    // Not all of std::net: addresses are only numbers.
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
    "std::process",
    "std::env",
];
/// Types that tell the present time.
const CLOCKS: &[&str] = &["Timestamp", "Zoned", "SystemTime", "Instant"];
const PRINTS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
/// The only pure code that reads files: `--from` and a user's own knowledge are files.
const READS_FILES: &[&str] = &["src/snapshot/load"];

/// This package, read once for all tests.
static PACKAGE: LazyLock<Crate> = LazyLock::new(Crate::read);

/// What a file of a pure layer does and must not do.
fn faults(of: &Crate, file: &File) -> BTreeSet<String> {
    let Some(layer) = layer(&file.module) else {
        return BTreeSet::new();
    };
    let shown = &file.name;
    let mut faults = BTreeSet::new();
    for (absolute, definition) in of.paths(file) {
        let path = definition.join("::");
        for goal in [&absolute, &definition] {
            let is_ours = goal[0] == "crate";
            if is_ours && goal.get(1).is_some_and(|top| OUTER.contains(&&**top)) {
                faults.insert(format!("{shown} reaches outside: {path}"));
            }
            if layer_above(goal, layer) {
                faults.insert(format!("{shown} looks up: {}", goal.join("::")));
            }
        }
        let is_in = |prefix: &str| path == prefix || path.starts_with(&format!("{prefix}::"));
        let asks_a_clock =
            matches!(&*definition, [.., clock, now] if now == "now" && CLOCKS.contains(&&**clock));
        if OUTSIDE.iter().any(|prefix| is_in(prefix)) || asks_a_clock {
            faults.insert(format!("{shown} reaches outside: {path}"));
        }
        if is_in("std::fs") && !READS_FILES.iter().any(|allowed| shown.starts_with(allowed)) {
            faults.insert(format!("{shown} reads files: {path}"));
        }
    }
    let prints = file.code.macros.iter().filter(|name| PRINTS.contains(&&***name));
    faults.extend(prints.map(|name| format!("{shown} prints: {name}!")));
    faults
}

fn layer(module: &[String]) -> Option<usize> {
    let top = module.get(1).filter(|_| module[0] == "crate")?;
    LAYERS.iter().position(|name| name == top)
}

fn layer_above(path: &[String], layer_of_file: usize) -> bool {
    layer(path).is_some_and(|layer| layer > layer_of_file)
}

fn all_faults(of: &Crate) -> BTreeSet<String> {
    of.files.iter().flat_map(|file| faults(of, file)).collect()
}

fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

#[test]
fn pure_layers_stay_pure_and_never_look_up() {
    let found = all_faults(&PACKAGE);
    assert!(found.is_empty(), "{}", joined(found));
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    let found = circles(&PACKAGE);
    assert!(found.is_empty(), "{}", joined(found));
}

#[test]
fn rooms_do_not_lead_back_to_themselves() {
    let imports = PACKAGE.imports();
    let found: Vec<_> = PACKAGE
        .folders()
        .into_iter()
        .map(|folder| {
            (
                folder.join("::"),
                picture::leads_back(&PACKAGE, &imports, &folder),
            )
        })
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn files_import_nothing_that_the_root_of_an_outer_folder_defines() {
    let found = PACKAGE.imports_from_far_above();
    assert!(found.is_empty(), "{}", joined(found));
}

const STRUCTURE: &str = "docs/structure.md";

#[test]
fn the_picture_of_imports_is_up_to_date() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(STRUCTURE)).unwrap();
    assert!(
        page == picture::page(&PACKAGE),
        "{STRUCTURE} is stale; write it anew: cargo test --test suite -- --ignored write_what_is_generated"
    );
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(STRUCTURE);
    fs::write(page, picture::page(&PACKAGE)).unwrap();
}

#[test]
fn each_module_is_in_the_file_of_its_name() {
    let elsewhere: Vec<_> = PACKAGE
        .files
        .iter()
        .filter(|file| file.code.has_path_attribute)
        .map(|file| &file.name)
        .collect();
    assert!(elsewhere.is_empty(), "#[path] in {elsewhere:?}");
}

/// Where text that others wrote is looked into, although people read it as well: reports of controllers, events, and the
/// messages of the API server. A plan is compared with its newer version, sentence by sentence.
const FOREIGN_TEXT: [(&str, &str); 14] = [
    (
        "src/diagnose/causes/operators/finalizer_re_added.rs",
        "add_rejected_addition: text.contains",
    ),
    (
        "src/diagnose/causes/operators/finalizer_re_added.rs",
        "add_rejected_addition: text.split_once",
    ),
    (
        "src/diagnose/causes/operators/surroundings/named_in_words.rs",
        "add_named: text.split",
    ),
    (
        "src/diagnose/causes/storage/pv_disk_deletion.rs",
        "is_attached: message.contains",
    ),
    // The name of an object in an event, and the end of a refusal of the API server.
    (
        "src/diagnose/causes/garbage_collector/foreground_deletion.rs",
        "maker: message.contains",
    ),
    (
        "src/diagnose/causes/operators/holder_report.rs",
        "add_complaints: text.contains",
    ),
    ("src/diagnose/complaint.rs", "complaints: text.contains"),
    ("src/diagnose/complaint/rank.rs", "is_consequence: text.contains"),
    (
        "src/diagnose/holder/off.rs",
        "replicas_in_event: message.split_once",
    ),
    ("src/diagnose/holder/off.rs", "scale_down_event: message.contains"),
    ("src/knowledge/schema/check.rs", "check: text.contains"),
    // Whole clauses are compared.
    ("src/diagnose/model/said.rs", "in_common: now.contains"),
    ("src/plan/retention.rs", "news: now.contains"),
    ("src/plan/retention.rs", "news: then.contains"),
];

/// What code must know has a field of its own. Only the output knows what a sentence looks like.
#[test]
fn nobody_takes_said_text_apart() {
    let files = PACKAGE
        .files
        .iter()
        .filter(|file| !file.name.starts_with("src/output"));
    let found: BTreeSet<_> = files
        .flat_map(|file| file.code.inspections.iter().map(|place| (&*file.name, &**place)))
        .collect();
    let allowed = BTreeSet::from(FOREIGN_TEXT);
    let new: Vec<_> = found.difference(&allowed).collect();
    let old: Vec<_> = allowed.difference(&found).collect();
    assert!(
        new.is_empty() && old.is_empty(),
        "new: {new:#?}\nno more: {old:#?}"
    );
}

#[test]
fn code_that_takes_said_text_apart_is_caught() {
    let caught = |code: &str| {
        let files = Crate::parse([("src/lib.rs", code)]);
        !files.files[0].code.inspections.is_empty()
    };
    for code in [
        "fn f() { blocker.says.contains(\"webhook\") }",
        "fn f() { wait.says().to_lowercase().split_once(':') }",
        "fn f() { let text = &blocker.says; if text.starts_with(\"x\") {} }",
        "fn f(says: &str) { says.strip_prefix(\"x\") }",
        "fn f() { wait.said.now.join(\"; \") }",
        "fn f() { all.iter().any(|one| one.says == words) }",
    ] {
        assert!(caught(code), "{code}");
    }
    for code in [
        "fn f() { one.says == other.says }",
        "fn f() { names.contains(&name) }",
        "fn f() { let text = name; text.contains('.') }",
        "#[cfg(test)] fn f() { blocker.says.contains(\"webhook\") }",
    ] {
        assert!(!caught(code), "{code}");
    }
}

/// Where a diagnosis reads fields by their paths, without a view of `src/diagnose/kinds/`, and whose fields these are.
const FIELDS_OF_PRODUCTS: [(&str, &str); 13] = [
    (
        "src/diagnose/causes/operators/external_resource.rs",
        "the addresses of a Gateway, a custom resource",
    ),
    (
        "src/diagnose/causes/operators/known_finalizer.rs",
        "the controller that a class of the Gateway API names",
    ),
    (
        "src/diagnose/causes/operators/never_by_hand.rs",
        "the node of a custom resource of any product",
    ),
    (
        "src/diagnose/causes/operators/surroundings/attachments.rs",
        "the node of a custom resource of any product",
    ),
    (
        "src/diagnose/causes/operators/surroundings/inventory.rs",
        "the other cluster that Flux deploys to",
    ),
    (
        "src/diagnose/causes/operators/surroundings/labelled_set.rs",
        "the types that kapp deployed",
    ),
    (
        "src/diagnose/causes/operators/surroundings/mutating_policies.rs",
        "the rules of a policy of Kyverno or Gatekeeper",
    ),
    (
        "src/diagnose/causes/operators/surroundings/switches.rs",
        "the fields that suspend a custom resource of any product",
    ),
    (
        "src/diagnose/causes/operators/waits_for/objects.rs",
        "the claims of a Crossplane definition",
    ),
    (
        "src/diagnose/causes/products/deployed_resources.rs",
        "what Argo CD and Open Cluster Management deployed",
    ),
    (
        "src/diagnose/causes/products/karpenter_drain.rs",
        "the node of a NodeClaim",
    ),
    (
        "src/diagnose/causes/products/olm_subscription.rs",
        "a Subscription of OLM, and its labels on a definition",
    ),
    (
        "src/diagnose/holder/node.rs",
        "the node of a custom resource of any product",
    ),
];

/// A misspelt path reads as "absent". The tests of a view ask for every field of an object of Kubernetes' own types.
#[test]
fn only_views_know_the_paths_of_fields() {
    let files = PACKAGE.files.iter().filter(|file| {
        let of_diagnosis = file.name.starts_with("src/diagnose");
        of_diagnosis && !file.name.starts_with("src/diagnose/kinds") && !file.code.field_paths.is_empty()
    });
    let found: BTreeSet<_> = files.map(|file| &*file.name).collect();
    let allowed = BTreeSet::from(FIELDS_OF_PRODUCTS.map(|(file, _)| file));
    let new: Vec<_> = found.difference(&allowed).collect();
    let old: Vec<_> = allowed.difference(&found).collect();
    assert!(
        new.is_empty() && old.is_empty(),
        "without a view: {new:#?}\nno more: {old:#?}"
    );
}

#[test]
fn a_path_of_a_field_is_caught() {
    let caught = |code: &str| {
        let files = Crate::parse([("src/lib.rs", code)]);
        !files.files[0].code.field_paths.is_empty()
    };
    for code in [
        "fn f() { object.text(\"/spec/nodeName\") }",
        "const FIELDS: [&str; 1] = [\"/status/phase\"];",
        "fn f() { format!(\"/webhooks/{index}\") }",
        "fn f() { json!([{\"path\": \"/metadata/finalizers/0\"}]) }",
        "fn f() { role.list(r\"/rules\") }",
    ] {
        assert!(caught(code), "{code}");
    }
    for code in [
        "/// Reads /spec/nodeName.\nfn f() {}",
        "fn f() { object.text(\"/reason\") }",
        "fn f() { \"/specification\" }",
        "#[cfg(test)] fn f() { object.text(\"/spec/nodeName\") }",
    ] {
        assert!(!caught(code), "{code}");
    }
}

/// The files that call `Server::write`, which has five arguments, and those that name a method of HTTP that writes.
fn writers(of: &Crate) -> [BTreeSet<&str>; 2] {
    let names = |writes: &dyn Fn(&File) -> bool| {
        let files = of.files.iter().filter(|file| writes(file));
        files.map(|file| &*file.name).collect()
    };
    let ends = |file: &File, ty: &str, names: &[&str]| {
        of.paths(file).any(|(_, path)| {
            matches!(&*path, [.., last_but_one, last] if last_but_one == ty && names.contains(&&**last))
        })
    };
    [
        names(&|file| file.code.calls.contains(&("write".to_owned(), 5)) || ends(file, "Server", &["write"])),
        names(&|file| ends(file, "Method", &["PATCH", "PUT", "DELETE"])),
    ]
}

/// Every request that could store something goes through one function, and only `src/act` calls it.
#[test]
fn only_one_place_writes_to_the_server() {
    let [callers, methods] = writers(&PACKAGE);
    assert_eq!(callers, BTreeSet::from(["src/act/send.rs"]));
    assert_eq!(methods, BTreeSet::from(["src/cluster/write.rs"]));
}

/// The root of the small crates that the tests below make up.
const ROOT: (&str, &str) = ("src/lib.rs", "mod cluster; mod object; mod snapshot;");

#[test]
fn a_layer_that_reaches_out_or_up_is_caught() {
    let caught = |code: &str| {
        let sources = [
            ROOT,
            ("src/object.rs", code),
            ("src/snapshot.rs", "pub struct Gap;"),
        ];
        !all_faults(&Crate::parse(sources)).is_empty()
    };
    for code in [
        "use crate::{error::Error, snapshot::{Gap, What}};",
        "fn f() { crate::snapshot::Gap; }",
        "fn f() { matches!(x, super::snapshot::Gap | Y) }",
        "fn f() { let now = jiff::Timestamp::now(); }",
        "use jiff::Timestamp as T; fn f() { T::now() }",
        "use kube::Client;",
        "use std::{fmt, net::{Ipv4Addr, TcpStream}};",
        "use std::fs;",
        "fn f() { use std::{env as e}; }",
        "fn f() { println!(\"\"); }",
        "#[cfg(test)] use kube::Client; use crate::cluster::Server;",
        "#[cfg(test)] mod tests {} fn f() { std::process::abort() }",
        "#[cfg(any(unix, test))] fn f() { std::process::abort() }",
    ] {
        assert!(caught(code), "{code}");
    }
    for code in [
        "use crate::{object::Age, error::Error};",
        "use std::net::Ipv4Addr;",
        "#[cfg(test)] mod tests { use kube::Client; }",
        "#[cfg(test)] fn f() { std::process::abort() }",
        "#[cfg(all(unix, test))] fn f() { std::process::abort() }",
        "impl X { #[cfg(test)] fn f() { std::process::abort() } }",
    ] {
        assert!(!caught(code), "{code}");
    }
}

#[test]
fn a_file_for_tests_only_may_reach_out() {
    let sources = [
        ROOT,
        ("src/object.rs", "#[cfg(test)] mod tests;"),
        ("src/object/tests.rs", "mod more;"),
        ("src/object/tests/more.rs", "use std::env;"),
    ];
    assert!(all_faults(&Crate::parse(sources)).is_empty());
}

#[test]
fn circles_are_caught_and_named() {
    let circles_of = |a: &str, b: &str| {
        let sources = [
            ("src/lib.rs", "pub mod a; pub mod b; pub use a::A as Renamed;"),
            ("src/a.rs", a),
            ("src/a/inner.rs", "use super::A; pub struct Inner;"),
            ("src/b.rs", b),
        ];
        circles(&Crate::parse(sources))
    };
    let named = [
        "a circle of 2 files:\n  src/a.rs imports crate::b::B of src/b.rs\n  \
         src/b.rs imports crate::a::A of src/a.rs",
    ];
    let a = "mod inner; use crate::b::B; pub use inner::Inner; pub struct A;";
    assert_eq!(circles_of(a, "use crate::a::A; pub struct B;"), named);
    assert_eq!(circles_of(a, "use crate::Renamed; pub struct B;"), named);
    assert_eq!(
        circles_of(a, "use super::a; pub struct B; fn f() { vec![a::A] }").len(),
        1
    );
    // A folder's root and its files may import each other, and so may tests.
    assert!(circles_of(a, "pub struct B;").is_empty());
    assert!(circles_of(a, "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }").is_empty());
    // A re-export leads to the file that defines the item, which imports nothing here.
    assert!(circles_of(a, "use crate::a::Inner; pub struct B;").is_empty());
}

#[test]
fn an_import_from_the_root_of_an_outer_folder_is_caught() {
    let of = |inner: &str| {
        Crate::parse([
            ("src/lib.rs", "mod a;"),
            ("src/a.rs", "mod b; pub use b::B; pub struct A;"),
            ("src/a/b.rs", "mod c; pub struct B;"),
            ("src/a/b/c.rs", inner),
        ])
    };
    let found = of("use crate::a::A;").imports_from_far_above();
    assert_eq!(
        found,
        BTreeSet::from(["src/a/b/c.rs imports crate::a::A of src/a.rs".to_owned()])
    );
    for code in ["use super::B;", "use crate::a::B;", "use crate::a;"] {
        assert!(of(code).imports_from_far_above().is_empty(), "{code}");
    }
}

#[test]
fn a_folder_deep_in_the_tree_that_leads_back_to_itself_is_caught() {
    let of = Crate::parse([
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "mod b;"),
        ("src/a/b.rs", "mod c; mod d;"),
        ("src/a/b/c.rs", "mod x; use super::d::y::Y; pub struct C;"),
        ("src/a/b/c/x.rs", "pub struct X;"),
        ("src/a/b/d.rs", "mod y; use super::c::x::X;"),
        ("src/a/b/d/y.rs", "pub struct Y;"),
    ]);
    assert!(circles(&of).is_empty());
    let folder = ["crate", "a", "b"].map(str::to_owned);
    assert_eq!(picture::leads_back(&of, &of.imports(), &folder), ["c", "d"]);
}

#[test]
fn paths_in_attributes_count() {
    for code in [
        "#[serde(with = \"crate::snapshot::time\")] struct A;",
        "#[derive(crate::snapshot::Shown)] struct A;",
        "struct A { #[serde(default = \"crate::snapshot::none\")] a: u8 }",
        "#[cfg_attr(feature = \"x\", doc = crate::snapshot::text!())] struct A;",
    ] {
        let files = Crate::parse([ROOT, ("src/object.rs", code), ("src/snapshot.rs", "")]);
        assert!(!all_faults(&files).is_empty(), "{code}");
    }
    let text = "/// See [`crate::snapshot::Gap`].\n#[doc = \"crate::snapshot::Gap\"] struct A;";
    let files = Crate::parse([ROOT, ("src/object.rs", text), ("src/snapshot.rs", "")]);
    assert!(all_faults(&files).is_empty());
}

#[test]
fn a_module_in_a_file_of_another_name_is_caught() {
    let sources = [("src/lib.rs", "#[path = \"other.rs\"] mod object;")];
    assert!(Crate::parse(sources).files[0].code.has_path_attribute);
}

#[test]
fn a_second_place_that_writes_is_caught() {
    for code in [
        "async fn f() { server.write(1, 2, 3, 4, 5).await; }",
        "async fn f() { select! { x = server.write(1, 2, f(3), 4, 5) => {} } }",
        "async fn f() { crate::cluster::Server::write(server, 1, 2, 3, 4, 5).await; }",
    ] {
        let files = Crate::parse([("src/run.rs", code)]);
        let [callers, _] = writers(&files);
        assert_eq!(callers, BTreeSet::from(["src/run.rs"]), "{code}");
    }
    let files = Crate::parse([("src/run.rs", "use http::Method; fn f() { Method::DELETE; }")]);
    let [_, methods] = writers(&files);
    assert_eq!(methods, BTreeSet::from(["src/run.rs"]));
}
