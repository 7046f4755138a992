//! A snapshot explains an object later, without a cluster, as the cluster did at that time.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::{Cluster, Plugin};

/// Takes a snapshot of a stuck object and explains the object from it, without the cluster. The explanation
/// must be the same in every format, except for times and what depends on them. Returns the snapshot.
#[track_caller]
pub fn replayed(cluster: &Cluster, target: &str, namespace: &str) -> PathBuf {
    let folder = TempDir::new_in(cluster.directory()).unwrap().keep();
    let file = folder.join("stuck.snapshot");
    // Every snapshot that names the object has all that explains it. One of a whole cluster also explains what all
    // other tests have stuck there.
    let read = if namespace.is_empty() {
        "default"
    } else {
        namespace
    };
    compare_when_stable(|| {
        take(cluster, &file, target, read);
        let look = |format: &&str| {
            let words = words(target, namespace, format);
            let live = || comparable(&cluster.plugin(words.clone()).run().success(), &file);
            let (saved, one) = (comparable(&from(&file, words.clone()), &file), live());
            let other = if saved == one { one.clone() } else { live() };
            [saved, one, other]
        };
        ["json", "wide"].iter().map(look).collect()
    });
    file
}

/// How often a difference is checked again, because the cluster may be changing: five other tests create and delete
/// objects meanwhile. A real difference shows each time.
const ATTEMPTS: u32 = 8;

/// The explanation from a snapshot must equal one of the cluster before or after it. Controllers and other
/// tests change the cluster meanwhile. So each snapshot is compared several times, with two explanations of the
/// cluster each time.
#[track_caller]
pub fn compare_when_stable(look: impl Fn() -> Vec<[String; 3]>) {
    let differs = |[saved, one, other]: &[String; 3]| saved != one && saved != other;
    for _ in 0..ATTEMPTS {
        if !look().iter().any(differs) {
            return;
        }
    }
    if let Some([saved, _, live]) = look().into_iter().find(differs) {
        let (first, then) = saved
            .lines()
            .zip(live.lines())
            .find(|(saved, live)| saved != live)
            .unwrap_or(("", "one ends before the other"));
        panic!("from the snapshot: {first}\nfrom the cluster:  {then}\n\n{saved}");
    }
}

/// A snapshot of the namespace, or of everything for an object without a namespace.
#[track_caller]
pub fn taken(cluster: &Cluster, folder: &TempDir, target: &str, namespace: &str) -> PathBuf {
    let file = folder.path().join("stuck.snapshot");
    take(cluster, &file, target, namespace);
    file
}

#[track_caller]
fn take(cluster: &Cluster, file: &Path, target: &str, namespace: &str) {
    let _ = std::fs::remove_file(file);
    let mut words = vec!["snapshot".to_owned(), file.display().to_string()];
    if !target.is_empty() {
        words.push(target.to_owned());
    }
    if !namespace.is_empty() {
        words.push(format!("--namespace={namespace}"));
    }
    cluster.plugin(words).run().success();
}

/// Runs the plugin on a file, without any cluster in its environment.
#[track_caller]
pub fn from(file: &Path, mut words: Vec<String>) -> String {
    words.push(format!("--from={}", file.display()));
    Plugin::new(words).run().success()
}

fn words(target: &str, namespace: &str, format: &str) -> Vec<String> {
    let mut words = vec!["explain".to_owned(), target.to_owned(), format!("-o={format}")];
    if !namespace.is_empty() {
        words.push(format!("--namespace={namespace}"));
    }
    words
}

/// The lines without what only a recording has: the time of it, and the flag of its commands, which can make them so long
/// that they are continued.
pub fn as_if_live(text: &str, file: &Path) -> String {
    let path = file.display().to_string();
    let of_flag = [
        "\"--from\"".to_owned(),
        "- --from".to_owned(),
        format!("\"{path}\""),
        format!("- {path}"),
    ];
    let mut whole = String::new();
    for line in text.lines() {
        match line.strip_suffix(" \\") {
            Some(begun) => whole.extend([begun, " "]),
            None if whole.ends_with(' ') => whole.extend([line.trim_start(), "\n"]),
            None => whole.extend([line, "\n"]),
        }
    }
    let text = whole.replace(&format!(" --from {path}"), "");
    let bare = text.lines().map(|line| {
        let (line, _) = line.split_once(" Recorded ").unwrap_or((line, ""));
        line.trim_end_matches(',')
    });
    let lines = bare.filter(|line| !of_flag.iter().any(|word| word == line.trim()));
    lines.collect::<Vec<_>>().join("\n")
}

/// The text without line breaks and times, because the length of an age changes the line breaks. The commands of a recording
/// read the recording again, which those of the cluster do not.
fn comparable(text: &str, file: &Path) -> String {
    // Where it is from: a snapshot names its file and its time, and a cluster its server.
    let names_its_source = |line: &str| {
        line.starts_with("  \"source\": ") || line.starts_with("Recorded ") && line.ends_with("from then.")
    };
    let lines: Vec<_> = text.lines().filter(|line| !names_its_source(line)).collect();
    let text = timeless(&lines.join("\n"));
    let words = text.split_whitespace().filter(|word| !["│", "\\"].contains(word));
    let text = words.collect::<Vec<_>>().join(" ");
    let path = file.display();
    text.replace(&format!(" --from {path}"), "")
        .replace(&format!(", \"--from\", \"{path}\""), "")
        .replace(' ', "\n")
}

/// The text without times, ages, and resource versions that a running controller keeps changing.
pub fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = rest[..start].chars().next_back().or(out.chars().next_back());
        out.push_str(&rest[..start]);
        let word = &rest[start..];
        let end = word
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-:.".contains(c)))
            .unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let bare = word.trim_end_matches(['.', ':', '-']);
        let in_a_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        if !in_a_word
            && (is_moment(bare)
                || is_age(bare)
                || out.ends_with("forSeconds\": ")
                || out.ends_with("forSeconds: "))
        {
            out.push('…');
            out.push_str(&word[bare.len()..]);
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out + rest
}

fn is_moment(word: &str) -> bool {
    word.len() >= 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T'
}

fn is_age(word: &str) -> bool {
    word.ends_with(['s', 'm', 'h', 'd', 'y'])
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, 's' | 'm' | 'h' | 'd' | 'y'))
}

#[test]
fn comparisons_leave_out_only_times() {
    assert_eq!(
        timeless(
            "Pod web-0s: Terminating for 2m23s (since 2026-01-01T00:00:00.25Z), node-3 at 3 of 4, v1beta1 2m."
        ),
        "Pod web-0s: Terminating for … (since …), node-3 at 3 of 4, v1beta1 …."
    );
    assert_eq!(timeless("\"forSeconds\": 171,\n"), "\"forSeconds\": …,\n");
}
