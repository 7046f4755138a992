//! The embedded catalogue: one text of JSON entries, and tables that find an entry without parsing the
//! others.

use std::sync::{LazyLock, OnceLock};

use super::schema::Entry;

/// All entries, as consecutive JSON objects.
static BLOB: &str = include_str!(concat!(env!("OUT_DIR"), "/catalogue.json"));

#[allow(clippy::unreadable_literal, reason = "written by build.rs, read by nobody")]
mod tables {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use tables::{ENDS, LENGTHS, NAMES, SPANS, STARTS};

/// Size of the texts in bytes.
pub(super) fn size() -> usize {
    BLOB.len()
}

/// Number of entries.
pub(super) fn len() -> usize {
    SPANS.len()
}

/// One entry. It is parsed once, however often a long run looks it up.
pub(super) fn entry(at: usize) -> Option<Entry> {
    static PARSED: LazyLock<Vec<OnceLock<Option<Entry>>>> =
        LazyLock::new(|| SPANS.iter().map(|_| OnceLock::new()).collect());
    PARSED.get(at)?.get_or_init(|| parse(at)).clone()
}

fn parse(at: usize) -> Option<Entry> {
    let &(start, end) = SPANS.get(at)?;
    let json = BLOB.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
    // `build.rs` wrote it from this type, and a test reads every entry.
    serde_json::from_str(json).ok()
}

/// The entries that can match this name, by name or by the fixed end of a pattern. The caller compares them.
///
/// The work grows with the number of different pattern lengths, not with the number of entries.
pub(super) fn candidates(finalizer: &str) -> Vec<usize> {
    let mut found = Vec::new();
    add_equal(NAMES, finalizer, &mut found);
    for &length in LENGTHS.iter().take_while(|length| **length <= finalizer.len()) {
        if let Some(start) = finalizer.get(..length) {
            add_equal(STARTS, start, &mut found);
        }
        if let Some(end) = finalizer.get(finalizer.len() - length..) {
            add_equal(ENDS, end, &mut found);
        }
    }
    found
}

/// All exact names and former names, sorted.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    NAMES.iter().map(|&(name, _)| -> &'a str { name })
}

fn add_equal(table: &[(&str, u16)], key: &str, found: &mut Vec<usize>) {
    let from = table.partition_point(|&(text, _)| text < key);
    found.extend(
        table
            .iter()
            .skip(from)
            .take_while(|&&(text, _)| text == key)
            .map(|&(_, at)| usize::from(at)),
    );
}

/// Whether this is an exact name.
pub(super) fn is_name(name: &str) -> bool {
    NAMES.binary_search_by(|&(text, _)| text.cmp(name)).is_ok()
}

/// The fixed ends of all patterns.
pub(super) fn patterns<'a>() -> impl Iterator<Item = &'a str> {
    STARTS
        .iter()
        .chain(ENDS)
        .map(|&(text, _)| -> &'a str { text.trim_matches('.') })
}
