//! Writes the catalogue as blocks of JSON entries, each block packed, and the tables that find an entry in them.
//!
//! `explain` must answer within 15 ms for a catalogue of any size. So entries are unpacked and parsed on demand. A name
//! is found by binary search in a sorted table, a pattern by its longest fixed end and then by all of it. Its block is
//! then unpacked, and the entry is cut out of it by its offsets.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Value, json};

use crate::schema::{Entry, Located, Match, usual_judgement};

/// A block ends with the first entry that makes it this large. Larger blocks pack better, and smaller ones are unpacked
/// in less time. 3.0 MB became 0.76 MB in blocks of 8 KiB, 0.54 MB in blocks of 32 KiB, and 0.46 MB in blocks of 128 KiB.
const BLOCK: usize = 48 * 1024;
/// The same for the descriptions of controllers. They are short, and few of one block are needed together.
const BLOCK_OF_HOLDERS: usize = 8 * 1024;

/// The letters that stand for fields of an entry here. `Entry` knows them, too.
const LETTERS: [(&str, &str); 10] = [
    ("project", "j"),
    ("area", "a"),
    ("kinds", "k"),
    ("protects", "p"),
    ("waitsFor", "w"),
    ("removedBy", "r"),
    ("ifRemoved", "i"),
    ("doneWhen", "d"),
    ("sources", "s"),
    ("verifiedIn", "v"),
];

/// Writes `catalogue.deflate`, `kinds.txt` and `catalogue.rs`, and the tables of platforms, deployers, marks, fates, losses,
/// topics, defaults and datastores.
pub(crate) fn write(all: &crate::All, out: &Path) -> io::Result<()> {
    fs::write(out.join("platforms.json"), serde_json::to_string(&all.platforms)?)?;
    fs::write(out.join("deployers.json"), serde_json::to_string(&all.deployers)?)?;
    fs::write(out.join("marks.json"), serde_json::to_string(&all.marks)?)?;
    fs::write(out.join("fates.json"), serde_json::to_string(&all.fates)?)?;
    fs::write(out.join("losses.json"), serde_json::to_string(&all.losses)?)?;
    fs::write(out.join("topics.json"), serde_json::to_string(&all.topics)?)?;
    fs::write(out.join("defaults.json"), serde_json::to_string(&all.defaults)?)?;
    fs::write(
        out.join("datastores.json"),
        serde_json::to_string(&all.datastores)?,
    )?;
    let entries = &all.entries;
    let mut sorted: Vec<&Located> = entries.iter().collect();
    sorted.sort_by(|a, b| (&a.entry.name, &a.file, a.line).cmp(&(&b.entry.name, &b.file, b.line)));

    let mut blocks = Blocks(vec![String::new()]);
    let mut spans = String::new();
    // Entries of one product have one controller, and are far apart in this order.
    let mut holders = Vec::new();
    for located in &sorted {
        let (json, holder) = without_defaults(&located.entry)?;
        let known = holders.iter().position(|known| *known == holder);
        let holder_at = known.unwrap_or(holders.len());
        if known.is_none() {
            holders.push(holder);
        }
        let (at, start, end) = blocks.add(&json, BLOCK);
        let _ = writeln!(spans, "    ({at}, {start}, {end}, {holder_at}),");
    }
    let holders: Vec<_> = holders
        .iter()
        .map(|holder| blocks.add(holder, BLOCK_OF_HOLDERS))
        .collect();
    let Blocks(blocks) = blocks;
    let mut packed = Vec::new();
    let mut ends = Vec::new();
    for block in &blocks {
        let mut encoder = DeflateEncoder::new(&mut packed, Compression::best());
        encoder.write_all(block.as_bytes())?;
        encoder.finish()?;
        ends.push((packed.len(), block.len()));
    }

    let tables = [
        table(
            "NAMES",
            "Exact names, and former names of the same finalizers, sorted",
            by_exact_name(&sorted),
        ),
        table(
            "STARTS",
            "Patterns by the fixed text they begin with, sorted",
            by_fixed_end(&sorted, true),
        ),
        table(
            "ENDS",
            "Patterns by the fixed text they end in, sorted",
            by_fixed_end(&sorted, false),
        ),
    ];
    let lengths: BTreeSet<usize> = [true, false]
        .into_iter()
        .flat_map(|starts| by_fixed_end(&sorted, starts))
        .map(|(text, _)| text.len())
        .collect();
    // The `Debug` form of a list is valid Rust; that of a set is not.
    let lengths: Vec<usize> = lengths.into_iter().collect();
    let globs: Vec<_> = sorted
        .iter()
        .enumerate()
        .filter(|(_, located)| located.entry.r#match == Match::Glob)
        .map(|(at, located)| (at, &*located.entry.name))
        .collect();
    let code = format!(
        "/// The block of each entry, where it begins and ends there, and which of the `HOLDERS` it has.\n\
         pub(super) static SPANS: &[(u16, u32, u32, u16)] = &[\n{spans}];\n\
         /// The block of each description of a controller, and where it begins and ends there.\n\
         pub(super) static HOLDERS: &[(u16, u32, u32)] = &{holders:?};\n\
         /// Where each packed block ends, and its size when it is unpacked.\n\
         pub(super) static BLOCKS: &[(u32, u32)] = &{ends:?};\n\
         /// Every length of a fixed start or end, the shortest first.\n\
         pub(super) static LENGTHS: &[usize] = &{lengths:?};\n\
         /// The entries whose pattern has more than a fixed start or end, and that pattern, sorted by entry.\n\
         pub(super) static GLOBS: &[(u16, &str)] = &{globs:?};\n{}",
        tables.concat()
    );
    fs::write(out.join("catalogue.deflate"), packed)?;
    fs::write(out.join("kinds.txt"), kinds(entries))?;
    fs::write(out.join("catalogue.rs"), code)
}

/// Texts one behind the other, in blocks that are packed one by one.
struct Blocks(Vec<String>);

impl Blocks {
    /// Adds a text to the last block, or to a new one if the last is that large. Tells its block, and where it begins and ends
    /// there.
    fn add(&mut self, text: &str, large: usize) -> (usize, usize, usize) {
        let Blocks(blocks) = self;
        if blocks.last().is_some_and(|block| block.len() >= large) {
            blocks.push(String::new());
        }
        let at = blocks.len() - 1;
        let start = blocks[at].len();
        blocks[at].push_str(text);
        (at, start, blocks[at].len())
    }
}

/// The entry as JSON, without what nearly all entries have: reading it puts that back. Its controller is apart.
fn without_defaults(entry: &Entry) -> serde_json::Result<(String, String)> {
    let mut json = serde_json::to_value(entry)?;
    let page = entry.page_of_sources();
    if let Some(fields) = json.as_object_mut() {
        fields.insert("sources".to_owned(), entry.short_sources().into());
        fields.retain(|field, value| match field.as_str() {
            "match" => value != "exact",
            "list" => value != "metadata",
            "example" => value != entry.name.as_str(),
            "page" => value.as_str() != page.as_deref(),
            "verified" => *value != true,
            "judgement" => entry.judgement != usual_judgement(),
            _ => true,
        });
        if entry.judgement.is_empty() {
            fields.insert("judgement".to_owned(), Value::Array(Vec::new()));
        }
    }
    // A list of its values reads like the object.
    let places = json.pointer_mut("/verifiedIn").and_then(Value::as_array_mut);
    for (place, at) in places.into_iter().flatten().zip(&entry.verified_in) {
        *place = json!([at.repository, at.revision, at.date]);
    }
    let steps = json.pointer_mut("/fix").and_then(Value::as_array_mut);
    for (place, step) in steps.into_iter().flatten().zip(&entry.fix) {
        *place = as_list([
            json!(step.label),
            json!(step.text),
            json!(step.command),
            json!(step.if_holder),
            json!(step.if_condition),
            json!(step.if_field),
            json!(step.if_message),
        ]);
    }
    let (removed, waits) = (&entry.if_removed, &entry.waits_for);
    for (field, values) in [
        (
            "/ifRemoved",
            [json!(removed.consequence), json!(removed.text), Value::Null],
        ),
        (
            "/waitsFor",
            [json!(waits.text), json!(waits.on), json!(waits.rights)],
        ),
    ] {
        if let Some(place) = json.pointer_mut(field) {
            *place = as_list(values);
        }
    }
    let workloads = json
        .pointer_mut("/holder/workloads")
        .and_then(Value::as_array_mut);
    for workload in workloads.into_iter().flatten().filter_map(Value::as_object_mut) {
        workload.retain(|field, value| field != "kind" || value != "Deployment");
    }
    let mut holder = json!({});
    if let Some(fields) = json.as_object_mut() {
        holder = fields.remove("holder").unwrap_or(holder);
        for (field, letter) in LETTERS {
            if let Some(value) = fields.remove(field) {
                fields.insert(letter.to_owned(), value);
            }
        }
    }
    Ok((serde_json::to_string(&json)?, serde_json::to_string(&holder)?))
}

/// The values of an object as a list, in the order of its fields. Those at the end that are absent are left out.
fn as_list<const N: usize>(values: [Value; N]) -> Value {
    let mut values = Vec::from(values);
    let is_absent = |value: &Value| value.is_null() || *value == json!([]);
    while values.last().is_some_and(is_absent) {
        values.pop();
    }
    Value::Array(values)
}

/// Every kind in the catalogue, one a line: without it, whether a word is a type would cost parsing all entries. One text
/// takes less than a table, which needs two addresses for each word.
fn kinds(entries: &[Located]) -> String {
    let kinds = entries.iter().flat_map(|located| &located.entry.kinds);
    let lines: BTreeSet<String> = kinds
        .map(|kind| format!("{} {}\n", kind.kind(), kind.group()))
        .collect();
    lines.into_iter().collect()
}

fn table(name: &str, about: &str, mut rows: Vec<(String, usize)>) -> String {
    rows.sort();
    let rows: String = rows.iter().fold(String::new(), |mut text, (key, at)| {
        let _ = writeln!(text, "    ({key:?}, {at}),");
        text
    });
    format!(
        "/// {about}; the number is that of the entry.\npub(super) static {name}: &[(&str, u16)] = &[\n{rows}];\n"
    )
}

fn by_exact_name(sorted: &[&Located]) -> Vec<(String, usize)> {
    let named = |at: usize| sorted[at].entry.r#match == Match::Exact;
    let mut rows: Vec<(String, usize)> = (0..sorted.len())
        .filter(|&at| named(at))
        .map(|at| (sorted[at].entry.name.clone(), at))
        .collect();
    let current: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    for (at, located) in sorted.iter().enumerate().filter(|&(at, _)| named(at)) {
        // A former name with its own entry is described there.
        let former = located
            .entry
            .renamed_from
            .iter()
            .filter(|name| !current.contains(name));
        rows.extend(former.map(|name| (name.clone(), at)));
    }
    rows
}

/// Each pattern is only in the table of its longer fixed end.
fn by_fixed_end(sorted: &[&Located], starts: bool) -> Vec<(String, usize)> {
    let ends = |located: &Located| {
        let name = &located.entry.name;
        match located.entry.r#match {
            Match::Exact => None,
            Match::Prefix => Some((name.clone(), String::new())),
            Match::Suffix => Some((String::new(), name.clone())),
            Match::Glob => {
                let first = name.find('*').unwrap_or(name.len());
                let last = name.rfind('*').map_or(0, |star| star + 1);
                Some((name[..first].to_owned(), name[last..].to_owned()))
            }
        }
    };
    let row = |(at, located): (usize, &&Located)| {
        let (start, end) = ends(located)?;
        let by_start = start.len() >= end.len();
        (by_start == starts).then_some((if starts { start } else { end }, at))
    };
    sorted.iter().enumerate().filter_map(row).collect()
}
