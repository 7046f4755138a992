//! Words that are known, and so tell nothing about a cluster. Quantities, times and small numbers are known too.

use std::{collections::BTreeSet, sync::LazyLock};

/// The words of Kubernetes, in lower case.
static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
});
/// Units of quantities and durations, and the letters between the numbers of a time.
const UNITS: &[&str] = &[
    "", "E", "Ei", "G", "Gi", "K", "Ki", "M", "Mi", "P", "Pi", "T", "Ti", "Z", "d", "h", "k", "m", "ms", "n",
    "ns", "s", "u", "us",
];
/// Longer numbers identify something: an account, a project, a port of a node.
const MAX_DIGITS: usize = 5;

/// The known words.
pub(super) struct Vocabulary {
    /// Known beyond those of Kubernetes, in lower case.
    more: BTreeSet<String>,
}

impl Vocabulary {
    pub(super) fn of_kubernetes() -> Self {
        Vocabulary {
            more: BTreeSet::new(),
        }
    }

    /// Adds the words in a text.
    pub(super) fn add(&mut self, text: &str) {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            for part in camel_case(word).filter(|part| has_letters(part)) {
                self.more.insert(part.to_lowercase());
            }
            if has_letters(word) {
                self.more.insert(word.to_lowercase());
            }
        }
    }

    /// Whether all pieces of a word are known.
    pub(super) fn knows(&self, word: &str) -> bool {
        is_quantity(word) || word.split(['-', '.']).all(|piece| self.knows_piece(piece))
    }

    /// Whether a piece without hyphens and dots is known.
    pub(super) fn knows_piece(&self, piece: &str) -> bool {
        is_quantity(piece)
            || is_version(piece)
            || self.has(piece)
            || camel_case(piece).all(|part| self.has(part))
    }

    fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        WORDS.contains(&*word) || self.more.contains(&word)
    }
}

/// Single letters are no words. They would let every name of letters and digits pass.
fn has_letters(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() > 1
}

/// Whether this is empty, a small number, a quantity, a duration, or part of a time.
pub(super) fn is_quantity(text: &str) -> bool {
    let mut rest = text
        .strip_prefix('v')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 || digits > MAX_DIGITS {
            return false;
        }
        rest = rest.get(digits..).unwrap_or_default();
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction;
            if !rest.is_empty() {
                continue;
            }
        }
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (unit, after) = rest.split_at_checked(letters).unwrap_or_default();
        if !UNITS.contains(&unit) {
            return false;
        }
        rest = after;
    }
    true
}

/// Whether this is a version of an API: `v1`, `v1beta2`.
fn is_version(text: &str) -> bool {
    let numbers = text.strip_prefix('v').unwrap_or_default();
    let parts: Vec<_> = numbers
        .split(char::is_alphabetic)
        .filter(|part| !part.is_empty())
        .collect();
    let is_number = |part: &&str| part.len() <= 3 && part.chars().all(|c| c.is_ascii_digit());
    let word: String = numbers.chars().filter(|c| c.is_alphabetic()).collect();
    !parts.is_empty() && parts.iter().all(is_number) && matches!(&*word, "" | "alpha" | "beta")
}

/// The parts of a word in camel case: `FailedAttachVolume`, `hostIPs`, `APIService`.
fn camel_case(word: &str) -> impl Iterator<Item = &str> {
    let mut starts = vec![0];
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    for pair in chars.windows(2) {
        if let [(_, before), (at, c)] = pair
            && before.is_lowercase()
            && c.is_uppercase()
        {
            starts.push(*at);
        }
    }
    for (begin, three) in chars.windows(3).enumerate() {
        // The plural of an abbreviation, such as `IPs`, is one part.
        let follows = chars
            .get(begin.saturating_add(3))
            .is_some_and(|(_, c)| c.is_lowercase());
        if let [(_, before), (at, c), (_, after)] = three
            && before.is_uppercase()
            && c.is_uppercase()
            && after.is_lowercase()
            && (*after != 's' || follows)
        {
            starts.push(*at);
        }
    }
    starts.sort_unstable();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([word.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| word.get(start..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::Vocabulary;

    #[test]
    fn knows_words_quantities_and_times_but_no_names() {
        let mut vocabulary = Vocabulary::of_kubernetes();
        vocabulary.add("the longhorn-manager, spec.dataEngine");
        for known in [
            "",
            "0",
            "8443",
            "10Gi",
            "1.5Gi",
            "250m",
            "1h2m3s",
            "5m0s",
            "01T00",
            "00Z",
            "v1",
            "v1beta2",
            "v1.36.3",
            "1.36.3",
            "ReadWriteOnce",
            "Terminating",
            "False",
            "pv.kubernetes.io",
            "k8s.io",
            "claimRef",
            "hostIPs",
            "APIService",
            "persistentvolumeclaims",
            "longhorn",
            "dataEngine",
            "kube-controller-manager",
        ] {
            assert!(vocabulary.knows(known), "{known}");
        }
        for unknown in [
            "zebraquux",
            "123456",
            "4x9zq",
            "a1b2c3d4",
            "7d3f",
            "be4ad2",
            "prod-zebra",
            "zebra.kubernetes.io",
            "größe",
            "x",
            "q7",
            "vzebra",
            "i-0abc12",
        ] {
            assert!(!vocabulary.knows(unknown), "{unknown}");
        }
    }
}
