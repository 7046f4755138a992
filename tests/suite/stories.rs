//! `tests/stories/`: real stuck deletions from public issues. Each has a dump, and what a right answer names. The
//! answer is taken from the JSON: what is waited for, and the steps. A story is *right* if the verdict is one that its
//! story accepts, every group of names has one that was said, and nothing was said that the story forbids. It is
//! *wrong* if something was said that it forbids.
//!
//! `scripts/long stories build` counts one set. Nobody reads or runs a set before its first result is taken.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::harness::{Cluster, Options, Output, Plugin};

/// Each set has so many.
const STORIES: usize = 20;
const PROJECTS: usize = 65;
/// The later sets have older threads, too.
const DATES: [&str; 2] = ["2020-01-01", "2026-11-30"];
const VERDICTS: [&str; 7] = [
    "in-use", "waiting", "failing", "rejected", "stalled", "orphaned", "unknown",
];

/// A `story.yaml`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Story {
    source: String,
    project: String,
    date: String,
    target: String,
    namespace: Option<String>,
    what_happened: String,
    root_cause: String,
    /// A right answer names one of each group.
    must_name: Vec<Vec<String>>,
    verdict: Vec<String>,
    must_not_say: Vec<String>,
    set: Set,
    #[serde(skip)]
    folder: PathBuf,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Set {
    Build,
    Unread,
    Latest,
    Fresh,
    Newest,
    Untold,
    Unseen,
    Later,
    Ninth,
    Tenth,
    Eleventh,
    Twelfth,
    Thirteenth,
    Fourteenth,
    Fifteenth,
    Sixteenth,
    Seventeenth,
    Eighteenth,
    Nineteenth,
    Twentieth,
    #[serde(rename = "twenty-first")]
    TwentyFirst,
    #[serde(rename = "twenty-second")]
    TwentySecond,
    #[serde(rename = "twenty-third")]
    TwentyThird,
}

const SETS: [Set; 23] = [
    Set::Build,
    Set::Unread,
    Set::Latest,
    Set::Fresh,
    Set::Newest,
    Set::Untold,
    Set::Unseen,
    Set::Later,
    Set::Ninth,
    Set::Tenth,
    Set::Eleventh,
    Set::Twelfth,
    Set::Thirteenth,
    Set::Fourteenth,
    Set::Fifteenth,
    Set::Sixteenth,
    Set::Seventeenth,
    Set::Eighteenth,
    Set::Nineteenth,
    Set::Twentieth,
    Set::TwentyFirst,
    Set::TwentySecond,
    Set::TwentyThird,
];

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Right,
    NotRight,
    Wrong,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Right => "right",
            Self::NotRight => "not right",
            Self::Wrong => "wrong",
        })
    }
}

impl Story {
    fn slug(&self) -> &str {
        self.folder.file_name().unwrap().to_str().unwrap()
    }

    /// The explanation of its target from its dump, as JSON.
    fn explained(&self) -> Value {
        let dump = self.dump();
        self.explanation(&Plugin::new(self.words(&["--from", dump.to_str().unwrap()])).run())
    }

    /// The same in a real API server that has the objects of the dump. There a type without objects is known to have none.
    fn explained_live(&self) -> Value {
        let cluster = Cluster::with(&Options {
            controller_manager: false,
            ..Options::default()
        });
        cluster.restore(&fs::read_to_string(self.dump()).unwrap());
        self.explanation(&cluster.plugin(self.words(&[])).run())
    }

    fn dump(&self) -> PathBuf {
        self.folder.join("cluster.yaml")
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut words = vec!["explain", "--output=json", &self.target];
        if let Some(namespace) = &self.namespace {
            words.extend(["--namespace", namespace]);
        }
        words.extend(more);
        words
    }

    fn explanation(&self, output: &Output) -> Value {
        let explained: Option<Value> = serde_json::from_str(&output.stdout).ok();
        explained
            .filter(|explained| output.code == 0 && explained["deletion"].is_object())
            .unwrap_or_else(|| panic!("{}: it is not explained\n{output}", self.slug()))
    }

    fn asks_for_more_than_the_object_names(&self, explained: &Value) {
        let slug = self.slug();
        let waits = explained["waitsFor"].as_array().unwrap();
        assert!(!waits.is_empty(), "{slug}");
        let finalizers = waits.iter().filter_map(|wait| wait["finalizer"]["name"].as_str());
        let own: Vec<_> = finalizers.chain([self.target.as_str()]).collect();
        assert!(!self.must_name.is_empty(), "{slug}");
        for group in &self.must_name {
            assert!(!group.is_empty(), "{slug}");
            for name in group {
                let given = own.iter().find(|own| own.contains(name.as_str()));
                assert!(given.is_none(), "{slug}: {name} is a part of {given:?}");
            }
        }
    }

    fn told(&self, explained: &Value) -> (Told, Vec<String>) {
        // Commands name the dump, whose folder has a name of ours.
        let answer = answer(explained).replace(self.slug(), "STORY");
        let verdicts = verdicts(explained);
        let says = |words: &String| answer.contains(words.as_str());
        // The name of a verdict forbids that verdict; advice may use the word.
        let gives = |words: &String| verdicts.contains(&words.as_str());
        let is_verdict = |words: &String| VERDICTS.contains(&words.as_str());
        let forbidden: Vec<_> = self
            .must_not_say
            .iter()
            .filter(|words| {
                if is_verdict(words) {
                    gives(words)
                } else {
                    says(words)
                }
            })
            .collect();
        let missing: Vec<_> = self
            .must_name
            .iter()
            .filter(|group| !group.iter().any(says))
            .collect();
        let accepted = self.verdict.iter().any(gives);
        let told = match (forbidden.is_empty(), missing.is_empty() && accepted) {
            (false, _) => Told::Wrong,
            (true, true) => Told::Right,
            (true, false) => Told::NotRight,
        };
        let mut why = Vec::new();
        if !accepted {
            why.push(format!("verdict: not one of {}", self.verdict.join(", ")));
        }
        why.extend(missing.iter().map(|group| format!("not named: {}", group[0])));
        why.extend(forbidden.iter().map(|words| format!("said: {words}")));
        (told, why)
    }
}

fn stories() -> Vec<Story> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories");
    let mut folders: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.into_iter().map(story).collect()
}

fn story(folder: PathBuf) -> Story {
    let text = fs::read_to_string(folder.join("story.yaml")).unwrap();
    let story = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    Story { folder, ..story }
}

fn verdicts(explained: &Value) -> Vec<&str> {
    let waits = explained["waitsFor"].as_array().unwrap();
    waits.iter().filter_map(|wait| wait["verdict"].as_str()).collect()
}

/// What is said to be waited for and to be done, on one line. What is only evidence, or warned of, is no answer.
fn answer(explained: &Value) -> String {
    let mut said = Vec::new();
    for part in ["waitsFor", "outlook", "steps"] {
        collect(&explained[part], &mut said);
    }
    said.join(" \n ")
}

/// Every text below a value. An object of the cluster is written as people write it, with its namespace and without.
fn collect(value: &Value, said: &mut Vec<String>) {
    match value {
        Value::String(text) => said.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, said)),
        Value::Object(fields) => {
            if let (Some(kind), Some(name)) = (value["kind"].as_str(), value["name"].as_str()) {
                let namespace = value["namespace"].as_str().unwrap_or_default();
                said.extend([format!("{kind} {name}"), format!("{kind} {namespace}/{name}")]);
            }
            let texts = fields.iter().filter(|(key, _)| *key != "argv");
            texts.for_each(|(_, field)| collect(field, said));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn stories_are_well_formed() {
    let stories = stories();
    assert_eq!(stories.len(), STORIES * SETS.len());
    for set in SETS {
        let size = stories.iter().filter(|story| story.set == set).count();
        assert_eq!(size, STORIES);
    }
    let unlike = |text: fn(&Story) -> &str| stories.iter().map(text).collect::<BTreeSet<_>>().len();
    assert_eq!(unlike(|story| &story.source), stories.len());
    assert!(unlike(|story| &story.project) >= PROJECTS);
    for story in &stories {
        let slug = story.slug();
        let thread = story
            .source
            .strip_prefix(&format!("https://github.com/{}/", story.project))
            .and_then(|rest| rest.strip_prefix("issues/").or(rest.strip_prefix("pull/")));
        assert!(
            thread.is_some_and(|number| number.parse::<u32>().is_ok()),
            "{slug}"
        );
        assert!((DATES[0]..=DATES[1]).contains(&story.date.as_str()), "{slug}");
        for sentence in [&story.what_happened, &story.root_cause] {
            assert!(sentence.ends_with('.'), "{slug}: {sentence}");
        }
        assert!(!story.verdict.is_empty(), "{slug}");
        let known = |verdict: &String| VERDICTS.contains(&verdict.as_str());
        assert!(story.verdict.iter().all(known), "{slug}");
        assert!(!story.must_not_say.is_empty(), "{slug}");
    }
}

/// All of them take minutes of processor time, so the test command has every fifth.
#[test]
fn every_fifth_story_is_explained_and_asks_for_more_than_the_object_names() {
    for story in stories().iter().step_by(5) {
        story.asks_for_more_than_the_object_names(&story.explained());
    }
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn stories_are_explained_and_ask_for_more_than_the_object_names() {
    for story in stories() {
        story.asks_for_more_than_the_object_names(&story.explained());
    }
}

#[test]
#[ignore = "counts one set of the stories; run it with scripts/long stories build"]
fn stories_of_one_set_are_counted() {
    count(Story::explained);
}

#[test]
#[ignore = "counts one set of the stories on real API servers; run it with scripts/long live twelfth"]
fn stories_of_one_set_are_counted_live() {
    count(Story::explained_live);
}

fn count(explained: impl Fn(&Story) -> Value) {
    let set = std::env::var("SET").expect("SET names one of the sets");
    let set: Set = serde_json::from_value(set.into()).expect("SET is one of the sets of the stories");
    let mut counts = [0; 3];
    for story in stories().iter().filter(|story| story.set == set) {
        let explained = explained(story);
        story.asks_for_more_than_the_object_names(&explained);
        let (told, why) = story.told(&explained);
        eprintln!(
            "{:<54} {:<9} {:<20} {}",
            story.slug(),
            told,
            verdicts(&explained).join(","),
            why.join("; ")
        );
        counts[told as usize] += 1;
    }
    eprintln!(
        "counted: right={} not-right={} wrong={}",
        counts[0], counts[1], counts[2]
    );
}
