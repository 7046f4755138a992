//! Where in a file something stands.

/// How the line of a part is found when it is needed, which is only when something is wrong with it.
#[derive(Clone, Copy)]
pub(super) enum Place<'t> {
    /// The part is a slice of this text, whose first line has this number.
    Within(&'t str, u64),
    /// The part was taken from this line.
    Line(u64),
}

impl Place<'_> {
    /// The line at which `part` begins.
    pub(super) fn line(&self, part: &str) -> u64 {
        match self {
            Place::Line(line) => *line,
            Place::Within(text, first) => {
                let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
                first + line_breaks(&text.as_bytes()[..offset.min(text.len())])
            }
        }
    }
}

/// How many lines end in these bytes.
pub(super) fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}
