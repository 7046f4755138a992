//! Checks that an explanation from fewer facts is weaker, and never different.
//!
//! Explanations are compared in their public form. So one order holds for the unit tests of causes, on made-up
//! facts, and for the whole program on a real cluster.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// For each verdict, the weaker verdicts that are still true. Each verdict may also become `unknown`, and none
/// may become any other: with fewer facts a waiting object is never `stalled` or `orphaned`.
const WEAKER: &[(&str, &[&str])] = &[
    // The object is in use, so the condition is not met; the user of it was not seen.
    ("in-use", &["waiting"]),
    // The controller has not finished; its failure was not seen.
    ("failing", &["waiting"]),
    // The controller has not finished; the refusal by the API server was not seen, and nothing else blocks it. It may say
    // itself that it fails, or be gone as well: then both explanations have the words for that.
    ("rejected", &["waiting", "failing", "stalled", "orphaned"]),
    // The controller has not acted; that nothing blocks it was not seen.
    ("stalled", &["waiting"]),
    // Nothing blocks it and the controller has not acted; that it is gone was not proved. In the first minute
    // it is not late.
    ("orphaned", &["stalled", "waiting"]),
];

/// The faults of `less`, the explanation without objects of the type `hidden`, compared with `full`, the
/// explanations with all rights. There are several of those because time passes meanwhile, and what was true at
/// one time is valid.
pub fn faults(full: &[Value], less: &Value, hidden: Option<&str>) -> Vec<String> {
    let (mut known, mut now) = (Claims::default(), Claims::default());
    for full in full {
        known.read_explanation(full);
    }
    now.read_explanation(less);
    let mut faults = Vec::new();
    for (about, verdicts) in &now.verdicts {
        let before = known.verdicts.get(about).into_iter().flatten();
        for verdict in verdicts {
            if !before.clone().any(|before| is_weaker(before, verdict)) {
                faults.push(format!(
                    "{about}: {verdict}, and was {:?}",
                    known.verdicts.get(about)
                ));
            }
        }
    }
    let lost = full.iter().any(|full| finalizers(full) != finalizers(less));
    if lost {
        faults.push(format!("other finalizers: {:?}", finalizers(less)));
    }
    // A blocker without an object is text alone, which is compared below.
    for object in now
        .blockers
        .difference(&known.blockers)
        .filter(|object| *object != "null")
    {
        faults.push(format!("blames {object}, which was no cause"));
    }
    for words in now.words.difference(&known.words) {
        // The first clause of what was said says less.
        let is_cut = |said: &String| {
            said.strip_prefix(words.as_str())
                .is_some_and(|rest| rest.starts_with(", and "))
        };
        // The only program that may be the controller was not found, so its role stands without the name.
        let names_it = |said: &String| {
            let role = words.strip_prefix("removed by ");
            role.is_some_and(|role| said.starts_with("removed by ") && said.ends_with(&format!(", {role}")))
        };
        if known.words.iter().any(|said| is_cut(said) || names_it(said)) {
            continue;
        }
        if !admits_a_gap(words) && !names_a_possible_controller(words) && !is_a_lead(words) {
            faults.push(format!("says what was not said: {words:?}"));
        }
    }
    for object in now.affected.difference(&known.affected) {
        faults.push(format!("says that {object} would be affected, and it was not"));
    }
    for (command, rank) in &now.commands {
        match known.commands.get(command) {
            Some(before) if rank < before => faults.push(format!("takes for less dangerous: {command}")),
            None if *rank > 0 => faults.push(format!("advises what was not advised: {command}")),
            _ => {}
        }
    }
    // A gap may be left out if nothing depends on it.
    let gaps = less["notRead"].as_array().into_iter().flatten();
    if let Some(hidden) = hidden
        && now != known
        && !gaps.clone().any(|gap| names(gap, hidden))
    {
        faults.push(format!(
            "{hidden} is not among what was not read: {:#}",
            less["notRead"]
        ));
    }
    faults
}

/// Whether the gap is one of this type, or one whose reason this type would have told.
fn names(gap: &Value, hidden: &str) -> bool {
    let message = gap["message"].as_str().unwrap_or_default();
    gap["name"] == hidden || message.contains(&format!("{hidden} could not be read"))
}

fn is_weaker(full: &str, less: &str) -> bool {
    let weaker = WEAKER.iter().find(|(verdict, _)| *verdict == full);
    less == full || less == "unknown" || weaker.is_some_and(|(_, weaker)| weaker.contains(&less))
}

/// Whether the text says that something was not read.
fn admits_a_gap(words: &str) -> bool {
    ["not known", "could not be", "not everything could"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// Whether the text names something that may be the controller. A Pod is named where its owner cannot be read. That only
/// keeps the controller from being gone.
fn names_a_possible_controller(words: &str) -> bool {
    words.contains("runs and may change")
}

/// Whether the text only names an object that was read, where nothing explains the deletion. It blames nobody.
fn is_a_lead(words: &str) -> bool {
    [
        ", which ",
        "so nothing new can be made there",
        "names it in ",
        "finalizer is named after ",
        " was made for it, ",
        " belongs to it, and is being deleted",
        " of the same ",
        " is listed in its ",
        " is of its node ",
        " has its label ",
        " is named in that message, ",
    ]
    .iter()
    .any(|lead| words.contains(lead))
}

fn finalizers(said: &Value) -> Vec<&Value> {
    let waits = said["waitsFor"].as_array().into_iter().flatten();
    waits.map(|wait| &wait["finalizer"]).collect()
}

/// The claims of an explanation. Warnings are no claims: with fewer facts there are more warnings.
#[derive(Default, PartialEq)]
struct Claims {
    /// The verdicts by object and finalizer.
    verdicts: BTreeMap<String, BTreeSet<String>>,
    /// The objects that block the deletion.
    blockers: BTreeSet<String>,
    /// The objects that a deletion would affect.
    affected: BTreeSet<String>,
    /// Parts of sentences, without numbers.
    words: BTreeSet<String>,
    /// The highest cost of each command, where 0 is safe. Advice without a command is represented by its text.
    commands: BTreeMap<String, usize>,
}

impl Claims {
    fn read_explanation(&mut self, said: &Value) {
        self.read(&said["headline"]);
        self.waits("the target", &said["waitsFor"]);
        each(&said["outlook"], |outlook| self.read(&outlook["then"]));
        each(&said["ifDeleted"], |effect| {
            // `harmless` is only valid if everything was read.
            if effect["fate"] == "harmless" {
                self.words.insert("harmless".to_owned());
            }
            self.read(&effect["says"]);
            each(&effect["objects"], |object| {
                self.affected.insert(object.to_string());
            });
        });
        each(&said["evidence"], |evidence| {
            let source = evidence["source"].as_str().unwrap_or_default();
            let value = evidence["value"].as_str().unwrap_or_default();
            self.words.insert(without_numbers(&format!("{source}: {value}")));
        });
        each(&said["steps"], |step| {
            let safety = step["safety"].as_str().unwrap_or_default();
            let rank = match safety {
                "read-only" | "safe" => 0,
                "reversible" => 1,
                "destructive" => 2,
                _ => 3,
            };
            let what = step["command"]
                .as_str()
                .or(step["text"].as_str())
                .unwrap_or_default();
            // To wake a controller only repeats what the deletion asked for.
            let rank = if what.contains("finalizers nudge") {
                0
            } else {
                rank
            };
            // A change of an object by hand is never safe advice, whatever its safety says.
            let changes = [" patch ", "--raw", " delete "]
                .iter()
                .any(|word| what.contains(word));
            let rank = rank.max(usize::from(changes));
            // With fewer facts, advice for a controller that is gone, or for one that runs, is only given after
            // that question.
            // What helps a controller that runs does nothing to one that is gone, whatever it lets that controller delete.
            let asks = (step["branch"] == "holder-gone" && rank == 1) || step["branch"] == "holder-runs";
            if asks {
                return;
            }
            let highest = self.commands.entry(without_numbers(what)).or_default();
            *highest = rank.max(*highest);
        });
    }

    fn waits(&mut self, of: &str, waits: &Value) {
        each(waits, |wait| {
            let about = format!("{of}, {}", wait["finalizer"]);
            let verdict = wait["verdict"].as_str().unwrap_or_default().to_owned();
            self.verdicts.entry(about).or_default().insert(verdict);
            self.read(&wait["says"]);
            self.blocked(&wait["blockers"]);
        });
    }

    fn blocked(&mut self, blockers: &Value) {
        each(blockers, |blocker| {
            let object = blocker["object"].to_string();
            // A summary of other objects may cover fewer objects.
            if blocker["rootCause"] == true || blocker["object"].is_object() {
                self.read(&blocker["says"]);
            }
            self.blocked(&blocker["blockers"]);
            self.waits(&object, &blocker["waitsFor"]);
            self.blockers.insert(object);
        });
    }

    fn read(&mut self, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        let parts = text.split("; ").flat_map(|part| part.split(". "));
        self.words
            .extend(parts.map(|part| without_numbers(part.trim_end_matches('.'))));
    }
}

fn each<'a>(list: &'a Value, action: impl FnMut(&'a Value)) {
    list.as_array().into_iter().flatten().for_each(action);
}

/// Removes numbers, because ages and versions change: `12m3s` and `59s` become the same word.
fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            _ => plain.push(c),
        }
    }
    for unit in ["#d#", "#h#", "#m#"] {
        plain = plain.replace(unit, "#");
    }
    for unit in ["#d", "#h", "#m"] {
        plain = plain.replace(unit, "#s");
    }
    plain
}

#[test]
fn accepts_weaker_claims_and_reports_different_ones() {
    use serde_json::json;
    let said = |verdict: &str, says: &str| json!({"waitsFor": [{"finalizer": "a/b", "verdict": verdict, "says": says, "blockers": []}], "notRead": [{"name": "pods"}]});
    let full = [said("waiting", "held by a pod for 1m2s; it runs")];
    let wrong = |less: &Value| faults(&full, less, Some("pods")).len();
    assert_eq!(wrong(&said("waiting", "held by a pod for 59s")), 0);
    assert_eq!(
        wrong(&said("unknown", "held by a pod for 2s; what else is not known")),
        0
    );
    assert_eq!(wrong(&said("stalled", "it runs; no pod holds it")), 2);
    assert_eq!(wrong(&said("orphaned", "it runs")), 1);
    let less = said("unknown", "it runs");
    assert_eq!(faults(&full, &less, Some("nodes")).len(), 1);
    assert_eq!(faults(&full, &full[0], Some("nodes")).len(), 0);
    let mut more = full[0].clone();
    more["steps"] = json!([{"text": "cut", "command": "kubectl patch", "safety": "destructive"}]);
    assert_eq!(faults(&full, &more, None).len(), 1);
    assert_eq!(faults(&[more.clone()], &more, None).len(), 0);
    let mut milder = more.clone();
    milder["steps"][0]["safety"] = "safe".into();
    assert_eq!(faults(&[more], &milder, None).len(), 1);
    let asked = |when: &str, safety: &str| {
        let mut more = full[0].clone();
        more["steps"] = json!([{"branch": when, "text": "install it again", "safety": safety}]);
        faults(&full, &more, None).len()
    };
    assert_eq!(asked("holder-gone", "reversible"), 0);
    assert_eq!(asked("now", "reversible"), 1);
    assert_eq!(asked("holder-gone", "destructive"), 1);
    assert_eq!(asked("holder-runs", "destructive"), 0);
    assert_eq!(asked("now", "read-only"), 0);
    let mut blames = full[0].clone();
    blames["waitsFor"][0]["blockers"] = json!([{"object": {"name": "innocent"}, "says": "it runs"}]);
    assert_eq!(faults(&full, &blames, None).len(), 1);
}
