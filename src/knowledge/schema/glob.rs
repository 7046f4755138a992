//! Matching with `*`, the only wildcard in knowledge files and filters.

/// Whether `text` matches `pattern`, in which `*` stands for any characters, including slashes.
///
/// Linear in practice and never exponential: on a mismatch, only the last `*` takes more. Making an earlier
/// one longer would give the same result.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == text.get(t) {
            p += 1;
            t += 1;
        } else if let Some((after_star, taken)) = retry {
            retry = Some((after_star, taken + 1));
            p = after_star;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern.iter().skip(p).all(|&c| c == b'*')
}

/// Number of literal characters in a pattern, which measures how specific it is.
pub fn literals(pattern: &str) -> usize {
    pattern.bytes().filter(|&c| c != b'*').count()
}
