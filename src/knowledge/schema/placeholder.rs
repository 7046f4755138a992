//! The `{words}` in steps and warnings. The set is fixed: every one must have a value for an object, and a
//! misspelt one would reach the user's terminal.

/// Each placeholder with its meaning.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    (
        "namespace",
        "namespace of the object; the object itself where it is a Namespace",
    ),
    ("name", "name of the object"),
    ("kind", "kind of the object, such as PersistentVolumeClaim"),
    ("group", "API group of the object"),
    (
        "type",
        "the object's type as kubectl takes it, such as challenges.acme.cert-manager.io",
    ),
    ("uid", "uid of the object"),
    ("finalizer", "the finalizer's whole name"),
    (
        "matched",
        "the part of the finalizer's name that the pattern leaves open",
    ),
    ("claim", "name of the claim in spec.claimRef of a volume"),
    ("claim-namespace", "namespace of that claim"),
    ("volume", "name of the volume of a claim or an attachment"),
    ("node", "node of the object"),
    ("driver", "CSI driver of the object"),
    ("content", "VolumeSnapshotContent of a snapshot"),
    (
        "holder-namespace",
        "namespace that the holder was found in, else the first that it usually runs in",
    ),
    ("holder", "name of the holder's workload"),
];

/// The placeholders in a text, in order. `{end}` belongs to jsonpath and is not a placeholder.
pub fn placeholders(text: &str) -> Vec<&str> {
    pieces(text)
        .filter_map(|piece| {
            if let Piece::Placeholder(word) = piece {
                Some(word)
            } else {
                None
            }
        })
        .collect()
}

/// Replaces each placeholder by the result of `value`, or by `<word>` if there is none.
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(word) => match value(word) {
                Some(value) => filled.push_str(&value),
                None => filled.extend(["<", word, ">"]),
            },
        }
    }
    filled
}

enum Piece<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some((word, after)) = leading_placeholder(rest) {
            rest = after;
            return Some(Piece::Placeholder(word));
        }
        if rest.is_empty() {
            return None;
        }
        let next = rest
            .char_indices()
            .skip(1)
            .find(|&(at, c)| c == '{' && rest.get(at..).and_then(leading_placeholder).is_some());
        let (text, after) = rest.split_at(next.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(Piece::Text(text))
    })
}

fn leading_placeholder(text: &str) -> Option<(&str, &str)> {
    let (word, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_word = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        && word != "end";
    is_word.then_some((word, after))
}
