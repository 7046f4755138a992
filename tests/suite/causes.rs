//! `docs/causes/` has a page for each cause. Each page is written from the documentation of the cause's file in
//! `src/diagnose/`, so that the two cannot differ, and shows what the program prints for its example. After a change to
//! such documentation:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use crate::harness::Plugin;

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_what_is_generated";

/// The headings of a page, in order. The documentation of a cause has all of them.
const HEADINGS: [&str; 9] = [
    "Symptom",
    "Why",
    "Before you act",
    "If it was a mistake",
    "If it was intended",
    "Do not",
    "Verdicts",
    "What it reads",
    "Sources",
];

/// How the command of an example begins. What it prints is added below it, so no example can become stale.
const EXAMPLE: &str = "$ kubectl finalizers explain ";

/// The longest line of an example.
const WIDTH: usize = 100;

/// The release whose files the pages link. Projects that were read without a release have the commit.
const RELEASES: [(&str, &str); 26] = [
    ("argoproj/argo-cd", "v3.6.1"),
    ("crossplane/crossplane-runtime", "a7873e5d7bbf"),
    ("etcd-io/etcd", "v3.6.8"),
    ("fluxcd/helm-controller", "5e3ad5d21a51"),
    ("fluxcd/kustomize-controller", "v1.10.1"),
    ("grpc/grpc-go", "v1.85.0"),
    ("helm/helm", "v3.22.0"),
    ("kubernetes-csi/external-attacher", "v4.13.0"),
    ("kubernetes-csi/external-provisioner", "v6.3.0"),
    ("kubernetes-csi/external-snapshotter", "v8.7.0"),
    ("kubernetes-sigs/aws-load-balancer-controller", "b4b9da68ff92"),
    ("kubernetes-sigs/karpenter", "v1.15.0"),
    ("kubernetes-sigs/sig-storage-lib-external-provisioner", "v13.0.0"),
    ("kubernetes/apiextensions-apiserver", "v0.36.3"),
    ("kubernetes/apimachinery", "v0.36.3"),
    ("kubernetes/apiserver", "v0.36.3"),
    ("kubernetes/cloud-provider", "v0.36.3"),
    ("kubernetes/community", "d9bfbf251699"),
    ("kubernetes/component-helpers", "v0.36.3"),
    ("kubernetes/kube-aggregator", "v0.36.3"),
    ("kubernetes/kubernetes", "v1.36.3"),
    ("kubevirt/kubevirt", "b6f4e92e72df"),
    ("longhorn/longhorn", "751bdc50d268"),
    ("longhorn/longhorn-manager", "fed52b139157"),
    ("open-cluster-management-io/ocm", "ad38b9465f64"),
    ("operator-framework/operator-lifecycle-manager", "3db342eae253"),
];

/// The folders of `docs/causes/`, in the order of its README, with the module whose documentation describes each.
const FOLDERS: [(&str, &str, &str); 10] = [
    ("storage", "Storage", "causes/storage"),
    ("namespaces", "Namespaces", "causes/namespaces"),
    ("pods", "Pods", "causes/pods"),
    (
        "garbage_collector",
        "Garbage collector",
        "causes/garbage_collector",
    ),
    ("api_machinery", "API machinery", "causes/api_machinery"),
    ("network", "Network", "causes/network"),
    ("operators", "Operators", "causes/operators"),
    ("products", "Products", "causes/products"),
    ("impact", "Before something is deleted", "impact"),
    ("leftovers", "Leftovers", "leftovers"),
];

/// Files without a page: causes share them.
const HELPERS: [&str; 59] = [
    "api_machinery/update_rejected/admission_policy",
    "api_machinery/update_rejected/namespace_exemption",
    "api_machinery/update_rejected/reported_denial",
    "api_machinery/update_rejected/reported_violation",
    "api_machinery/update_rejected/unreachable_webhook",
    "impact/claim_disks",
    "impact/departing_controllers",
    "impact/ephemeral_volumes",
    "impact/storage_class_references",
    "impact/storage_quantity",
    "impact/waiting_objects",
    "namespaces/conditions",
    "namespaces/content_groups",
    "leftovers/missing_namespace",
    "network/ip_range",
    "operators/holder_report",
    "operators/pruned",
    "operators/referenced_by",
    "operators/resumed",
    "operators/surroundings/finalizer_name",
    "operators/surroundings/inventory",
    "operators/surroundings/named_in_words",
    "operators/surroundings/named_settings",
    "operators/surroundings/owned_jobs",
    "operators/surroundings/owned_objects",
    "operators/surroundings/owned_pods",
    "operators/surroundings/product_types",
    "operators/surroundings/references",
    "operators/surroundings/referrers",
    "operators/surroundings/services",
    "operators/surroundings/sibling_pods",
    "operators/surroundings/status_users",
    "operators/waits_for/objects",
    "operators/waits_for/state",
    "pods/kubelet",
    "pods/missing_device_driver",
    "pods/missing_node_plugin",
    "pods/pod_garbage_collector",
    "storage/stop_consumers",
    "storage/taken_back",
    "storage/volume_attachments",
    "operators/surroundings/attachments",
    "operators/surroundings/described_fields",
    "operators/surroundings/empty_references",
    "operators/surroundings/labelled_set",
    "operators/surroundings/listed_names",
    "operators/surroundings/mutating_policies",
    "operators/surroundings/named_in_labels",
    "operators/surroundings/needed_rights",
    "operators/surroundings/neighbours",
    "operators/surroundings/switches",
    "operators/surroundings/volume_of_name",
    "operators/surroundings/owned_claims",
    "operators/surroundings/owned_workloads",
    "operators/surroundings/owner_references",
    "operators/surroundings/selectors",
    "operators/surroundings/type_schema",
    "operators/trouble",
    "operators/waits_for/usage",
];

struct Cause {
    /// The folder and the file: `storage/pvc_protection`.
    name: String,
    /// The first sentence of its documentation.
    title: String,
    /// The lines of its documentation below each heading.
    parts: BTreeMap<String, Vec<String>>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The module of a cause below `src/diagnose/`: `causes/storage/pvc_protection`, `impact/node`.
fn module(name: &str) -> String {
    if name.starts_with("impact/") || name.starts_with("leftovers/") {
        name.to_owned()
    } else {
        format!("causes/{name}")
    }
}

fn code(module: &str) -> String {
    fs::read_to_string(root().join(format!("src/diagnose/{module}.rs"))).unwrap()
}

/// The files that are causes or helpers of causes, by folder and file. The files directly in `causes/` are neither.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = ["causes", "impact", "leftovers"]
        .map(|folder| root().join("src/diagnose").join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap();
            if stem == "tests" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let module = path.strip_prefix(root().join("src/diagnose")).unwrap();
            let module = module.with_extension("").display().to_string();
            let name = module.strip_prefix("causes/").unwrap_or(&module);
            if name.contains('/') {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    names
}

/// The lines of the documentation of a module.
fn documentation(module: &str) -> Vec<String> {
    let text = code(module);
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
        .collect()
}

/// The first paragraph of the documentation of a module.
fn first_paragraph(module: &str) -> String {
    let lines = documentation(module);
    let first: Vec<_> = lines
        .iter()
        .take_while(|line| !line.is_empty())
        .cloned()
        .collect();
    first.join(" ")
}

/// None for a helper, and for a file whose documentation has no headings.
fn cause(name: &str) -> Option<Cause> {
    if HELPERS.contains(&name) {
        return None;
    }
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in documentation(&module(name)) {
        if let Some(next) = line.strip_prefix("# ") {
            next.clone_into(&mut heading);
        } else if !heading.is_empty() {
            parts.entry(heading.clone()).or_default().push(line);
        }
    }
    (!parts.is_empty()).then(|| Cause {
        name: name.to_owned(),
        title: first_paragraph(&module(name)).trim_end_matches('.').to_owned(),
        parts,
    })
}

fn causes() -> Vec<Cause> {
    names().iter().filter_map(|name| cause(name)).collect()
}

impl Cause {
    /// The blocks of a part, without the empty lines around them. The lines of a paragraph are joined.
    fn blocks(&self, heading: &str) -> Vec<String> {
        let mut blocks: Vec<String> = Vec::new();
        let (mut in_code, mut is_new) = (false, true);
        for line in &self.parts[heading] {
            let is_fence = line.starts_with("```");
            match blocks.last_mut() {
                _ if line.is_empty() && !in_code => is_new = true,
                Some(block) if !is_new => {
                    let is_own = in_code || is_fence || line.starts_with(['|', '-']);
                    block.push(if is_own { '\n' } else { ' ' });
                    block.push_str(if in_code { line } else { line.trim() });
                }
                _ => {
                    blocks.push(line.clone());
                    is_new = false;
                }
            }
            in_code ^= is_fence;
        }
        blocks
    }

    /// The words of the command of the example.
    fn example(&self) -> Vec<String> {
        let symptom = &self.parts["Symptom"];
        let command = symptom.iter().find_map(|line| line.strip_prefix(EXAMPLE));
        let command = command.unwrap_or_else(|| panic!("{} has no example", self.name));
        ["explain"]
            .into_iter()
            .chain(command.split(' '))
            .map(str::to_owned)
            .collect()
    }

    /// What the example prints in this form.
    fn explained(&self, format: &str) -> String {
        let words = self
            .example()
            .into_iter()
            .chain(["-o".to_owned(), format.to_owned()]);
        let out = Plugin::new(words).env("COLUMNS", WIDTH.to_string()).run();
        assert_eq!(out.code, 0, "{}: {out}", self.name);
        out.stdout.trim().to_owned()
    }
}

/// The path from the page of a cause to the root of `docs/causes/`.
fn up(name: &str) -> String {
    "../".repeat(name.matches('/').count())
}

/// A line of the sources with its link: `` `owner/repo:path` `` or `owner/repo#1`, and perhaps more words.
fn source(name: &str, line: &str) -> String {
    let line = line
        .strip_prefix("- ")
        .unwrap_or_else(|| panic!("{name}: {line}"));
    if let Some((code, more)) = line.strip_prefix('`').and_then(|rest| rest.split_once('`'))
        && let Some((repo, path)) = code.split_once(':')
    {
        let release = RELEASES.iter().find(|(of, _)| *of == repo);
        let (_, release) = release.unwrap_or_else(|| panic!("{name}: {repo} has no release"));
        let is_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
        let form = if is_file { "blob" } else { "tree" };
        let path = path.trim_end_matches('/');
        return format!("- [`{repo}:{path}`](https://github.com/{repo}/{form}/{release}/{path}){more}");
    }
    if let Some((repo, number)) = line.split_once('#') {
        return format!("- [{line}](https://github.com/{repo}/issues/{number})");
    }
    let page = format!("[knowledge/]({}../../knowledge/README.md)", up(name));
    assert!(line.ends_with("in knowledge/"), "{name}: {line}");
    format!("- {}", line.replace("knowledge/", &page))
}

/// Turns links of rustdoc to other causes into links to their pages, and all others into code.
fn linked(from: &str, text: &str, pages: &BTreeSet<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        out.push_str(before);
        let Some((label, after)) = after.split_once("`]") else {
            rest = after;
            continue;
        };
        let goal = after.strip_prefix('(').and_then(|goal| goal.split_once(')'));
        let (goal, after) = goal.unwrap_or((label, after));
        let label = label.rsplit("::").next().unwrap_or(label);
        let page = page_of(from, goal, pages);
        let _ = match page {
            Some(page) => write!(out, "[{label}]({}{page}.md)", up(from)),
            None => write!(out, "`{label}`"),
        };
        rest = after;
    }
    out + rest
}

/// The page that a path of Rust leads to, seen from the module of another page.
fn page_of(from: &str, path: &str, pages: &BTreeSet<String>) -> Option<String> {
    let words: Vec<_> = path.split("::").collect();
    let module = module(from);
    let place: Vec<_> = module.split('/').collect();
    let ups = words.iter().filter(|word| **word == "super").count();
    let words: Vec<_> = match words.as_slice() {
        ["crate", "diagnose", words @ ..] => words.to_vec(),
        _ => [
            place.get(..place.len() - ups.min(place.len()))?,
            words.get(ups..)?,
        ]
        .concat(),
    };
    let words = words.strip_prefix(&["causes"]).unwrap_or(&words);
    let name = words.join("/");
    pages.contains(&name).then_some(name)
}

/// The block of an example: its command, broken where it is too long, and what that prints.
fn shown(cause: &Cause, block: &str) -> String {
    let (before, command) = block.split_once(EXAMPLE).unwrap();
    let command = command.trim_end_matches("```").trim_end();
    let mut line = format!("{EXAMPLE}{command}");
    if line.len() > WIDTH {
        line = line.replace(" --from ", " \\\n    --from ");
    }
    format!("{before}{line}\n{}\n```", cause.explained("table"))
}

fn page(cause: &Cause, pages: &BTreeSet<String>) -> String {
    let Cause { name, title, .. } = cause;
    let mut page = format!(
        "# {title}\n\n<!-- Written from src/diagnose/{}.rs; {AGAIN} -->\n",
        module(name)
    );
    for heading in HEADINGS {
        assert!(
            cause.parts.contains_key(heading),
            "{name} has no heading {heading}"
        );
        let _ = write!(page, "\n## {heading}\n");
        for block in cause.blocks(heading) {
            let text = if block.contains(EXAMPLE) {
                shown(cause, &block)
            } else if heading == "Sources" {
                let lines: Vec<_> = block.lines().map(|line| source(name, line)).collect();
                lines.join("\n")
            } else {
                linked(name, &block, pages)
            };
            let _ = write!(page, "\n{text}\n");
        }
    }
    page
}

/// All pages with their text, as they are now.
static PAGES: LazyLock<BTreeMap<PathBuf, String>> = LazyLock::new(pages);

fn pages() -> BTreeMap<PathBuf, String> {
    let causes = causes();
    let names: BTreeSet<_> = causes.iter().map(|cause| cause.name.clone()).collect();
    let folder = root().join("docs/causes");
    let mut index = format!(
        "# Why objects are stuck in Terminating\n\n<!-- Written from src/diagnose/; {AGAIN} -->\n\n\
         Each cause that `kubectl finalizers explain` knows has a page: the symptom with an example, why, what to do and what not, \
         and the sources. The examples are recordings of this repository, so you can run them. The verdicts are in [explain.md](../explain.md). What a finalizer protects is in \
         [catalogue.md](../catalogue.md).\n"
    );
    for (name, heading, module) in FOLDERS {
        let _ = write!(index, "\n## {heading}\n\n{}\n\n", first_paragraph(module));
        for cause in causes
            .iter()
            .filter(|cause| cause.name.split('/').next() == Some(name))
        {
            let title = cause.title.replace(['[', ']'], "");
            let _ = writeln!(index, "- [{title}]({}.md)", cause.name);
        }
    }
    let mut pages = BTreeMap::from([(folder.join("README.md"), index)]);
    for cause in &causes {
        pages.insert(folder.join(format!("{}.md", cause.name)), page(cause, &names));
    }
    pages
}

/// The pages that exist.
fn written() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs/causes")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn the_pages_are_up_to_date() {
    for (path, expected) in &*PAGES {
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(found == *expected, "{} is stale; {AGAIN}", path.display());
    }
    for path in written() {
        assert!(
            PAGES.contains_key(&path),
            "{} belongs to no cause; {AGAIN}",
            path.display()
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    for path in written() {
        fs::remove_file(path).unwrap();
    }
    for (path, text) in pages() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn each_cause_has_a_page_in_a_known_folder() {
    let pages: BTreeSet<_> = causes().into_iter().map(|cause| cause.name).collect();
    for page in &pages {
        let folder = page.split('/').next().unwrap();
        assert!(
            FOLDERS.iter().any(|(name, ..)| *name == folder),
            "{page} is in no section of the README of docs/causes"
        );
    }
    let names = names();
    for name in &names {
        assert!(
            pages.contains(name) || HELPERS.contains(&name.as_str()),
            "{name} has no headings and is no helper"
        );
    }
    for helper in HELPERS {
        assert!(names.iter().any(|name| name == helper), "{helper} does not exist");
    }
}

#[test]
fn each_cause_that_declares_itself_has_a_page() {
    let pages: BTreeSet<_> = causes().into_iter().map(|cause| cause.name).collect();
    let declares = |name: &String| code(&module(name)).contains(": Cause = Cause {");
    let registered: BTreeSet<_> = names().into_iter().filter(declares).collect();
    assert!(registered.len() > 10, "{registered:?}");
    for name in registered {
        assert!(pages.contains(&name), "{name} has no page");
    }
}

#[test]
fn each_page_has_its_tests_at_the_same_path() {
    let tests = |path: &str| {
        let path = root().join(format!("tests/suite/explain/{path}.rs"));
        fs::read_to_string(path).unwrap_or_default()
    };
    let is_tested = |page: &str| {
        let (folder, file) = page.split_once('/').unwrap();
        let declared = tests(folder) + &tests(&format!("{folder}/mod"));
        let line = format!("mod {file};");
        let mut lines = declared.lines().map(|line| line.trim_start_matches("pub "));
        lines.any(|declares| declares == line) && tests(page).contains("#[test]")
    };
    let untested: Vec<_> = causes()
        .into_iter()
        .map(|cause| cause.name)
        .filter(|page| !is_tested(page))
        .collect();
    assert!(
        untested.is_empty(),
        "tests/suite/explain/ has no tests at the path of these pages: {untested:#?}"
    );
}

#[test]
fn an_explanation_names_only_pages_that_exist() {
    let tells = |name: &&String| code(&module(name)).contains("Page::of(module_path!())");
    let names = names();
    let told: Vec<_> = names.iter().filter(tells).collect();
    assert!(told.len() > 30, "{told:?}");
    let missing: Vec<_> = told.into_iter().filter(|name| cause(name).is_none()).collect();
    assert!(missing.is_empty(), "no page in docs/causes/: {missing:?}");
}

#[test]
fn each_page_has_all_headings_an_example_of_its_cause_and_sources_of_a_release() {
    for cause in causes() {
        let name = &cause.name;
        let found: Vec<_> = cause.parts.keys().map(String::as_str).collect();
        let expected: Vec<_> = BTreeSet::from(HEADINGS).into_iter().collect();
        assert_eq!(found, expected, "{name}");
        // An explanation names the page if the cause makes a finding. The others add to what another cause found.
        let code = code(&module(name));
        let adds = ["Tells::More(", "Tells::Described("]
            .iter()
            .any(|tells| code.contains(tells));
        let only_adds = adds && !code.contains("const PAGE");
        if code.contains("Page::of(module_path!())") && !only_adds {
            let json = cause.explained("json");
            assert!(json.contains(&format!("\"{name}\"")), "{name} in\n{json}");
        }
    }
    for (path, text) in &*PAGES {
        assert!(
            !text.contains("/HEAD/") && !text.contains("super::") && !text.contains("crate::"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn each_release_is_that_of_a_source() {
    let all: String = PAGES.values().map(String::as_str).collect();
    for (repo, release) in RELEASES {
        assert!(
            ["blob", "tree"]
                .iter()
                .any(|form| all.contains(&format!("/{repo}/{form}/{release}/"))),
            "no page links {repo}"
        );
    }
}
