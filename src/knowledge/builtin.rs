//! The embedded catalogue: packed blocks of JSON entries, and tables that find an entry without unpacking the other
//! blocks or parsing the other entries.

use std::io::Read;
use std::sync::{LazyLock, OnceLock};

use flate2::bufread::DeflateDecoder;

use super::schema::{Entry, glob, usual_judgement};

/// All blocks, one behind the other.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalogue.deflate"));

/// Each kind that an entry is about, with its group.
static KINDS: &str = include_str!(concat!(env!("OUT_DIR"), "/kinds.txt"));

#[allow(clippy::unreadable_literal, reason = "written by build.rs, read by nobody")]
mod tables {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use tables::{BLOCKS, ENDS, GLOBS, HOLDERS, LENGTHS, NAMES, SPANS, STARTS};

/// Size of the packed texts in bytes.
pub(super) fn size() -> usize {
    PACKED.len()
}

/// Size of the texts in bytes once they are unpacked.
pub(super) fn unpacked_size() -> usize {
    BLOCKS.iter().filter_map(|&(_, size)| as_usize(size)).sum()
}

/// Number of entries.
pub(super) fn len() -> usize {
    SPANS.len()
}

/// One entry. It is parsed once, however often a long run looks it up.
pub(super) fn entry(at: usize) -> Option<&'static Entry> {
    static PARSED: LazyLock<Vec<OnceLock<Option<Entry>>>> =
        LazyLock::new(|| SPANS.iter().map(|_| OnceLock::new()).collect());
    PARSED.get(at)?.get_or_init(|| parse(at)).as_ref()
}

fn parse(at: usize) -> Option<Entry> {
    let &(block, start, end, holder) = SPANS.get(at)?;
    let json = text_at((block, start, end))?;
    // `build.rs` wrote it from this type, and a test reads every entry.
    let mut entry: Entry = serde_json::from_str(json).ok()?;
    entry.holder = serde_json::from_str(text_at(*HOLDERS.get(usize::from(holder))?)?).ok()?;
    if entry.example.is_empty() {
        entry.example.clone_from(&entry.name);
    }
    if !json.contains("\"judgement\":") {
        entry.judgement = usual_judgement();
    }
    entry.complete_sources();
    // Every file names a page. Most name the repository of their sources, which the built-in catalogue leaves out.
    if entry.page.is_none() {
        entry.page = entry.page_of_sources();
    }
    Some(entry)
}

/// The text between these two places of a block.
fn text_at((block, start, end): (u16, u32, u32)) -> Option<&'static str> {
    block_text(usize::from(block))?.get(as_usize(start)?..as_usize(end)?)
}

/// The entries of one block. It is unpacked once, because its entries have similar names and are often used together.
fn block_text(at: usize) -> Option<&'static str> {
    static UNPACKED: LazyLock<Vec<OnceLock<Option<String>>>> =
        LazyLock::new(|| BLOCKS.iter().map(|_| OnceLock::new()).collect());
    UNPACKED.get(at)?.get_or_init(|| unpack(at)).as_deref()
}

fn unpack(at: usize) -> Option<String> {
    let &(end, size) = BLOCKS.get(at)?;
    let before = at.checked_sub(1).and_then(|before| BLOCKS.get(before));
    let start = before.map_or(0, |&(end, _)| end);
    let packed = PACKED.get(as_usize(start)?..as_usize(end)?)?;
    let mut text = String::with_capacity(as_usize(size)?);
    DeflateDecoder::new(packed).read_to_string(&mut text).ok()?;
    Some(text)
}

fn as_usize(offset: u32) -> Option<usize> {
    usize::try_from(offset).ok()
}

/// The entries that can match this name, by name or by pattern. The caller compares them.
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
    // A pattern such as `*text*` fits every name by its ends. To compare it here saves unpacking its block.
    let fits = |at: &usize| {
        let known = GLOBS.binary_search_by_key(at, |&(entry, _)| usize::from(entry));
        let pattern = known.ok().and_then(|known| GLOBS.get(known));
        pattern.is_none_or(|(_, pattern)| glob(pattern, finalizer))
    };
    found.retain(fits);
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

/// All kinds that entries are about, with their groups.
pub(super) fn kinds<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    KINDS.lines().filter_map(|line| line.split_once(' '))
}

/// The fixed ends of all patterns.
pub(super) fn patterns<'a>() -> impl Iterator<Item = &'a str> {
    STARTS
        .iter()
        .chain(ENDS)
        .map(|&(text, _)| -> &'a str { text.trim_matches('.') })
}
