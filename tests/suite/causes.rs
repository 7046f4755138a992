//! `docs/causes/` has a page for each cause. Each page is written from the documentation of the cause's file in
//! `src/diagnose/`, so that the two cannot differ. After a change to such documentation:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_what_is_generated";

/// The markers in the documentation of a cause, and the heading of each on the page.
const PARTS: [(&str, &str); 5] = [
    ("**Recognises**", "What you see"),
    ("**Why:**", "What it means"),
    ("**Wants**", "What is looked at"),
    ("**Concludes**", "What is said"),
    ("**Advises**", "What to do, and what not"),
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
const HELPERS: [&str; 35] = [
    "api_machinery/update_rejected/admission_policy",
    "api_machinery/update_rejected/namespace_exemption",
    "api_machinery/update_rejected/reported_denial",
    "api_machinery/update_rejected/unreachable_webhook",
    "api_machinery/webhook_backend",
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
    "operators/referenced_by",
    "operators/resumed",
    "operators/surroundings/finalizer_name",
    "operators/surroundings/inventory",
    "operators/surroundings/named_in_words",
    "operators/surroundings/owned_jobs",
    "operators/surroundings/owned_pods",
    "operators/surroundings/references",
    "operators/surroundings/referrers",
    "operators/surroundings/services",
    "operators/waits_for/objects",
    "operators/waits_for/state",
    "pods/kubelet",
    "pods/pod_garbage_collector",
    "pods/stop_consumers",
    "storage/csi_driver",
    "storage/reclaim_policy",
    "storage/release",
    "storage/volume_attachments",
];

/// Whole explanations in `tests/suite/explain/expected/`, which a test keeps true, by the page that shows each.
const ANSWERS: [(&str, &str); 4] = [
    ("namespaces/content_remaining", "namespace"),
    ("operators/unknown_finalizer", "unknown-finalizer"),
    ("pods/kubelet_confirmation", "pod-on-dead-node"),
    ("storage/pv_protection", "volume-in-use"),
];

struct Cause {
    /// The folder and the file: `storage/pvc_protection`.
    name: String,
    /// The first sentence of its documentation.
    title: String,
    /// The parts of its documentation, by heading.
    parts: BTreeMap<&'static str, String>,
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

/// The documentation of a module, one line for each paragraph.
fn documentation(module: &str) -> Vec<String> {
    let text = code(module);
    let lines: Vec<_> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .collect();
    lines
        .split(|line| line.is_empty())
        .map(|paragraph| paragraph.join(" "))
        .collect()
}

/// None for a helper, and for a file without the markers.
fn cause(name: &str) -> Option<Cause> {
    if HELPERS.contains(&name) {
        return None;
    }
    let paragraphs = documentation(&module(name));
    let (title, rest) = paragraphs.split_first()?;
    let text = rest.join("\n\n");
    let starts = PARTS.map(|(marker, _)| text.find(marker));
    let mut parts = BTreeMap::new();
    for ((marker, heading), start) in PARTS.iter().zip(starts) {
        let Some(start) = start else { continue };
        let end = starts
            .iter()
            .flatten()
            .filter(|end| **end > start)
            .min()
            .unwrap_or(&text.len())
            .to_owned();
        let part = text[start + marker.len()..end].trim_start_matches(':').trim();
        parts.insert(*heading, capitalized(part));
    }
    let has = |heading| parts.contains_key(heading);
    (has("What you see") && has("What it means")).then(|| Cause {
        name: name.to_owned(),
        title: title.trim_end_matches('.').to_owned(),
        parts,
    })
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn causes() -> Vec<Cause> {
    names().iter().filter_map(|name| cause(name)).collect()
}

/// The path from the page of a cause to the root of `docs/causes/`.
fn up(name: &str) -> String {
    "../".repeat(name.matches('/').count())
}

/// Links to the files and issues that a text names: `` `owner/repo:path` ``, a path after it that begins with `pkg/`,
/// and `owner/repo#1`.
fn sources(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut repo = String::new();
    for code in text.split('`').skip(1).step_by(2) {
        let code: String = code.split_whitespace().collect();
        let path = match code.split_once(':') {
            Some((of, path)) if of.split('/').count() == 2 && path.contains('/') => {
                of.clone_into(&mut repo);
                path
            }
            None if !repo.is_empty() && code.starts_with("pkg/") => &code,
            _ => continue,
        };
        let form = if path.rsplit('/').next().is_some_and(|last| last.contains('.')) {
            "blob"
        } else {
            "tree"
        };
        let path = path.trim_end_matches('/');
        found.push(format!(
            "[`{repo}:{path}`](https://github.com/{repo}/{form}/HEAD/{path})"
        ));
    }
    let words: Vec<_> = text
        .split(|c: char| c.is_whitespace() || "(),;`".contains(c))
        .collect();
    for (at, word) in words.iter().enumerate() {
        let Some((of, number)) = word.trim_end_matches('.').split_once('#') else {
            continue;
        };
        let of = if of.is_empty() {
            words[at.saturating_sub(1)]
        } else {
            of
        };
        if of.split('/').count() == 2 && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) {
            found.push(format!(
                "[{of}#{number}](https://github.com/{of}/issues/{number})"
            ));
        }
    }
    if text.contains("ntry's own") {
        found.push(format!(
            "the `sources` of the finalizer's entry in [knowledge/]({}../../knowledge/README.md)",
            up(name)
        ));
    }
    let mut met = BTreeSet::new();
    found.retain(|source| met.insert(source.clone()));
    found
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

fn page(cause: &Cause, pages: &BTreeSet<String>) -> String {
    let Cause { name, title, parts } = cause;
    let mut page = format!(
        "# {title}\n\n<!-- Written from src/diagnose/{}.rs; {AGAIN} -->\n",
        module(name)
    );
    for (_, heading) in PARTS {
        if let Some(part) = parts.get(heading) {
            let _ = write!(page, "\n## {heading}\n\n{}\n", linked(name, part, pages));
        }
    }
    for (_, file) in ANSWERS.iter().filter(|(page, _)| page == name) {
        let _ = write!(page, "\n## How it looks\n\n```text\n{}\n```\n", answer(file));
    }
    page.push_str("\n## Sources\n\n");
    for source in sources(name, &parts.values().cloned().collect::<Vec<_>>().join(" ")) {
        let _ = writeln!(page, "- {source}");
    }
    page
}

/// The explanation at 80 columns.
fn answer(file: &str) -> String {
    let text = fs::read_to_string(root().join(format!("tests/suite/explain/expected/{file}.txt"))).unwrap();
    let narrow = text
        .split("=== ")
        .find_map(|part| part.strip_prefix("80 columns\n"))
        .unwrap();
    narrow.trim().to_owned()
}

/// All pages with their text.
fn pages() -> BTreeMap<PathBuf, String> {
    let causes = causes();
    let names: BTreeSet<_> = causes.iter().map(|cause| cause.name.clone()).collect();
    let folder = root().join("docs/causes");
    let mut index = format!(
        "# Why objects are stuck in Terminating\n\n<!-- Written from src/diagnose/; {AGAIN} -->\n\n\
         Each cause that `kubectl finalizers explain` knows has a page: what you see, what it means, what is looked at, what to \
         do and what not, and the sources. The verdicts are in [explain.md](../explain.md). What a finalizer protects is in \
         [catalogue.md](../catalogue.md).\n"
    );
    for (name, heading, module) in FOLDERS {
        let _ = write!(index, "\n## {heading}\n\n{}\n\n", documentation(module)[0]);
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
    let pages = pages();
    for (path, expected) in &pages {
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(found == *expected, "{} is stale; {AGAIN}", path.display());
    }
    for path in written() {
        assert!(
            pages.contains_key(&path),
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
            "{name} has no **Recognises** with **Why:** and is no helper"
        );
    }
    for helper in HELPERS {
        assert!(names.iter().any(|name| name == helper), "{helper} does not exist");
    }
    for (page, _) in ANSWERS {
        assert!(pages.contains(page), "{page} has no page for its explanation");
    }
}

#[test]
fn each_cause_of_the_registry_has_a_page() {
    let pages: BTreeSet<_> = causes().into_iter().map(|cause| cause.name).collect();
    let text = code("causes/registry");
    let (_, list) = text.split_once("&[Cause] = &[").unwrap();
    let (list, _) = list.split_once("];").unwrap();
    let registered: BTreeSet<_> = list
        .split(',')
        .filter_map(|path| path.trim().rsplit_once("::"))
        .map(|(module, _)| module.replace("::", "/"))
        .collect();
    assert!(registered.len() > 10, "{registered:?}");
    for name in registered {
        assert!(pages.contains(&name), "{name} has no page");
    }
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
fn each_page_has_what_you_see_what_it_means_and_sources() {
    for (path, text) in pages() {
        if path.ends_with("README.md") {
            continue;
        }
        for heading in ["What you see", "What it means"] {
            assert!(
                text.contains(&format!("\n## {heading}\n\n")),
                "{}: {heading}",
                path.display()
            );
        }
        let (_, sources) = text.rsplit_once("\n## Sources\n\n").unwrap();
        assert!(
            sources.starts_with("- ") && !sources.contains('#') | sources.contains("/issues/"),
            "{}",
            path.display()
        );
        assert!(
            !text.contains("super::") && !text.contains("crate::"),
            "{} links to code",
            path.display()
        );
    }
}
