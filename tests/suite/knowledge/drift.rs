//! Whether upstream still has what the catalogue says, by folders of upstream repositories: `scripts/drift DIR`.
//!
//! Each name is looked up twice, at the revision of the last look and at the newest one. So a name that a product gave up
//! is told from one that its program has always put together from parts.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::PathBuf,
};

use kubectl_finalizers::knowledge::{Entry, Knowledge, Match};

use super::upstream::{Upstream, commit};

#[allow(unreachable_pub, reason = "the build's own module")]
#[path = "../../../build/drift.rs"]
mod results;

use results::{Look, Place};

const FILE: &str = "knowledge/drift.results";

/// Shorter parts of a pattern are in many files of any program.
const FEWEST_FIXED: usize = 6;

/// The text to look for: the whole name, or the longest fixed part of a pattern.
fn fixed(entry: &Entry) -> Option<&str> {
    let text = match entry.r#match {
        Match::Exact | Match::Prefix | Match::Suffix => &*entry.name,
        Match::Glob => entry.name.split('*').max_by_key(|part| part.len())?,
    };
    (entry.r#match == Match::Exact || text.len() >= FEWEST_FIXED).then_some(text)
}

/// The files that the entries cite: by repository, then by name, its text and its paths.
type Cited = BTreeMap<String, BTreeMap<String, (String, BTreeSet<String>)>>;

fn cited(entries: impl Iterator<Item = Entry>) -> Cited {
    let mut cited = Cited::new();
    for entry in entries {
        let Some(text) = fixed(&entry) else { continue };
        for (repository, path) in entry.sources.iter().filter_map(|source| source.split_once(':')) {
            let names = cited.entry(repository.to_owned()).or_default();
            let (_, paths) = names
                .entry(entry.name.clone())
                .or_insert_with(|| (text.to_owned(), BTreeSet::new()));
            paths.insert(path.to_owned());
        }
    }
    cited
}

/// Shorter ends of a name are in many files of any program.
const SHORTEST_END: usize = 4;

/// What nobody means who looks for a program's own text.
const NOT_OWN: [&str; 4] = [":!vendor", ":!*/vendor/*", ":!*_test.go", ":!*.md"];

/// These texts between any quotes that programs use.
fn quoted(texts: &[String]) -> Vec<String> {
    let quotes = ['"', '\'', '`'].into_iter();
    quotes
        .flat_map(|quote| texts.iter().map(move |text| format!("{quote}{text}{quote}")))
        .collect()
}

/// Where this text is at this revision. Of files that the entry does not cite, the shortest path: it is the likeliest
/// to be the program's own.
fn place(upstream: &Upstream, revision: &str, text: &str, paths: &BTreeSet<String>) -> Place {
    let cited: Vec<String> = paths
        .iter()
        .filter_map(|path| upstream.file(revision, path))
        .collect();
    if cited.iter().any(|file| file.contains(text)) {
        return Place::Source;
    }
    let search = |how: &str, texts: &[String]| {
        let mut words = vec!["grep", how, "--fixed-strings", "-I"];
        words.extend(texts.iter().flat_map(|text| ["-e", text]));
        words.extend([revision, "--", "."]);
        words.extend(NOT_OWN);
        upstream.git(&words)
    };
    if is_joined(text, &cited, |texts| search("--quiet", texts).is_some()) {
        return Place::Parts;
    }
    let found = search("--name-only", &[text.to_owned()]).unwrap_or_default();
    let found = found.lines().filter_map(|line| line.split_once(':'));
    found
        .map(|(_, path)| path.replace(' ', "%20"))
        .min_by_key(|path| (path.len(), path.clone()))
        .map_or(Place::Nowhere, Place::Elsewhere)
}

/// Whether a cited file has a part of the name as a text of its own, and any file has the domain. Many programs write
/// their domain once, and each name as what precedes or follows it: `Group + "/disk"`, `"disk." + Group`.
fn is_joined(name: &str, cited: &[String], anywhere: impl Fn(&[String]) -> bool) -> bool {
    let (domain, end) = name.split_once('/').unwrap_or((name, ""));
    let ends = quoted(&[end.to_owned()])
        .into_iter()
        .chain(quoted(&[format!("/{end}"), format!("%s/{end}")]));
    let ends: Vec<String> = ends.collect();
    let has_end = |file: &&String| end.is_empty() || ends.iter().any(|end| file.contains(end.as_str()));
    let whole_domain = quoted(&[domain.to_owned(), format!("{domain}/")]);
    let follows = end.len() >= SHORTEST_END && cited.iter().any(|file| has_end(&file));
    if follows && anywhere(&whole_domain) {
        return true;
    }
    let Some((label, group)) = domain.split_once('.').filter(|(label, _)| !label.is_empty()) else {
        return false;
    };
    let labels = quoted(&[format!("{label}.")]);
    // Both are parts of one expression: no other text stands between them.
    let is_followed = |rest: &str| {
        let follows = |end: &String| {
            rest.find(end.as_str())
                .is_some_and(|at| !rest[..at].contains('"'))
        };
        end.is_empty() || ends.iter().any(follows)
    };
    let precedes = |file: &String| {
        labels.iter().any(|label| {
            let mut places = file.match_indices(label.as_str());
            places.any(|(at, found)| is_followed(&file[at + found.len()..]))
        })
    };
    cited.iter().any(precedes) && anywhere(&quoted(&[group.to_owned()]))
}

/// What is different from the last look, for a person.
fn change(name: &str, before: &Place, now: &Place) -> Option<String> {
    match now {
        Place::Elsewhere(path) if before.is_cited() => Some(format!("moved: {name} is now in {path}")),
        Place::Nowhere if *before != Place::Nowhere => Some(format!("VANISHED: {name}")),
        _ if *before == Place::Nowhere && *now != Place::Nowhere => Some(format!("appeared: {name}")),
        _ => None,
    }
}

/// Looks all these names up, and says what has changed since the last look.
fn look(
    upstream: &Upstream,
    repository: &str,
    names: &BTreeMap<String, (String, BTreeSet<String>)>,
    last: Option<&Look>,
) -> (Look, Vec<String>) {
    let (revision, date) = upstream.newest();
    // A shallow copy may lack the revision of the last look.
    let pinned = last.map(|last| &*last.revision).filter(|pinned| {
        **pinned != *revision
            && upstream
                .git(&["cat-file", "-e", &format!("{pinned}^{{commit}}")])
                .is_some()
    });
    let (mut places, mut changes) = (Vec::new(), Vec::new());
    for (name, (text, paths)) in names {
        let now = place(upstream, &revision, text, paths);
        if let Some(pinned) = pinned {
            changes.extend(change(name, &place(upstream, pinned, text, paths), &now));
        }
        places.push((name.clone(), now));
    }
    let look = Look {
        repository: repository.to_owned(),
        revision,
        date,
        names: places,
    };
    (look, changes)
}

#[test]
#[ignore = "needs a folder of upstream repositories: scripts/drift"]
fn look_for_drift() {
    let folder =
        PathBuf::from(env::var_os("UPSTREAM").expect("UPSTREAM is the folder of upstream repositories"));
    let cited = cited(Knowledge::builtin().all().cloned());
    let last = results::read(&fs::read_to_string(FILE).unwrap_or_default()).unwrap();
    let (mut looks, mut absent) = (Vec::new(), Vec::new());
    for (repository, names) in &cited {
        let before = last.iter().find(|look| look.repository == *repository);
        let Some(upstream) = Upstream::open(&folder, repository) else {
            absent.push(repository.as_str());
            looks.extend(before.cloned());
            continue;
        };
        let (now, changes) = look(&upstream, repository, names, before);
        for change in changes {
            eprintln!("{repository} at {}: {change}", now.revision);
        }
        looks.push(now);
    }
    fs::write(FILE, results::write(&looks)).unwrap();
    let count = |fits: fn(&Place) -> bool| {
        let places = looks.iter().flat_map(|look| &look.names);
        places.filter(|(_, place)| fits(place)).count()
    };
    eprintln!(
        "{} repositories: {} names found in a cited file, {} in parts, {} in another file, {} in none\n{} repositories are not in {}: {}",
        looks.len(),
        count(|place| *place == Place::Source),
        count(|place| *place == Place::Parts),
        count(|place| matches!(place, Place::Elsewhere(_))),
        count(|place| *place == Place::Nowhere),
        absent.len(),
        folder.display(),
        absent.join(" ")
    );
}

#[test]
fn reports_a_name_that_upstream_dropped_or_moved() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream(folder.path().join("example/widgets"));
    let names = ["kept", "moved", "given-up", "composed"].map(|name| {
        let paths = BTreeSet::from(["disk.go".to_owned()]);
        (name.to_owned(), (format!("example.com/{name}"), paths))
    });
    let names = BTreeMap::from(names);

    commit(
        &upstream,
        "disk.go",
        "example.com/kept example.com/moved example.com/given-up",
    );
    let opened = Upstream::open(folder.path(), "example/widgets").expect("it is in the folder");
    let (first, changes) = look(&opened, "example/widgets", &names, None);
    assert_eq!(changes, Vec::<String>::new());
    let places: Vec<_> = first.names.iter().map(|(_, place)| place).collect();
    let [source, nowhere] = [&Place::Source, &Place::Nowhere];
    assert_eq!(places, [nowhere, source, source, source]);

    commit(&upstream, "volume.go", "example.com/kept example.com/moved");
    let (second, changes) = look(&opened, "example/widgets", &names, Some(&first));
    assert_eq!(
        changes,
        [
            "VANISHED: given-up",
            "moved: kept is now in volume.go",
            "moved: moved is now in volume.go"
        ]
    );
    assert_eq!(
        results::read(&results::write(&[first, second.clone()])).unwrap()[1],
        second
    );
    assert!(Upstream::open(folder.path(), "example/gadgets").is_none());
}

#[test]
fn a_name_that_a_program_joins_from_parts_is_found_where_a_cited_file_has_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream(folder.path().join("example/widgets"));
    let place = |name: &str, path: &str| {
        let (revision, _) = upstream.newest();
        place(&upstream, &revision, name, &BTreeSet::from([path.to_owned()]))
    };
    commit(
        &upstream,
        "disk.go",
        r#"Group = "example.com"; Disk = Group + "/disk"; Rack = "rack." + Group; Pin = "pin." + Group + "/hold""#,
    );
    for joined in ["example.com/disk", "rack.example.com", "pin.example.com/hold"] {
        assert_eq!(place(joined, "disk.go"), Place::Parts, "{joined}");
        assert_eq!(place(joined, "volume.go"), Place::Nowhere, "{joined}");
    }
    for other in [
        "example.org/disk",
        "rack.example.org",
        "example.com/diskette",
        "rack.example.com/hold",
    ] {
        assert_eq!(place(other, "disk.go"), Place::Nowhere, "{other}");
    }
}

#[test]
fn results_name_only_entries_that_cite_the_repository() {
    let cited = cited(Knowledge::builtin().all().cloned());
    let looks = results::read(&fs::read_to_string(FILE).unwrap()).unwrap();
    assert!(!looks.is_empty());
    for look in looks {
        for (name, _) in &look.names {
            let known = cited
                .get(&look.repository)
                .is_some_and(|names| names.contains_key(name));
            assert!(
                known,
                "no entry {name} cites {}: run scripts/drift again",
                look.repository
            );
        }
    }
}

#[test]
fn explain_says_where_the_name_was_found_and_nothing_where_it_was_not() {
    let knowledge = Knowledge::builtin();
    let looked = knowledge.all().find(|entry| !entry.verified_in.is_empty());
    let entry = looked.expect("names were found");
    let at = &entry.verified_in[0];
    let said = format!("Verified in {} at {} ({}).", at.repository, at.revision, at.date);
    let text = super::explain(&[&entry.example]).success();
    let words: Vec<_> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&said), "not said: {said}\n{text}");

    let names: BTreeSet<String> = Knowledge::builtin()
        .all()
        .map(|entry| entry.example.clone())
        .collect();
    let unseen = names.iter().find(|name| {
        let entries = Knowledge::builtin().lookup_all(name);
        entries.iter().all(|entry| entry.verified_in.is_empty())
    });
    let text = super::explain(&[unseen.expect("not every repository was looked at")]).success();
    assert!(!text.contains("Verified in"), "{text}");
}
