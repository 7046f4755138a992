//! Patterns as in a shell: `*` for anything, `?` for one character, the rest for itself.

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// Every text is a pattern.
    pub fn new(pattern: &str) -> Self {
        Glob(pattern.chars().collect())
    }

    /// Whether the whole of `text` matches. Linear in practice, never worse than pattern × text: on a
    /// mismatch only the last `*` is tried again.
    pub fn matches(&self, text: &str) -> bool {
        let (pattern, text) = (&self.0, text.chars().collect::<Vec<_>>());
        let (mut p, mut t) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(&c) if c == '?' || c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => match star {
                    Some((after, seen)) => {
                        star = Some((after, seen + 1));
                        p = after + 1;
                        t = seen + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        let matches = |pattern, text| Glob::new(pattern).matches(text);
        assert!(matches(
            "kubernetes.io/pv?-protection",
            "kubernetes.io/pvc-protection"
        ));
        assert!(matches("*longhorn*", "foreground.finalizer.longhorn.io"));
        assert!(matches("*.io/*-*", "a.io/b.io/c-d"));
        assert!(matches("*", ""));
        assert!(!matches("kubernetes", "kubernetes.io"));
        assert!(!matches("?", ""));
        assert!(!matches("*a", "ab"));
    }
}
