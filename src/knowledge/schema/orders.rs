//! Checks the orders of an entry never to remove its finalizer. A program must be able to look up when such an order holds,
//! because `remove` refuses by what it looked up, and not by what it says.

use super::{Entry, KindPattern, Left, While};

/// What is wrong with the orders, each with the words in the file that locate it.
pub(super) fn check_orders(entry: &Entry) -> Vec<(String, String)> {
    let Some(never) = &entry.never_by_hand else {
        let steps = entry.fix.iter().map(|step| &step.text);
        let order = (entry.warnings.iter().find(|text| says_never(text))).or_else(|| {
            entry
                .warnings
                .iter()
                .chain(steps)
                .find(|text| forbids_removal(text))
        });
        let untyped = order.map(|text| {
            let message = "an order never to remove the finalizer needs `never-by-hand`, so that `remove` refuses it; what is \
                           only lost by it is its cost, and stands in `if-removed`";
            (start(text), message.to_owned())
        });
        return untyped.into_iter().collect();
    };
    let While::Exists(all) = &never.r#while else {
        return Vec::new();
    };
    if all.is_empty() {
        return vec![("exists".to_owned(), "`exists` needs at least one item".to_owned())];
    }
    all.iter().filter_map(check_left).collect()
}

/// What is wrong with the objects that must be gone.
fn check_left(left: &Left) -> Option<(String, String)> {
    let is_pattern = |kind: &KindPattern| [kind.kind(), kind.group()].iter().any(|part| part.contains('*'));
    let mut pointers = left.field.iter().chain(&left.is);
    if is_pattern(&left.kind) {
        let message = format!("`exists` is about one kind, and `{}` is a pattern", left.kind);
        return Some((left.kind.to_string(), message));
    }
    if left.field.is_some() == left.is.is_empty() {
        let message = "`field` and `is` belong together: the texts at both must be equal".to_owned();
        return Some((left.kind.to_string(), message));
    }
    let wrong = pointers.find(|pointer| !pointer.starts_with('/'))?;
    let message = format!("`{wrong}` is not a JSON pointer, which begins with a slash");
    Some((wrong.clone(), message))
}

/// Whether a part of a sentence is an order that begins with "never". "It can never finish" is none.
fn says_never(text: &str) -> bool {
    parts(text).any(|words| words.first().is_some_and(|first| first == "never"))
}

/// Whether a part of a sentence forbids to remove this finalizer. "Do not remove a provider" does not.
fn forbids_removal(text: &str) -> bool {
    parts(text).any(|words| {
        let at = words.iter().position(|word| word == "not").unwrap_or(words.len());
        let forbidden: Vec<_> = words.iter().skip(at + 1).take(4).map(String::as_str).collect();
        let is_removal = |verb: &&str| ["remove", "cut", "strip", "force", "take"].contains(verb);
        forbidden.first().is_some_and(is_removal)
            && ["it", "this", "them", "both", "finalizer", "finalizers"]
                .iter()
                .any(|word| forbidden.contains(word))
    })
}

/// The parts of the sentences, in words.
fn parts(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split(['.', ',', ';', ':', '?', '!'])
        .map(super::steps::words)
        .filter(|words| !words.is_empty())
}

/// The first words of a text, by which it is found in the file.
fn start(text: &str) -> String {
    text.chars().take(40).collect()
}
