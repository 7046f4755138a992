//! Tests of the whole catalogue, and of lookups with any string.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

mod labels;
mod page;

fn all() -> Vec<Entry> {
    Knowledge::builtin().all().cloned().collect()
}

/// An object with the entry's finalizer: its first kind, with text in place of each `*`.
fn object(entry: &Entry) -> (String, String) {
    let kind = &entry.kinds[0];
    (kind.kind().replace('*', "Any"), kind.group().replace('*', "any"))
}

/// Counts each name in a list that is kept by hand, so that no entry gets lost unnoticed.
#[test]
fn contains_every_listed_name() {
    let count = |names: Vec<String>| {
        names
            .into_iter()
            .fold(BTreeMap::<String, usize>::new(), |mut counts, name| {
                *counts.entry(name).or_default() += 1;
                counts
            })
    };
    let listed = count(
        include_str!("../../knowledge/NAMES")
            .lines()
            .map(str::to_owned)
            .collect(),
    );
    let known = count(all().into_iter().map(|entry| entry.name).collect());
    let lost: Vec<_> = listed
        .iter()
        .filter(|(name, times)| known.get(*name) != Some(times))
        .collect();
    let unlisted: Vec<_> = known
        .iter()
        .filter(|(name, times)| listed.get(*name) != Some(times))
        .collect();
    assert_eq!(
        (lost, unlisted),
        (vec![], vec![]),
        "in NAMES but not in the files; in the files but not in NAMES"
    );
}

/// A project has at most this many names that differ only in one word. What has more is a pattern.
const LARGEST_FAMILY: usize = 15;

/// Without its last word behind `/`, or without its first word.
fn families(name: &str) -> impl Iterator<Item = String> {
    let in_front = name.rsplit_once('/').map(|(domain, _)| format!("{domain}/*"));
    let behind = name.split_once('.').map(|(_, rest)| format!("*.{rest}"));
    in_front.into_iter().chain(behind)
}

/// Twenty names that a generator makes of twenty kinds say no more than one pattern does.
#[test]
fn no_family_of_generated_names_fills_the_catalogue() {
    let mut names: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for entry in all() {
        for family in families(&entry.name) {
            names
                .entry((entry.project.clone(), family))
                .or_default()
                .insert(entry.name.clone());
        }
    }
    let large: Vec<_> = names
        .into_iter()
        .filter(|(_, names)| names.len() > LARGEST_FAMILY)
        .collect();
    assert_eq!(large, vec![], "say them with a pattern");
}

#[test]
fn parses_every_entry() {
    assert_eq!(all().len(), Knowledge::builtin_len());
}

/// The data may make the program at most 0.85 MB larger; the tables besides the texts take about 100 KB. An entry takes some
/// 400 bytes.
#[test]
fn keeps_the_catalogue_small() {
    assert!(
        builtin::size() < 850_000,
        "{} bytes of packed JSON: leave out what repeats, such as holders",
        builtin::size()
    );
    assert!(
        builtin::unpacked_size() < 4_000_000,
        "{} bytes of unpacked JSON",
        builtin::unpacked_size()
    );
}

#[test]
fn finds_every_entry_by_its_example() {
    let knowledge = Knowledge::builtin();
    for entry in all() {
        let (kind, group) = object(&entry);
        let kind = GroupKind {
            group: &group,
            kind: &kind,
        };
        assert_eq!(
            knowledge.lookup(&entry.example, entry.list, Some(kind)).as_ref(),
            Some(&entry)
        );
        assert!(
            knowledge.lookup_all(&entry.example).contains(&entry),
            "{}",
            entry.example
        );
        let pasted = format!("metadata.finalizers:\n- \"{}\",", entry.example);
        assert_eq!(paste::names(&pasted), [entry.example.as_str()]);
    }
}

#[test]
fn finds_an_entry_for_every_former_name() {
    let knowledge = Knowledge::builtin();
    for entry in all() {
        for name in entry.renamed_from.iter().chain(&entry.renamed_to) {
            assert!(
                knowledge.lookup(name, entry.list, None).is_some(),
                "{name} of {}",
                entry.name
            );
        }
    }
}

#[test]
fn round_trips_every_entry_through_json_and_yaml() {
    for entry in all() {
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), entry);
        let keys: serde_json::Value = serde_json::from_str(&json).unwrap();
        for keys in [&keys, &keys["holder"]] {
            assert!(
                keys.as_object()
                    .unwrap()
                    .keys()
                    .all(|key| !key.contains(['-', '_'])),
                "{json}"
            );
        }
        let yaml = serde_saphyr::to_string(&entry).unwrap();
        assert_eq!(serde_saphyr::from_str::<Entry>(&yaml).unwrap(), entry, "{yaml}");
    }
}

/// Each pair of entries that match one name, as "name: winner before loser". A new pair is not wrong, but
/// somebody has to review it.
#[test]
fn decides_every_ambiguous_pair() {
    let entries = all();
    let mut pairs = BTreeSet::new();
    for asked in &entries {
        let (kind, group) = object(asked);
        let kind = GroupKind {
            group: &group,
            kind: &kind,
        };
        let speaker = Knowledge::builtin()
            .lookup(&asked.example, asked.list, Some(kind))
            .unwrap();
        for other in entries
            .iter()
            .filter(|other| *other != &speaker && other.names(&asked.example))
        {
            // These rules cover many pairs each. A last resort loses to everything. A former name loses to an
            // entry of that name. Entries of one name differ by kind or list.
            let by_rule =
                other.last_resort || other.renamed_from.contains(&asked.name) || other.name == speaker.name;
            if !by_rule {
                pairs.insert(format!(
                    "{}: {} before {}",
                    asked.example, speaker.name, other.name
                ));
            }
        }
    }
    let expected = include_str!("pairs.txt")
        .lines()
        .map(str::to_owned)
        .collect::<BTreeSet<_>>();
    assert_eq!(
        pairs, expected,
        "look at each pair that is new, then write it into pairs.txt"
    );
}

#[test]
fn fills_placeholders() {
    let value = |word: &str| (word == "name").then(|| "db-0".to_owned());
    let filled = schema::fill("get {name} in {namespace} -o jsonpath='{.spec.x}{end}'", value);
    assert_eq!(filled, "get db-0 in <namespace> -o jsonpath='{.spec.x}{end}'");
}

/// A word in capitals is left to the reader, unless it is a column or a value that a program takes. A report lists only
/// placeholders.
#[test]
fn a_word_for_the_reader_is_a_placeholder() {
    const TAKEN_BY_PROGRAMS: [&str; 1] = ["ENABLED"];
    for entry in all() {
        for command in entry.fix.iter().filter_map(|step| step.command.as_ref()) {
            let words = command.text().split_whitespace();
            for word in words.filter(|word| !word.contains("custom-columns") && !word.contains('"')) {
                let parts = word.split(|c: char| !(c.is_alphanumeric() || "{}-_".contains(c)));
                let is_capital = |c: char| c.is_ascii_uppercase() || c == '-';
                let in_capitals: Vec<_> = parts
                    .filter(|part| part.len() > 2 && part.chars().all(is_capital))
                    .filter(|part| !TAKEN_BY_PROGRAMS.contains(part))
                    .collect();
                assert!(
                    in_capitals.is_empty(),
                    "{}: write {in_capitals:?} in braces: {}",
                    entry.name,
                    command.text()
                );
            }
        }
    }
}

#[test]
fn a_step_tells_what_its_placeholder_in_capitals_is() {
    let mistake = |text: &str| {
        let file = format!(
            "project: Widget Works\nfinalizers:\n  - name: parts.example.com/clean\n    \
             kinds: [Part.parts.example.com]\n    protects: a part\n    waits-for: {{ text: it must stop }}\n    \
             removed-by: an operator\n    if-removed: {{ consequence: none, text: nothing happens }}\n    \
             fix: [{{ label: read-only, text: {text}, command: 'kubectl get pv/{{VOLUME}}' }}]\n    \
             sources: [example/parts:main.go]\n    verified: true\n"
        );
        let read = Knowledge::builtin().with_user("own.yaml", &file);
        read.err().map(|mistakes| mistakes[0].message.clone())
    };
    assert_eq!(mistake("see the VOLUME of the claim"), None);
    assert_eq!(
        mistake("see the disk").as_deref(),
        Some("`parts.example.com/clean`: the text of the step does not tell what VOLUME is")
    );
}

/// The checker accepts the example in `knowledge/README.md`.
#[test]
fn accepts_the_example_in_the_readme() {
    let readme = include_str!("../../knowledge/README.md");
    let examples: Vec<&str> = readme
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let whole: Vec<&&str> = examples
        .iter()
        .filter(|yaml| yaml.lines().any(|line| line.starts_with("project:")))
        .collect();
    assert!(
        !whole.is_empty(),
        "no whole file among {} examples",
        examples.len()
    );
    for yaml in whole {
        let knowledge = Knowledge::builtin().with_user("README.md", yaml).unwrap();
        let own = knowledge.all().next().unwrap().clone();
        let entry = knowledge.lookup(&own.example, own.list, None).unwrap();
        assert_eq!(entry, own);
    }
}

/// Any program may have general labels, and would be taken for the holder.
#[test]
fn refuses_an_order_never_to_remove_a_finalizer_that_no_program_can_look_up() {
    let file = |rest: &str| {
        format!(
            "project: Widget Works\nfinalizers:\n  - name: parts.example.com/clean\n    \
             kinds: [Part.parts.example.com]\n    protects: a part\n    waits-for: {{ text: it must stop }}\n    \
             removed-by: an operator\n    if-removed: {{ consequence: none, text: nothing happens }}\n    \
             fix: [{{ label: reversible, text: restart it }}]\n    sources: [example/parts:main.go]\n    verified: true\n{rest}\n"
        )
    };
    let message = |rest: &str| {
        let read = Knowledge::builtin().with_user("own.yaml", &file(rest));
        read.err()
            .map(|mistakes| mistakes[0].message.clone())
            .unwrap_or_default()
    };
    for order in [
        "Never cut it while the node may run.",
        "Two disks. Never delete the Namespace local.",
        "As long as the cluster lives, do not remove it.",
        "Do not strip finalizers of volumes while a claim uses them.",
        "The finalizer must not be removed.; it must not force this",
    ] {
        let found = message(&format!("    warnings: [\"{order}\"]"));
        assert!(found.contains("needs `never-by-hand`"), "{order}: {found}");
    }
    for fact in [
        "A controller without nodes can never remove it.",
        "Do not remove a provider while clusters of it exist.",
        "Do not delete the webhook.",
    ] {
        assert_eq!(message(&format!("    warnings: [\"{fact}\"]")), "", "{fact}");
    }
    let typed = |exists: &str| {
        message(&format!(
            "    never-by-hand: {{ while: {{ exists: [{exists}] }}, because: it is lost }}\n    warnings: [Never cut it.]"
        ))
    };
    assert_eq!(typed("{ kind: Pod }"), "");
    assert_eq!(
        typed("{ kind: Pod, field: /spec/nodeName, is: [/metadata/name] }"),
        ""
    );
    for (wrong, told) in [
        ("", "at least one item"),
        ("{ kind: \"*.parts.example.com\" }", "is a pattern"),
        ("{ kind: Pod, field: /spec/nodeName }", "belong together"),
        ("{ kind: Pod, is: [/spec/nodeName] }", "belong together"),
        (
            "{ kind: Pod, field: spec.nodeName, is: [/metadata/name] }",
            "is not a JSON pointer",
        ),
    ] {
        assert!(typed(wrong).contains(told), "{wrong}: {}", typed(wrong));
    }
}

#[test]
fn refuses_a_selector_that_does_not_name_the_product() {
    let file = |holder: &str| {
        format!(
            "project: Widget Works\nholder: {{ {holder} }}\nfinalizers:\n  - name: parts.example.com/clean\n    \
             kinds: [Part.parts.example.com]\n    protects: a part\n    waits-for: {{ text: it must stop }}\n    \
             removed-by: an operator\n    if-removed: {{ consequence: none, text: nothing happens }}\n    \
             fix: [{{ label: reversible, text: restart it }}]\n    sources: [example/parts:main.go]\n    verified: true\n"
        )
    };
    let is_accepted = |holder: &str| {
        let read = Knowledge::builtin().with_user("own.yaml", &file(holder));
        if let Err(mistakes) = &read {
            assert!(
                mistakes[0].message.contains("does not name the product"),
                "{mistakes:?}"
            );
        }
        read.is_ok()
    };
    let workload = |selector: &str| format!("workloads: [{{ selector: \"{selector}\" }}]");
    for general in [
        "control-plane=controller-manager",
        "app=operator",
        "app.kubernetes.io/component=admission-controller",
        "app.kubernetes.io/name=ww",
    ] {
        assert!(!is_accepted(&workload(general)), "{general}");
        let named = format!("{general},app.kubernetes.io/part-of=widget-works");
        assert!(is_accepted(&workload(&named)), "{named}");
    }
    assert!(is_accepted(&format!(
        "known-as: [ww], {}",
        workload("app.kubernetes.io/name=ww")
    )));
    assert!(is_accepted(&workload("control-plane=parts-controller")));
    // Operators of several products have such names.
    for shared in [
        "chaos-operator",
        "pg-operator",
        "kube-controller-manager",
        "database",
    ] {
        let only =
            |more: &str| format!("known-as: [{shared}], workloads: [{{ selector: \"app={shared}\"{more} }}]");
        assert!(!is_accepted(&only("")), "{shared}");
        assert!(!is_accepted(&only(", namespace: \"{namespace}\"")), "{shared}");
        assert!(is_accepted(&only(", namespace: widget-works")), "{shared}");
        assert!(
            is_accepted(&only(", images: [\"*/widget-works/operator\"]")),
            "{shared}"
        );
    }
    assert!(is_accepted(&workload("parts.example.com/role=controller")));
    let with_name = |name: &str| {
        format!("workloads: [{{ name: \"{name}\", selector: control-plane=controller-manager }}]")
    };
    assert!(is_accepted(&with_name("*parts-controller-manager")));
    // The labels then count under any name.
    assert!(!is_accepted(&with_name("parts-controller-manager")));
}

/// The README lists every word that a file may use.
#[test]
fn documents_every_word_in_the_readme() {
    let readme = include_str!("../../knowledge/README.md");
    for (word, _) in schema::PLACEHOLDERS {
        assert!(
            readme.contains(&format!("`{{{word}}}`")),
            "the placeholder {word} is not in README.md"
        );
    }
    for consequence in Consequence::ALL {
        assert!(
            readme.contains(&format!("`{consequence}`")),
            "{consequence} is not in README.md"
        );
    }
    let source = include_str!("schema/vocabulary.rs");
    for part in [
        "pub enum Wait {",
        "pub enum FoundBy {",
        "pub enum Runs {",
        "pub enum IfHolder {",
        "pub enum Label {",
        "pub enum Judged {",
        "pub enum Area {",
    ] {
        for word in words(source, part) {
            assert!(
                readme.contains(&format!("`{word}`")),
                "`{word}` of {part} is not in README.md"
            );
        }
    }
}

/// The words of a vocabulary as in files. They are read from its source, so that none can be forgotten.
fn words(source: &str, heading: &str) -> Vec<String> {
    let body = source.split(heading).nth(1).unwrap().split("\n}").next().unwrap();
    let names = body
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(char::is_uppercase));
    let kebab = |name: &str| {
        name.chars().fold(String::new(), |mut word, c| {
            if c.is_uppercase() && !word.is_empty() {
                word.push('-');
            }
            word.push(c.to_ascii_lowercase());
            word
        })
    };
    names
        .map(|line| kebab(line.split(|c: char| !c.is_alphanumeric()).next().unwrap()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepts_any_string_without_a_panic(text in "\\PC{0,80}|[a-z./*-]{0,300}|(\\[|\"|,|[a-z./]|\n|- ){0,60}") {
        let knowledge = Knowledge::builtin();
        let kind = GroupKind { group: &text, kind: &text };
        knowledge.lookup(&text, List::Metadata, Some(kind));
        knowledge.recognise(&text);
        knowledge.deduce(&text);
        for name in paste::names(&text) {
            prop_assert!(!name.is_empty() && !name.contains(char::is_whitespace));
        }
        schema::placeholders(&text);
        prop_assert_eq!(schema::fill(&text, |word| Some(format!("{{{word}}}"))), &*text);
        let _ = Knowledge::builtin().with_user("own.yaml", &text);
    }

    #[test]
    fn compares_a_glob_without_stars_for_equality(a in "[a-c./]{0,6}", b in "[a-c./]{0,6}") {
        prop_assert_eq!(schema::glob(&a, &b), a == b);
    }

    #[test]
    fn matches_a_glob_with_text_in_place_of_its_stars(parts in prop::collection::vec("[a-c]{0,3}", 1..5), filler in "[a-c]{0,4}") {
        prop_assert!(schema::glob(&parts.join("*"), &parts.join(&filler)));
    }

    #[test]
    fn reports_a_truncated_file_as_a_mistake(cut in 0usize..6000, at in 0usize..6000) {
        let text = include_str!("../../knowledge/kubernetes.yaml");
        let cut = text.char_indices().map(|(byte, _)| byte).nth(cut).unwrap_or(text.len());
        let _ = Knowledge::builtin().with_user("cut.yaml", &text[..cut]);
        let mut holed = text.to_owned();
        if let Some(hole) = text.char_indices().map(|(byte, _)| byte).nth(at) {
            holed.remove(hole);
        }
        let _ = Knowledge::builtin().with_user("holed.yaml", &holed);
    }
}
