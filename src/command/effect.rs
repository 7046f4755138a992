//! The effect of a command on a cluster, as far as its words show. The labels of steps are compared with it.

use serde_json::Value;

use super::{Command, Part, Word};

/// The effect of a command on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// Not known: another program, a plugin, or a program in a Pod.
    Unknown,
    /// It changes something.
    Changes,
}

const READING: [&str; 8] = [
    "api-resources",
    "api-versions",
    "describe",
    "events",
    "explain",
    "get",
    "logs",
    "top",
];

const CHANGING: [&str; 16] = [
    "annotate", "apply", "cordon", "create", "delete", "drain", "edit", "label", "patch", "replace",
    "rollout", "run", "scale", "set", "taint", "uncordon",
];

/// Flags with which nothing is changed, whatever the verb is.
const HARMLESS: [&str; 4] = ["--dry-run=server", "--help", "--plan", "--print-etcd-commands"];

impl Command {
    /// The effect of the command. Flags with their values can stand before the verb, so the first word that is a verb counts.
    /// Only words of ours are verbs: a namespace may be called `get`.
    pub fn effect(&self) -> Effect {
        let mut words = self.words.iter().filter_map(Word::ours_alone);
        if !matches!(words.next(), Some("kubectl" | "oc")) {
            return Effect::Unknown;
        }
        if words.clone().any(|word| HARMLESS.contains(&word)) {
            return Effect::Reads;
        }
        while let Some(word) = words.next() {
            let follows = |known: &[&str]| words.clone().next().is_some_and(|next| known.contains(&next));
            return match word {
                "auth" if follows(&["can-i", "whoami"]) => Effect::Reads,
                "finalizers" if follows(&["catalog", "explain", "scan"]) => Effect::Reads,
                "auth" | "exec" | "finalizers" => Effect::Unknown,
                verb if READING.contains(&verb) => Effect::Reads,
                verb if CHANGING.contains(&verb) => Effect::Changes,
                _ => continue,
            };
        }
        Effect::Unknown
    }
}

/// Flags of kubectl that take the next word, as far as commands have them in front of a type.
const WITH_VALUE: [&str; 5] = ["-n", "-l", "-o", "-L", "--context"];

impl Command {
    /// Whether it reads the log of a program.
    pub fn reads_log(&self) -> bool {
        self.effect() == Effect::Reads && self.words.iter().any(|word| word.ours_alone() == Some("logs"))
    }

    /// The merge patch that it sends to this object itself; none if it sends nothing of that kind, or to another object.
    pub fn merge_patch_of(&self, type_name: &str, name: &str) -> Option<Value> {
        let words: Vec<_> = self.words.iter().map(Word::text).collect();
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let is_of_object =
            has(&format!("{type_name}/{name}")) || words.windows(2).any(|pair| pair == [type_name, name]);
        let is_merge = has("--type=merge") || words.windows(2).any(|pair| pair == ["--type", "merge"]);
        let is_meant = has("patch") && is_merge && !has("--subresource=status") && is_of_object;
        let at = words.iter().position(|word| word == "-p").filter(|_| is_meant)?;
        serde_json::from_str(words.get(at + 1)?).ok()
    }

    /// The command with only the types that may exist. kubectl refuses `get a,b` if the server lacks one of them. None if no
    /// type is left.
    #[must_use]
    pub fn with_types(mut self, may_exist: impl Fn(&str) -> bool) -> Option<Self> {
        let is_known = |name: &&str| !name.contains('.') || may_exist(name);
        let Some(word) = self.types_mut() else {
            return Some(self);
        };
        let text = word.text();
        let (types, name) = match text.split_once('/') {
            Some((types, name)) => (types, Some(name)),
            None => (&*text, None),
        };
        let all = types.split(',').count();
        let left: Vec<_> = types.split(',').filter(is_known).collect();
        match (left.len(), name) {
            (many, _) if many == all => {}
            (0, _) | (_, Some(_)) => return None,
            _ => *word = Word(vec![Part::Ours(left.join(","))]),
        }
        Some(self)
    }

    /// The word with which a command of kubectl names its types: `pods,settings.longhorn.io`.
    fn types_mut(&mut self) -> Option<&mut Word> {
        let mut words = self.words.iter_mut();
        (words.next()?.ours_alone() == Some("kubectl")).then_some(())?;
        let mut named = words.skip_while(|word| {
            !matches!(
                word.ours_alone(),
                Some("annotate" | "delete" | "describe" | "edit" | "get" | "label" | "patch" | "scale")
            )
        });
        named.next();
        while let Some(word) = named.next() {
            let text = word.text();
            if WITH_VALUE.contains(&&*text) {
                named.next();
            } else if !text.starts_with('-') {
                return Some(word);
            }
        }
        None
    }
}

impl Word {
    /// The word, if we wrote all of it.
    pub(super) fn ours_alone(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Ours(text)] => Some(text),
            _ => None,
        }
    }
}
