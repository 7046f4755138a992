//! Locates parts of a file.

/// How to find the line of a part. The line is only computed if something is wrong with the part.
#[derive(Clone, Copy)]
pub(super) enum Location<'t> {
    /// The part is a slice of this text. The text begins at this line.
    Within(&'t str, u64),
    /// The part begins at this line.
    Line(u64),
}

impl Location<'_> {
    /// The line at which `part` begins.
    pub(super) fn line(&self, part: &str) -> u64 {
        match self {
            Location::Line(line) => *line,
            Location::Within(text, first) => {
                let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
                first.saturating_add(line_breaks(
                    text.as_bytes().get(..offset).unwrap_or(text.as_bytes()),
                ))
            }
        }
    }
}

/// How many line breaks these bytes have.
pub(super) fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}
