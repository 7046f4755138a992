//! SHA-256, in hexadecimal digits.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};

pub(super) fn sha256(bytes: &[u8]) -> String {
    let hashed = digest(&SHA256, bytes);
    hashed.as_ref().iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
