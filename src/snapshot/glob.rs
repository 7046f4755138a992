//! Patterns as in a shell: `*` matches anything, `?` matches one character, and every other character matches itself.

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// Compiles a pattern. Every text is a valid pattern.
    pub fn new(pattern: &str) -> Self {
        Glob(pattern.chars().collect())
    }

    /// Whether the pattern matches the whole `text`. It is linear in practice, and never worse than pattern × text: a
    /// mismatch only retries the last `*`.
    pub fn matches(&self, text: &str) -> bool {
        let (pattern, text) = (&self.0, text.chars().collect::<Vec<_>>());
        let (mut p, mut t) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while let Some(&letter) = text.get(t) {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(&c) if c == '?' || c == letter => {
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
        pattern.iter().skip(p).all(|&c| c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_only_whole_texts() {
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
