//! The lines of one object, without the lines that nobody reads.
//!
//! The parser is slow (17 MB a second), and most of an object is its spec, its managedFields and its annotations. These
//! are left out by their indentation before the parser reads them. A dump of 200 MB then takes 1.6 s instead of 12, and
//! 9 MB of memory. It also means that data of a Secret is never parsed.

use serde_json::Value;

/// Larger than any object once the other fields are left out.
const MAX_SIZE: usize = 16 << 20;

/// The fields that are read have few levels, and the parser recurses.
const MAX_DEPTH: usize = 64;

/// Schemas of custom types are deep. serde_json does not parse deeper than this either.
const MAX_DEPTH_WHOLE: usize = 120;

/// The fields of `metadata` that are read.
const METADATA_FIELDS: &[&[u8]] = &[
    b"name",
    b"namespace",
    b"uid",
    b"creationTimestamp",
    b"deletionTimestamp",
    b"deletionGracePeriodSeconds",
    b"finalizers",
    b"labels",
];

/// The fields of `spec` that are read: of a Namespace, a CustomResourceDefinition, a Lease.
const SPEC_FIELDS: &[&[u8]] = &[b"finalizers", b"group", b"names", b"scope", b"renewTime"];

/// The fields of `status` that are read: of a Namespace.
const STATUS_FIELDS: &[&[u8]] = &[b"conditions"];

/// Why an object cannot be read, and where.
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) message: String,
}

/// What to do with the lines of the current key.
#[derive(Clone, Copy, Default)]
enum Section {
    #[default]
    Kept,
    Dropped,
    /// Only these fields are kept. Then: their column, once known; whether the current field is kept.
    Partly(&'static [&'static [u8]], Option<usize>, bool),
}

/// The lines of one object.
#[derive(Default)]
pub(super) struct Chunk {
    text: Vec<u8>,
    /// The line number in the file of each line in `text`.
    lines: Vec<u64>,
    /// The line at which the object begins.
    pub(super) first: u64,
    /// The column of the object's keys, once known.
    pub(super) column: Option<usize>,
    kind: Option<Vec<u8>>,
    section: Section,
    dropped: bool,
    too_large: bool,
    /// Whether to keep the whole object, except confidential data.
    whole: bool,
}

impl Chunk {
    /// A chunk that begins at this line; 0 if that is not known yet.
    pub(super) fn new(line: u64, whole: bool) -> Self {
        Chunk {
            first: line,
            whole,
            ..Chunk::default()
        }
    }

    /// Adds a line, or leaves it out.
    pub(super) fn push(&mut self, line: &[u8], number: u64) {
        let (indent, content) = split_indent(line);
        if !content.is_empty() {
            if self.first == 0 {
                self.first = number;
            }
            let column = *self.column.get_or_insert(indent);
            if indent <= column && content.starts_with(b"#") {
                return;
            }
            self.begin_key(indent, column, content);
        }
        match self.section {
            Section::Kept | Section::Partly(_, _, true) => self.keep(line, number),
            Section::Dropped | Section::Partly(_, _, false) => self.dropped |= !content.is_empty(),
        }
    }

    /// Begins the section of the next key, if this line has one. A dash in the column of a key continues the sequence
    /// under it.
    fn begin_key(&mut self, indent: usize, column: usize, content: &[u8]) {
        if is_dash(content) {
            return;
        }
        if indent <= column {
            self.section = match simple_key(content) {
                Some((key, value)) => self.section_of(key, value),
                None => Section::Kept,
            };
        } else if let Section::Partly(wanted, column, kept) = &mut self.section
            && indent <= *column.get_or_insert(indent)
        {
            *kept = simple_key(content).is_none_or(|(key, _)| wanted.contains(&key));
        }
    }

    fn section_of(&mut self, key: &[u8], value: &[u8]) -> Section {
        let kind = self.kind.as_deref();
        let partly = |fields| {
            if value.is_empty() {
                Section::Partly(fields, None, true)
            } else {
                Section::Kept
            }
        };
        match key {
            b"data" | b"stringData" | b"binaryData" => Section::Dropped,
            _ if self.whole && key != b"kind" => Section::Kept,
            b"apiVersion" | b"items" => Section::Kept,
            b"kind" => {
                self.kind = Some(unquoted(value).to_vec());
                Section::Kept
            }
            b"metadata" => partly(METADATA_FIELDS),
            // While the kind is not known, the object may be one whose spec matters.
            b"spec" => match kind {
                None | Some(b"Namespace" | b"CustomResourceDefinition" | b"Lease") => partly(SPEC_FIELDS),
                Some(_) => Section::Dropped,
            },
            b"status" if matches!(kind, None | Some(b"Namespace")) => partly(STATUS_FIELDS),
            b"reason" | b"message" if kind == Some(b"Status") => Section::Kept,
            _ => Section::Dropped,
        }
    }

    fn keep(&mut self, line: &[u8], number: u64) {
        if self.text.len() + line.len() > MAX_SIZE {
            self.too_large = true;
            return;
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.lines.push(number);
    }

    /// The object as JSON, the only format that the object decoder reads; none if the chunk is empty.
    pub(super) fn json(self) -> Result<Option<String>, Fault> {
        let fault = |line, message: &str| Fault {
            line,
            message: message.to_owned(),
        };
        if self.too_large {
            return Err(fault(self.first, "too large for an object"));
        }
        let text = std::str::from_utf8(&self.text).map_err(|error| {
            let before =
                super::super::place::line_breaks(self.text.get(..error.valid_up_to()).unwrap_or_default());
            fault(self.line(before + 1), "not UTF-8")
        })?;
        if text.trim().is_empty() {
            return Ok(self.dropped.then(|| "{}".to_owned()));
        }
        let options = serde_saphyr::options! {
            with_snippet: false,
            // A namespace may be called `n` or `on`. YAML 1.2 reads these as strings too.
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_depth: if self.whole { MAX_DEPTH_WHOLE } else { MAX_DEPTH } },
        };
        let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let at = error.location().map_or(1, |location| location.line());
            let text = error.without_snippet().to_string();
            let what = text.lines().next().unwrap_or_default();
            let what = what.split(" at line ").next().unwrap_or_default();
            fault(self.line(at), &format!("not YAML that can be read: {what}"))
        })?;
        Ok((!value.is_null()).then(|| value.to_string()))
    }

    /// The line number in the file of a line in `text`, from 1.
    fn line(&self, within: u64) -> u64 {
        let at = usize::try_from(within.saturating_sub(1)).unwrap_or(usize::MAX);
        self.lines
            .get(at)
            .or(self.lines.last())
            .copied()
            .unwrap_or(self.first)
    }
}

/// The number of spaces before a line's content, and the content.
pub(super) fn split_indent(line: &[u8]) -> (usize, &[u8]) {
    let indent = line.iter().position(|&byte| byte != b' ').unwrap_or(line.len());
    (indent, line.get(indent..).unwrap_or_default())
}

/// Whether the content of a line begins an entry of a sequence.
pub(super) fn is_dash(content: &[u8]) -> bool {
    content == b"-" || content.starts_with(b"- ")
}

/// The key and the value of a line, for a key as every tool writes it. Anything else may be YAML too, and is left to
/// the parser.
pub(super) fn simple_key(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = content
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"_-./".contains(byte))?;
    let (key, rest) = content.split_at_checked(end)?;
    let value = rest.strip_prefix(b":")?;
    if end == 0 || !(value.is_empty() || value.starts_with(b" ")) {
        return None;
    }
    let value = value.trim_ascii();
    // A comment is no value: what matters is whether the value is on the lines below.
    Some((key, if value.starts_with(b"#") { b"" } else { value }))
}

/// A short value without its quotes and without a trailing comment.
pub(super) fn unquoted(value: &[u8]) -> &[u8] {
    let value = value.split(|&byte| byte == b' ').next().unwrap_or_default();
    for quote in [b"\"", b"'"] {
        if let Some(inner) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
        {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let mut chunk = Chunk::new(0, false);
        for (number, line) in (1..).zip(text.lines()) {
            chunk.push(line.as_bytes(), number);
        }
        match chunk.json() {
            Ok(json) => json.unwrap_or_default(),
            Err(fault) => format!("line {}: {}", fault.line, fault.message),
        }
    }

    #[test]
    fn only_needed_fields_reach_the_parser() {
        let text = "\
apiVersion: v1
data:
  kind: |
    *** not YAML: [
metadata:
  annotations:
    a: {{ neither }
  finalizers:
  - a/b
  managedFields:
  - x: [
  name: n
# a comment
kind: ConfigMap
spec:
  finalizers: {";
        assert_eq!(
            json(text),
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"finalizers":["a/b"],"name":"n"}}"#
        );
    }

    #[test]
    fn keeps_a_spec_where_it_matters_or_may_matter() {
        let namespace = "kind: Namespace\nspec:\n  finalizers:\n  - kubernetes\n  more: 1\n";
        assert_eq!(
            json(namespace),
            r#"{"kind":"Namespace","spec":{"finalizers":["kubernetes"]}}"#
        );
        assert_eq!(json("spec:\n  scope: x\n  y: 1\n"), r#"{"spec":{"scope":"x"}}"#);
        assert_eq!(json("kind: Pod\nspec:\n  scope: x\n"), r#"{"kind":"Pod"}"#);
    }

    #[test]
    fn leaves_other_styles_to_the_parser() {
        assert_eq!(
            json("\"kind\": 'Pod' # x\nmetadata: {name: a,\n  finalizers: [b]}\n"),
            r#"{"kind":"Pod","metadata":{"finalizers":["b"],"name":"a"}}"#
        );
        assert_eq!(json("replicas: 1\n"), "{}");
        assert_eq!(json("# nothing\n\n"), "");
    }

    #[test]
    fn a_fault_has_its_line_in_the_file() {
        let text = "kind: Pod\nspec:\n  a: 1\n  b: 1\nmetadata:\n  name: [\n";
        let message = json(text);
        assert!(message.starts_with("line 6: "), "{message}");
    }

    #[test]
    fn rejects_alias_bombs_and_deep_nesting() {
        let ten_times = |(before, name): (char, char)| {
            let ten = vec![format!("*{before}"); 10].join(",");
            format!(", {name}: &{name} [{ten}]")
        };
        let steps: Vec<_> = ('a'..'j').zip('b'..).map(ten_times).collect();
        let bomb = format!(
            "kind: A\nmetadata:\n  labels: {{a: &a [x,x,x,x,x,x,x,x,x,x]{}}}\n",
            steps.concat()
        );
        assert!(
            json(&bomb).starts_with("line 3: not YAML"),
            "{:.200}",
            json(&bomb)
        );
        let deep = format!("items: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
        assert!(
            json(&deep).starts_with("line 1: not YAML"),
            "{:.200}",
            json(&deep)
        );
    }
}
