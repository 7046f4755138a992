//! `docs/causes/`: a page for each cause, written from what its rule says of itself, so that the two cannot differ. After
//! a change to the documentation of a rule:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_what_is_generated";

/// What a rule's documentation says, by the word that begins it, and what that is called on its page.
const PARTS: [(&str, &str); 5] = [
    ("**Recognises**", "What you see"),
    ("**Why:**", "What it means"),
    ("**Wants**", "What is looked at"),
    ("**Concludes**", "What is said"),
    ("**Advises**", "What to do, and what not"),
];

/// Files that are no cause of their own, but a part of the rules that use them.
const HELPERS: [&str; 17] = [
    "address_range",
    "backend",
    "before",
    "before/quantity",
    "before/workloads",
    "held",
    "kubelet",
    "namespace_conditions",
    "namespace_content",
    "pod_collector",
    "refused/except",
    "refused/policy",
    "refused/said",
    "refused/webhook",
    "steps",
    "storage",
    "table",
];

/// Answers in full, of `tests/suite/explain/expected/`, which are tests themselves.
const ANSWERS: [(&str, &str); 4] = [
    ("namespace", "namespace"),
    ("node", "pod-on-dead-node"),
    ("uncatalogued", "unknown-finalizer"),
    ("volume", "volume-in-use"),
];

struct Cause {
    /// The file's name.
    name: String,
    /// The first sentence of its documentation.
    title: String,
    /// The rest of it, a part each.
    parts: BTreeMap<&'static str, String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a module of the rules: `claim`, `before/claim`.
fn code(name: &str) -> String {
    fs::read_to_string(root().join(format!("src/diagnose/rules/{name}.rs"))).unwrap()
}

fn rules() -> String {
    fs::read_to_string(root().join("src/diagnose/rules.rs")).unwrap()
}

/// The modules of the rules, and those that are in a folder of their own.
fn modules() -> Vec<String> {
    let mut names = declared(&rules());
    for folder in names.clone() {
        if root().join(format!("src/diagnose/rules/{folder}")).is_dir() {
            let inside = declared(&code(&folder));
            names.extend(inside.iter().map(|name| format!("{folder}/{name}")));
        }
    }
    names.sort();
    names
}

/// What a module declares, without what only tests have.
fn declared(text: &str) -> Vec<String> {
    let of_tests: BTreeSet<_> = text
        .split("#[cfg(test)]")
        .skip(1)
        .filter_map(|rest| rest.lines().find_map(module))
        .collect();
    let all = text.lines().filter_map(module);
    all.filter(|name| !of_tests.contains(name))
        .map(str::to_owned)
        .collect()
}

fn module(line: &str) -> Option<&str> {
    line.strip_prefix("pub(super) ")
        .unwrap_or(line)
        .strip_prefix("mod ")?
        .strip_suffix(';')
}

/// The documentation of a module, in one line a paragraph.
fn documentation(name: &str) -> Vec<String> {
    let text = code(name);
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

/// None if the module is no cause by itself.
fn cause(name: &str) -> Option<Cause> {
    let paragraphs = documentation(name);
    let (title, rest) = paragraphs.split_first()?;
    let text = rest.join("\n\n");
    let starts = PARTS.map(|(word, _)| text.find(word));
    let mut parts = BTreeMap::new();
    for ((word, heading), start) in PARTS.iter().zip(starts) {
        let Some(start) = start else { continue };
        let end = starts
            .iter()
            .flatten()
            .filter(|end| **end > start)
            .min()
            .unwrap_or(&text.len())
            .to_owned();
        let said = text[start + word.len()..end].trim_start_matches(':').trim();
        parts.insert(*heading, sentence(said));
    }
    let says = |heading| parts.contains_key(heading);
    let is_part = parts.values().any(|said| said.contains("othing by itself"));
    (says("What you see") && says("What it means") && !is_part).then(|| Cause {
        name: name.to_owned(),
        title: title.trim_end_matches('.').to_owned(),
        parts,
    })
}

/// With a capital letter, unless it begins with a name.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn causes() -> Vec<Cause> {
    modules().iter().filter_map(|name| cause(name)).collect()
}

/// Files and issues that a text names, as links: `` `owner/repo:path` ``, a path behind such a one that begins with
/// `pkg/`, and `owner/repo#1`.
fn sources(text: &str) -> Vec<String> {
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
        let sort = if path.rsplit('/').next().is_some_and(|last| last.contains('.')) {
            "blob"
        } else {
            "tree"
        };
        let path = path.trim_end_matches('/');
        found.push(format!(
            "[`{repo}:{path}`](https://github.com/{repo}/{sort}/HEAD/{path})"
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
        found.push(
            "the `sources` of the finalizer's entry in [knowledge/](../../knowledge/README.md)".to_owned(),
        );
    }
    let mut met = BTreeSet::new();
    found.retain(|source| met.insert(source.clone()));
    found
}

/// Links to other rules, as they are written for rustdoc, as links to their pages.
fn linked(text: &str, pages: &BTreeSet<String>) -> String {
    let mut out = text.to_owned();
    for module in modules().iter().filter(|name| !name.contains('/')) {
        let goal = if pages.contains(module) {
            format!("[{module}]({module}.md)")
        } else {
            format!("`{module}`")
        };
        for link in [
            format!("[`super::super::{module}`]"),
            format!("[`super::{module}`]"),
            format!("[`{module}`](super::{module})"),
            format!("[`{module}`]"),
        ] {
            out = out.replace(&link, &goal);
        }
    }
    out
}

/// The file of a page.
fn file(name: &str) -> String {
    format!("{}.md", name.replace('/', "-"))
}

fn page(cause: &Cause, pages: &BTreeSet<String>) -> String {
    let Cause { name, title, parts } = cause;
    let mut page = format!("# {title}\n\n<!-- Written from src/diagnose/rules/{name}.rs; {AGAIN} -->\n");
    for (_, heading) in PARTS {
        if let Some(said) = parts.get(heading) {
            let _ = write!(page, "\n## {heading}\n\n{}\n", linked(said, pages));
        }
    }
    for (_, file) in ANSWERS.iter().filter(|(rule, _)| rule == name) {
        let _ = write!(page, "\n## How it looks\n\n```text\n{}\n```\n", answer(file));
    }
    page.push_str("\n## Sources\n\n");
    for source in sources(&parts.values().cloned().collect::<Vec<_>>().join(" ")) {
        let _ = writeln!(page, "- {source}");
    }
    page
}

/// The narrowest form of an answer.
fn answer(file: &str) -> String {
    let text = fs::read_to_string(root().join(format!("tests/suite/explain/expected/{file}.txt"))).unwrap();
    let narrow = text
        .split("=== ")
        .find_map(|part| part.strip_prefix("80 columns\n"))
        .unwrap();
    narrow.trim().to_owned()
}

/// Every page with what it should hold.
fn pages() -> BTreeMap<PathBuf, String> {
    let causes = causes();
    let names: BTreeSet<_> = causes.iter().map(|cause| cause.name.clone()).collect();
    let folder = root().join("docs/causes");
    let mut index = format!(
        "# Why objects do not go\n\n<!-- Written from src/diagnose/rules/; {AGAIN} -->\n\n\
         A page for each cause that `kubectl finalizers explain` knows: what you see, what it means, what is looked at and said, what \
         to do and what not, and the sources. The verdicts are in [explain.md](../explain.md), what single finalizers protect in \
         [catalogue.md](../catalogue.md).\n\n"
    );
    let line = |cause: &Cause| {
        format!(
            "- [{}]({})\n",
            cause.title.replace(['[', ']'], ""),
            file(&cause.name)
        )
    };
    let (before, others): (Vec<_>, Vec<_>) =
        causes.iter().partition(|cause| cause.name.starts_with("before/"));
    index.extend(others.into_iter().map(line));
    index.push_str("\n## Before something is deleted\n\n");
    index.extend(before.into_iter().map(line));
    let mut pages = BTreeMap::from([(folder.join("README.md"), index)]);
    pages.extend(
        causes
            .iter()
            .map(|cause| (folder.join(file(&cause.name)), page(cause, &names))),
    );
    pages
}

#[test]
fn what_is_generated_is_not_stale() {
    let pages = pages();
    for (path, expected) in &pages {
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(found == *expected, "{} is stale; {AGAIN}", path.display());
    }
    for entry in fs::read_dir(root().join("docs/causes")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            pages.contains_key(&path),
            "{} is of no rule; {AGAIN}",
            path.display()
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    let folder = root().join("docs/causes");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    for (path, text) in pages() {
        fs::write(path, text).unwrap();
    }
}

#[test]
fn each_rule_has_its_page() {
    let pages: BTreeSet<_> = causes().into_iter().map(|cause| cause.name).collect();
    let text = code("table");
    let of_the_table: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("look: ")?.split_once("::"))
        .map(|(name, _)| name)
        .collect();
    assert!(of_the_table.len() > 10, "{of_the_table:?}");
    for name in of_the_table {
        assert!(pages.contains(name), "{name} has no page");
    }
    for name in modules() {
        let is_helper = HELPERS.contains(&name.as_str());
        let says_so = documentation(&name).join(" ").contains("nothing by itself");
        assert!(
            pages.contains(&name) || is_helper || says_so,
            "{name} neither says what it **Recognises** nor is a part of other rules"
        );
        assert!(!(pages.contains(&name) && is_helper), "{name} has a page");
    }
}

#[test]
fn each_page_says_what_one_sees_and_what_it_means_and_ends_in_sources() {
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
        assert!(!text.contains("super::"), "{} links to code", path.display());
    }
}
