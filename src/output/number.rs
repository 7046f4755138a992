//! Numbers in words.

/// `1 object`, `2 objects`.
pub(super) fn count(number: u64, what: &str) -> String {
    format!(
        "{} {what}{}",
        thousands(number),
        if number == 1 { "" } else { "s" }
    )
}

/// `1234567` as `1,234,567`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
