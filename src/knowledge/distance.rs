//! How unlike two names are.

/// The fewest characters to insert, remove, replace or swap with a neighbour that turn `a` into `b`, if these are
/// no more than `limit`.
pub(super) fn within(limit: usize, a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut fewest = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && x == &b[j - 1] && y == &a[i - 1] {
                fewest = fewest.min(before[j - 1] + 1);
            }
            row.push(fewest);
        }
        if row.iter().min().is_some_and(|fewest| *fewest > limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn counts_edits() {
        for (a, b, distance) in [
            ("", "", Some(0)),
            ("abc", "abc", Some(0)),
            ("abc", "acb", Some(1)),
            ("abc", "abcd", Some(1)),
            ("abc", "xyz", None),
        ] {
            assert_eq!(within(2, a, b), distance, "{a} {b}");
        }
    }
}
