//! YAML, cut into documents, and lists into items, by looking at indentation line by line.
//!
//! This is not a YAML parser and need not be one: it only has to see where objects begin and end in YAML in
//! block style, which is how every tool prints objects. A document ends at `---` or `...` in the first column,
//! which nothing else may have there. The items of a list begin at dashes of one indentation, and all else in
//! an item is indented deeper. So no quoted or literal text is ever taken for structure: it is always indented
//! deeper than the item that it belongs to. What is written differently (flow style, a list without `items`)
//! goes to the parser in one piece.
//!
//! Cutting has three uses: a fault spoils one object and has the right line; memory is that of one object; and
//! a file that was cut short can be told from one that ends. For a YAML file cut at the end of a line is still
//! YAML: only that kubectl prints `kind: List` *after* the items shows that something is missing.

mod chunk;

use std::io::{self, BufRead, Read};

use self::chunk::{Chunk, is_dash, simple_key, split_indent};
use super::{
    collect::{Collector, ListHead},
    json,
    place::Place,
};

/// An API server takes no object larger than a few megabytes, so a longer line is something else, and so are
/// files without lines.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads all documents.
pub(super) fn read(found: &mut Collector<'_>, reader: &mut dyn BufRead) {
    let whole = found.whole.is_some();
    let mut document = Document::new(whole);
    let mut line = Vec::new();
    let mut number = 0;
    let mut any = false;
    let mut terminated = true;
    loop {
        line.clear();
        match reader.take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(length) if length as u64 == LONGEST_LINE && line.last() != Some(&b'\n') => {
                found.gap(
                    Some(number + 1),
                    "a line too long for any object; the rest was not read".into(),
                );
                document.end(found, Some(End::Torn));
                return;
            }
            Ok(_) => {}
            Err(cause) => {
                found.gap(Some(number + 1), unreadable(&cause));
                document.end(found, Some(End::Torn));
                return;
            }
        }
        number += 1;
        terminated = line.last() == Some(&b'\n');
        let text = line.trim_ascii_end();
        any |= !text.is_empty();
        match marker(text) {
            None => document.push(found, text, number),
            Some(rest) => {
                std::mem::replace(&mut document, Document::new(whole)).end(found, None);
                document.push(found, rest, number);
            }
        }
    }
    if !any {
        found.gap(None, "empty".into());
    }
    document.end(
        found,
        Some(if terminated {
            End::Clean
        } else {
            End::MidLine(number)
        }),
    );
}

fn unreadable(cause: &io::Error) -> String {
    format!("the rest cannot be read: {cause}")
}

/// What follows a mark between documents, if the line is one.
fn marker(line: &[u8]) -> Option<&[u8]> {
    if line == b"..." {
        return Some(b"");
    }
    let rest = line.strip_prefix(b"---")?;
    (rest.is_empty() || rest[0] == b' ' || rest[0] == b'\t').then_some(rest)
}

/// How the last document of a file ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// With a line break.
    Clean,
    /// Within this line.
    MidLine(u64),
    /// Where reading stopped.
    Torn,
}

/// The document being read.
#[derive(Default)]
struct Document {
    /// The indentation of its keys, once known.
    column: Option<usize>,
    /// All of it, less the items of a list.
    head: Chunk,
    items: Option<Items>,
    list: ListHead,
    /// Whether there was an `items:` in block style.
    is_list: bool,
    /// Whether it is a bare sequence of objects.
    bare: bool,
    /// Whether objects are wanted whole.
    whole: bool,
}

/// Inside a list's items.
#[derive(Default)]
struct Items {
    /// The column of the dashes, once known.
    column: Option<usize>,
    item: Option<Chunk>,
}

impl Document {
    fn new(whole: bool) -> Self {
        Document {
            head: Chunk::new(0, whole),
            whole,
            ..Document::default()
        }
    }

    fn push(&mut self, found: &mut Collector<'_>, line: &[u8], number: u64) {
        let (indent, content) = split_indent(line);
        if content.is_empty() || content[0] == b'#' {
            match &mut self.items {
                Some(Items { item: Some(item), .. }) => item.push(line, number),
                Some(_) => {}
                None => self.head.push(line, number),
            }
            return;
        }
        if self.column.is_none() {
            // Directives such as `%YAML 1.2` come before a document.
            if content[0] == b'%' {
                return;
            }
            self.column = Some(indent);
            self.head.column = Some(indent);
            if is_dash(content) {
                self.bare = true;
                self.items = Some(Items::default());
            }
        }
        if self.in_items(found, indent, content, line, number) {
            return;
        }
        let key = simple_key(content);
        if self.column == Some(indent) && key == Some((&b"items"[..], &b""[..])) {
            self.is_list = true;
            self.items = Some(Items::default());
            return;
        }
        if let (true, Some((name, value))) = (self.column == Some(indent), key) {
            let value = || Some(String::from_utf8_lossy(chunk::unquoted(value)).into_owned());
            match name {
                b"kind" => self.list.kind = value(),
                b"apiVersion" => self.list.api_version = value(),
                _ => {}
            }
        }
        if let Some((b"continue" | b"remainingItemCount", value)) = key
            && !matches!(value, b"" | b"\"\"" | b"0")
        {
            self.list.is_page = true;
        }
        self.head.push(line, number);
    }

    /// Takes a line that belongs to the items; ends them at one that does not.
    fn in_items(
        &mut self,
        found: &mut Collector<'_>,
        indent: usize,
        content: &[u8],
        line: &[u8],
        number: u64,
    ) -> bool {
        let Some(items) = &mut self.items else {
            return false;
        };
        let dash = is_dash(content);
        let column = *items.column.get_or_insert(indent);
        if indent < column || (indent == column && !dash) {
            if let Some(item) = self.items.take().and_then(|items| items.item) {
                object(found, &mut self.list, item);
            }
            return false;
        }
        if indent > column || !dash {
            if let Some(item) = &mut items.item {
                item.push(line, number);
            }
            return true;
        }
        self.list.is_list = self.is_list;
        let mut begun = Chunk::new(number, self.whole);
        // The dash is indentation of the item as much as the space behind it.
        let mut first = line.to_vec();
        first[indent] = b' ';
        begun.push(&first, number);
        if let Some(item) = items.item.replace(begun) {
            object(found, &mut self.list, item);
        }
        true
    }

    /// Ends the document: at a mark, or with the file.
    fn end(mut self, found: &mut Collector<'_>, end: Option<End>) {
        let first = self.head.first;
        let last = self.items.take().and_then(|items| items.item);
        if self.is_list || self.bare {
            return self.end_list(found, last, end);
        }
        mid_line(found, end);
        match self.head.json() {
            Ok(None) => {}
            Ok(Some(text)) => {
                if let Err(error) = json::value(found, &text, Place::Line(first), 0) {
                    let what = error.to_string();
                    let what = what.split(" at line ").next().unwrap_or_default();
                    found.gap(Some(first), format!("not an object: {what}"));
                }
            }
            Err(fault) => found.gap(Some(fault.line), fault.message),
        }
    }

    /// Ends a list, of which the `last` item has not been taken if the file ends with it.
    fn end_list(mut self, found: &mut Collector<'_>, last: Option<Chunk>, end: Option<End>) {
        let first = self.head.first;
        let kind = self.list.kind.as_deref();
        let complete = self.bare || kind.is_some_and(|kind| kind.ends_with("List"));
        let torn = end == Some(End::Torn) || (end.is_some() && !complete);
        match last {
            // Half an object is worse than none: one that lost the end of its metadata would seem to have no
            // finalizers.
            Some(last) if torn => found.gap(
                Some(last.first),
                "cut short within a list; the items before this line were used".into(),
            ),
            Some(last) => {
                object(found, &mut self.list, last);
                mid_line(found, end);
            }
            None if torn => found.gap(Some(first), "a list that was cut short behind its items".into()),
            None => {}
        }
        if !self.bare {
            found.close_list(&self.list, first);
        }
    }
}

fn mid_line(found: &mut Collector<'_>, end: Option<End>) {
    if let Some(End::MidLine(line)) = end {
        found.gap(
            Some(line),
            "does not end with a line break, so it may have been cut short here".into(),
        );
    }
}

fn object(found: &mut Collector<'_>, list: &mut ListHead, item: Chunk) {
    let first = item.first;
    match item.json() {
        Ok(Some(text)) => found.object(&text, list, Place::Line(first), 0),
        Ok(None) => found.gap(Some(first), "an empty item".into()),
        Err(fault) => found.gap(Some(fault.line), fault.message),
    }
}
