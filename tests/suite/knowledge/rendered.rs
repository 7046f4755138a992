//! Whether the controllers have the names that the catalogue says: `scripts/rendered DIR`.
//!
//! It renders the official charts and manifests of the projects, and asks the program's own search which of the rendered
//! workloads it takes for the controller. A chart is rendered twice, the second time under another release name and in another
//! namespace. A name that only the first has is lost when people choose their own.

mod facts;
mod places;
mod rendering;
mod results;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use kubectl_finalizers::{
    diagnose::holder::could_be_holder,
    knowledge::{Entry, Runs, schema},
    snapshot::facts::Object,
};

use serde_json::Value;

use super::upstream::{Upstream, commit};
use facts::Fact;
use places::Place;
use rendering::Rendering;
use results::{Controller, Installation, Line, Results, State, Stranger};

const FILE: &str = "knowledge/rendered.results";

/// The entries of each file of `knowledge/`, as they are written now.
fn catalogue() -> BTreeMap<String, Vec<Entry>> {
    let mut files = BTreeMap::new();
    for item in fs::read_dir("knowledge").unwrap() {
        let path = item.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        // The tables and the guide have no such line.
        if path.extension().is_some_and(|ending| ending == "yaml")
            && text.lines().any(|line| line == "finalizers:")
        {
            let located = schema::read(&name, &text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
            files.insert(name, located.into_iter().map(|one| one.entry).collect());
        }
    }
    files
}

/// The entries that describe different controllers, the first of each. Only those count that a cluster can show.
fn controllers(entries: &[Entry]) -> Vec<&Entry> {
    let mut different: Vec<&Entry> = Vec::new();
    for entry in entries {
        let is_known = different.iter().any(|one| one.holder == entry.holder);
        let can_be_seen = matches!(
            entry.holder.runs,
            Runs::InCluster | Runs::Nobody | Runs::ControlPlane
        );
        if can_be_seen && !is_known && !entry.holder.workloads.is_empty() {
            different.push(entry);
        }
    }
    different
}

/// How the results name the controller of an entry.
fn title(entry: &Entry) -> String {
    let kind = entry.kinds.first().map(ToString::to_string);
    format!("{} {}", entry.name, kind.unwrap_or_default())
}

/// The facts of one controller against what was rendered.
fn compare(entry: &Entry, rendering: &Rendering, in_code: &impl Fn(&str) -> bool) -> Controller {
    let line = |fact: Fact| {
        let fits = fact.fits(entry, &rendering.usual);
        let renamed = rendering.renamed.as_ref();
        let is_lost = renamed.is_some_and(|objects| fact.fits(entry, objects).is_empty());
        let state = match (fits.is_empty(), is_lost) {
            (false, false) => State::Found,
            (false, true) => State::UsualOnly,
            (true, _) if fact.in_code().is_some_and(in_code) => State::InCode,
            (true, _) => State::Absent,
        };
        // What has a role for the group or the election says nothing more.
        let is_workload = matches!(fact, Fact::Workload(_));
        let fits = if is_workload {
            fits.into_iter().collect()
        } else {
            Vec::new()
        };
        Line {
            state,
            fact: fact.to_string(),
            fits,
        }
    };
    Controller {
        entry: title(entry),
        lines: facts::of(entry).into_iter().map(line).collect(),
    }
}

/// What is wrong with a controller, for a person; nothing if it is found under both names.
fn complaint(controller: &Controller, entry: &Entry, rendering: &Rendering) -> Option<String> {
    let found = |objects: &[Object]| objects.iter().any(|object| could_be_holder(entry, object));
    if !found(&rendering.usual) {
        let there = described(&rendering.usual);
        return Some(format!(
            "NOT FOUND: the controller of {}, among{there}",
            controller.entry
        ));
    }
    if let Some(renamed) = rendering.renamed.as_ref().filter(|objects| !found(objects)) {
        let there = described(renamed);
        return Some(format!(
            "LOST under another name: the controller of {}, among{there}",
            controller.entry
        ));
    }
    let several: BTreeSet<&String> = controller.lines.iter().flat_map(|line| &line.fits).collect();
    (several.len() > 1).then(|| format!("several for {}: {several:?}", controller.entry))
}

/// All workloads with what they can be recognised by.
fn described(objects: &[Object]) -> String {
    let workloads = objects.iter().filter(|object| is_workload(object));
    let lines = workloads.map(|object| {
        let labels = object.value.pointer("/spec/template/metadata/labels");
        let labels = labels.and_then(Value::as_object).into_iter().flatten();
        let labels: Vec<_> = labels
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        format!("\n    {}/{} {}", object.kind, object.name(), labels.join(","))
    });
    lines.collect()
}

fn is_workload(object: &Object) -> bool {
    matches!(&*object.kind, "Deployment" | "StatefulSet" | "DaemonSet")
}

/// The workloads of other products that entries take for their controllers.
fn strangers(
    catalogue: &BTreeMap<String, Vec<Entry>>,
    rendered: &[(&str, &Place, Rendering)],
) -> BTreeSet<Stranger> {
    let mut found = BTreeSet::new();
    for (file, entries) in catalogue {
        let own: BTreeSet<&str> = rendered
            .iter()
            .filter(|(of, ..)| of == file)
            .map(|(_, place, _)| place.what.repository())
            .collect();
        let others = rendered
            .iter()
            .filter(|(of, place, _)| of != file && !own.contains(place.what.repository()));
        for (_, place, rendering) in others {
            let objects = rendering.usual.iter().chain(rendering.renamed.iter().flatten());
            for object in objects.filter(|object| is_workload(object)) {
                for entry in controllers(entries) {
                    for one in &entry.holder.workloads {
                        let fact = Fact::Workload(one.clone());
                        for workload in fact.fits(entry, std::slice::from_ref(object)) {
                            found.insert(Stranger {
                                file: file.clone(),
                                fact: fact.to_string(),
                                workload,
                                place: format!("{}:{}", place.what.repository(), place.what.path()),
                            });
                        }
                    }
                }
            }
        }
    }
    found
}

/// Checks the controllers of one file at one place.
fn check(
    file: &str,
    place: &Place,
    entries: &[Entry],
    folder: &Path,
    upstream: &Upstream,
) -> (Installation, Option<Rendering>) {
    let (revision, date) = upstream.newest();
    let mut installation = Installation {
        file: file.to_owned(),
        what: place.what.word().to_owned(),
        place: format!("{}:{}", place.what.repository(), place.what.path()),
        version: "-".to_owned(),
        revision,
        date,
        failure: None,
        controllers: Vec::new(),
    };
    let installed: Vec<_> = controllers(entries)
        .into_iter()
        .filter(|entry| {
            entries
                .iter()
                .any(|one| one.holder == entry.holder && place.installs(one))
        })
        .collect();
    let namespaces = installed.iter().flat_map(|entry| &entry.holder.namespaces);
    let namespace = namespaces.map(String::as_str).find(|name| !name.contains('*'));
    let rendering = match rendering::render(place, namespace.unwrap_or("default"), upstream, folder) {
        Ok(rendering) => rendering,
        Err(why) => {
            eprintln!("{file} {}: NOT RENDERED: {why}", installation.place);
            installation.failure = Some(why);
            return (installation, None);
        }
    };
    installation.version.clone_from(&rendering.version);
    for entry in installed {
        let cited = entry.sources.iter().filter_map(|source| source.split_once(':'));
        let mut repositories: BTreeSet<&str> = cited.map(|(repository, _)| repository).collect();
        repositories.insert(place.what.repository());
        let in_code = |text: &str| {
            let copies = repositories
                .iter()
                .filter_map(|name| Upstream::open(folder, name));
            copies.into_iter().any(|copy| {
                let words = ["grep", "--quiet", "--fixed-strings", "-I", "-e", text, "HEAD"];
                copy.git(&[&words[..], &["--", ".", ":!*.md", ":!vendor"]].concat())
                    .is_some()
            })
        };
        let controller = compare(entry, &rendering, &in_code);
        if let Some(complaint) = complaint(&controller, entry, &rendering) {
            eprintln!("{file} {}: {complaint}", installation.place);
        }
        installation.controllers.push(controller);
    }
    (installation, Some(rendering))
}

#[test]
#[ignore = "needs a folder of upstream repositories: scripts/rendered"]
fn look_at_what_is_rendered() {
    let folder = env::var_os("UPSTREAM").expect("UPSTREAM is the folder of upstream repositories");
    let folder = PathBuf::from(folder);
    let (catalogue, places) = (catalogue(), places::read());
    let last = results::read(&fs::read_to_string(FILE).unwrap_or_default()).unwrap();
    let (mut installations, mut rendered) = (Vec::new(), Vec::new());
    let (mut looked_at, mut absent) = (BTreeSet::new(), BTreeSet::new());
    for (file, places) in &places {
        for place in places {
            let at = format!("{}:{}", place.what.repository(), place.what.path());
            let Some(upstream) = Upstream::open(&folder, place.what.repository()) else {
                absent.insert(place.what.repository());
                let before = |one: &&Installation| one.file == *file && one.place == at;
                installations.extend(last.installations.iter().find(before).cloned());
                continue;
            };
            let (installation, rendering) = check(file, place, &catalogue[file], &folder, &upstream);
            installations.push(installation);
            rendered.extend(rendering.map(|rendering| (file.as_str(), place, rendering)));
            looked_at.insert(at);
        }
    }
    let mut strangers = strangers(&catalogue, &rendered);
    for Stranger {
        file,
        fact,
        workload,
        place,
    } in &strangers
    {
        eprintln!("STRANGER: {file} takes {workload} of {place} for its controller, by {fact}");
    }
    let unseen = last
        .strangers
        .into_iter()
        .filter(|one| !looked_at.contains(&one.place));
    strangers.extend(unseen);
    eprintln!(
        "{} installations of {} projects rendered, {} not; {} repositories are not in {}: {}",
        rendered.len(),
        rendered
            .iter()
            .map(|(file, ..)| file)
            .collect::<BTreeSet<_>>()
            .len(),
        installations.iter().filter(|one| one.failure.is_some()).count(),
        absent.len(),
        folder.display(),
        absent.into_iter().collect::<Vec<_>>().join(" ")
    );
    let strangers = strangers.into_iter().collect();
    fs::write(
        FILE,
        results::write(&Results {
            installations,
            strangers,
        }),
    )
    .unwrap();
}

/// Two entries of a project.
const WIDGETS: &str = "
project: Widgets
area: platform-operators
holder:
  namespaces: [widgets]
  workloads:
    - { name: widget-operator }
    - { name: widgets, selector: app=widgets }
  leases: [{ name: widgets.example.com }, { name: other.example.com }]
  service-accounts: [widget-operator, nobody]
finalizers:
  - name: widgets.example.com/a
    kinds: [Widget.widgets.example.com]
    protects: a widget
    waits-for: { text: nothing }
    removed-by: widget-operator
    if-removed: { consequence: none, text: nothing }
    fix: [{ label: read-only, text: See what it says. }]
    sources: [example/widgets:main.go]
    verified: false
";

/// A Deployment with one label and an argument, and its account.
fn installation(name: &str, label: &str) -> String {
    let container = "{ name: c, args: [--leader-election-id=widgets.example.com] }";
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{ name: {name} }}
spec: {{ template: {{ metadata: {{ labels: {{ app: {label} }} }}, spec: {{ containers: [{container}] }} }} }}
---
# nothing
---
apiVersion: v1
kind: List
items: [{{ apiVersion: v1, kind: ServiceAccount, metadata: {{ name: {name} }} }}]
"
    )
}

fn widgets() -> Vec<Entry> {
    let located = schema::read("widgets.yaml", WIDGETS).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    located.into_iter().map(|one| one.entry).collect()
}

#[test]
fn reports_a_name_that_depends_on_the_release_name() {
    let entries = widgets();
    let objects = |name, label, namespace| rendering::objects(&installation(name, label), namespace).unwrap();
    let mut rendering = Rendering {
        version: "1".to_owned(),
        usual: objects("widget-operator", "x", "widgets"),
        renamed: Some(objects("x7-operator", "x", "elsewhere")),
    };
    let controller = compare(&entries[0], &rendering, &|text| text == "other.example.com");
    let states: Vec<_> = controller.lines.iter().map(|line| line.state).collect();
    let expected = [
        State::UsualOnly,
        State::Absent,
        State::Found,
        State::InCode,
        State::UsualOnly,
        State::Absent,
    ];
    assert_eq!(states, expected);
    assert_eq!(controller.lines[0].fits, ["Deployment/widget-operator"]);
    let said = complaint(&controller, &entries[0], &rendering).expect("the other name is lost");
    assert!(
        said.starts_with("LOST") && said.contains("Deployment/x7-operator app=x"),
        "{said}"
    );

    rendering.renamed = Some(objects("x7-operator", "widgets", "elsewhere"));
    let controller = compare(&entries[0], &rendering, &|_| false);
    assert_eq!(complaint(&controller, &entries[0], &rendering), None);

    rendering.usual = objects("gadget-operator", "x", "widgets");
    let controller = compare(&entries[0], &rendering, &|_| false);
    let said = complaint(&controller, &entries[0], &rendering).expect("nothing fits");
    assert!(said.starts_with("NOT FOUND"), "{said}");
}

#[test]
fn reports_a_workload_of_another_product() {
    let folder = tempfile::tempdir().unwrap();
    let copy = Upstream(folder.path().join("example/gadgets"));
    commit(&copy, "gadgets.yaml", &installation("gadget-operator", "widgets"));
    let text = "manifests: example/gadgets:gadgets.yaml";
    let place: Place = serde_saphyr::from_str(text).unwrap();
    let (installation, rendering) = check("gadgets.yaml", &place, &[], folder.path(), &copy);
    assert_eq!(installation.failure, None);
    let rendered = [("gadgets.yaml", &place, rendering.unwrap())];
    let catalogue = BTreeMap::from([("widgets.yaml".to_owned(), widgets())]);
    let found: Vec<_> = strangers(&catalogue, &rendered).into_iter().collect();
    let only = Stranger {
        file: "widgets.yaml".to_owned(),
        fact: "Deployment widgets app=widgets".to_owned(),
        workload: "Deployment/gadget-operator".to_owned(),
        place: "example/gadgets:gadgets.yaml".to_owned(),
    };
    assert_eq!(found, [only]);

    // The same workload in the own repository is no stranger.
    let own = [(
        "widgets.yaml",
        &place,
        check("widgets.yaml", &place, &[], folder.path(), &copy)
            .1
            .unwrap(),
    )];
    assert_eq!(strangers(&catalogue, &own), BTreeSet::new());

    let absent: Place = serde_saphyr::from_str("manifests: example/gadgets:absent.yaml").unwrap();
    let (installation, _) = check("gadgets.yaml", &absent, &[], folder.path(), &copy);
    let why = installation.failure.unwrap_or_default();
    assert!(why.contains("absent.yaml"), "{why}");
}

#[test]
fn a_chart_keeps_only_the_dependencies_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("charts/widgets");
    let beside = folder.path().join("charts/common");
    for (path, text) in [
        (
            &chart,
            "name: widgets\nversion: ${V}\ndependencies: [{ name: common, version: 9 }, { name: far, version: 1 }]",
        ),
        (&beside, "name: common\nversion: 1.2.3"),
    ] {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("Chart.yaml"), text).unwrap();
    }
    let about = rendering::prepare(&chart).unwrap();
    assert_eq!(about["version"], "0.0.0");
    assert_eq!(
        about["dependencies"],
        serde_json::json!([{ "name": "common", "version": "1.2.3" }])
    );
    assert!(chart.join("charts/common/Chart.yaml").is_file());
}

#[test]
fn results_are_of_places_and_entries_that_exist() {
    let (catalogue, places) = (catalogue(), places::read());
    for (file, places) in &places {
        let entries = catalogue
            .get(file)
            .unwrap_or_else(|| panic!("{} names {file}", places::FILE));
        for place in places {
            assert_eq!(
                place.unknown(entries),
                Vec::<&str>::new(),
                "{file} has no such entries"
            );
        }
    }
    let text = fs::read_to_string(FILE).unwrap();
    let results = results::read(&text).unwrap();
    assert_eq!(
        results::write(&results),
        text,
        "{FILE} is not as scripts/rendered writes it"
    );
    for one in &results.installations {
        let of = places.get(&one.file).into_iter().flatten();
        let mut known = of.map(|place| format!("{}:{}", place.what.repository(), place.what.path()));
        assert!(
            known.any(|place| place == one.place),
            "{} has no {}: run scripts/rendered",
            places::FILE,
            one.place
        );
        for controller in &one.controllers {
            let entries = &catalogue[&one.file];
            let entry = entries.iter().find(|entry| title(entry) == controller.entry);
            let entry = entry
                .unwrap_or_else(|| panic!("{} has no {}: run scripts/rendered", one.file, controller.entry));
            let written: Vec<_> = facts::of(entry).iter().map(ToString::to_string).collect();
            let rendered: Vec<_> = controller.lines.iter().map(|line| line.fact.clone()).collect();
            assert_eq!(
                written, rendered,
                "what {} says about the controller of {} is not what {} was checked for: run scripts/rendered",
                one.file, controller.entry, one.place
            );
        }
    }
    for stranger in &results.strangers {
        assert!(
            catalogue.contains_key(&stranger.file),
            "there is no {}",
            stranger.file
        );
    }
    assert!(
        results.installations.len() > 150,
        "few installations were rendered"
    );
}
