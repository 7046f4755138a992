//! Matching with `*`, the only wildcard that knowledge files and filters have.

/// Whether `text` has the form of `pattern`, in which `*` stands for any characters, slashes included.
///
/// Linear in practice and never exponential: on a mismatch only the last `*` is moved, which is enough because an
/// earlier one could only be made longer with the same result.
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

/// How many characters of a pattern are literal: the measure of how specific it is.
pub fn literals(pattern: &str) -> usize {
    pattern.bytes().filter(|&c| c != b'*').count()
}
