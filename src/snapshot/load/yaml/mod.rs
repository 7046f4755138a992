//! Cuts YAML into documents, and lists into items, by the indentation of each line.
//!
//! This is no YAML parser. It only finds where objects begin and end in block style, which every tool prints. A
//! document ends at `---` or `...` in the first column, which nothing else may have there. The items of a list begin at
//! dashes of one indentation, and everything else in an item is indented deeper. So quoted or literal text never looks
//! like structure: it is indented deeper than its item. Other styles (flow style, a list without `items`) go to the
//! parser in one piece.
//!
//! Cutting has three uses. A fault affects one object and has the right line. Memory is that of one object. A file that
//! was cut short can be detected: it may still be YAML, but kubectl prints `kind: List` *after* the items.

mod chunk;

use std::io::{self, BufRead, Read};

use self::chunk::{Chunk, is_dash, simple_key, split_indent};
use super::{
    collect::{Collector, ListHead},
    json,
    place::Location,
};

/// An API server accepts no object larger than a few megabytes. A longer line is no object, and neither is a file
/// without lines.
const MAX_LINE: u64 = 16 << 20;

/// Reads all documents.
pub(super) fn read(collector: &mut Collector<'_>, reader: &mut dyn BufRead) {
    let whole = collector.whole.is_some();
    let mut document = Document::new(whole);
    let mut line = Vec::new();
    let mut number = 0;
    let mut any = false;
    let mut terminated = true;
    loop {
        line.clear();
        match reader.take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(length) if length as u64 == MAX_LINE && line.last() != Some(&b'\n') => {
                collector.gap(
                    Some(number + 1),
                    "a line too long for any object; the rest was not read".into(),
                );
                document.end(collector, Some(End::Unread));
                return;
            }
            Ok(_) => {}
            Err(cause) => {
                collector.gap(Some(number + 1), unreadable(&cause));
                document.end(collector, Some(End::Unread));
                return;
            }
        }
        number += 1;
        terminated = line.last() == Some(&b'\n');
        let text = line.trim_ascii_end();
        any |= !text.is_empty();
        match marker(text) {
            None => document.push(collector, text, number),
            Some(rest) => {
                std::mem::replace(&mut document, Document::new(whole)).end(collector, None);
                document.push(collector, rest, number);
            }
        }
    }
    if !any {
        collector.gap(None, "empty".into());
    }
    document.end(
        collector,
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

/// What follows a document mark, if the line is one.
fn marker(line: &[u8]) -> Option<&[u8]> {
    if line == b"..." {
        return Some(b"");
    }
    let rest = line.strip_prefix(b"---")?;
    matches!(rest.first(), None | Some(b' ' | b'\t')).then_some(rest)
}

/// How the last document of a file ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The file ends with a line break.
    Clean,
    /// The file ends within this line.
    MidLine(u64),
    /// Reading stopped here.
    Unread,
}

/// The document that is being read.
#[derive(Default)]
struct Document {
    /// The indentation of its keys, once known.
    column: Option<usize>,
    /// All lines except the items of a list.
    head: Chunk,
    items: Option<Items>,
    list: ListHead,
    /// Whether it has `items:` in block style.
    is_list: bool,
    /// Whether it is a sequence of objects without `items:`.
    is_sequence: bool,
    /// Whether to keep whole objects.
    whole: bool,
}

/// The items of a list.
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

    fn push(&mut self, collector: &mut Collector<'_>, line: &[u8], number: u64) {
        let (indent, content) = split_indent(line);
        if matches!(content.first(), None | Some(b'#')) {
            match &mut self.items {
                Some(Items { item: Some(item), .. }) => item.push(line, number),
                Some(_) => {}
                None => self.head.push(line, number),
            }
            return;
        }
        if self.column.is_none() {
            // Directives such as `%YAML 1.2` precede a document.
            if content.starts_with(b"%") {
                return;
            }
            self.column = Some(indent);
            self.head.column = Some(indent);
            if is_dash(content) {
                self.is_sequence = true;
                self.items = Some(Items::default());
            }
        }
        if self.in_items(collector, indent, content, line, number) {
            return;
        }
        let key = simple_key(content);
        if self.column == Some(indent) && matches!(key, Some((b"items", b""))) {
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

    /// Takes a line of the items, or ends them at the first line that is none. Returns whether it took the line.
    fn in_items(
        &mut self,
        collector: &mut Collector<'_>,
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
                end_item(collector, &mut self.list, item);
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
        let mut next = Chunk::new(number, self.whole);
        // The dash counts as indentation of the item, like the space after it.
        let mut first = line.to_vec();
        if let Some(dash) = first.get_mut(indent) {
            *dash = b' ';
        }
        next.push(&first, number);
        if let Some(item) = items.item.replace(next) {
            end_item(collector, &mut self.list, item);
        }
        true
    }

    /// Ends the document, at a mark or at the end of the file.
    fn end(mut self, collector: &mut Collector<'_>, end: Option<End>) {
        let first = self.head.first;
        let last = self.items.take().and_then(|items| items.item);
        if self.is_list || self.is_sequence {
            return self.end_list(collector, last, end);
        }
        note_mid_line(collector, end);
        match self.head.json() {
            Ok(None) => {}
            Ok(Some(text)) => {
                if let Err(error) = json::value(collector, &text, Location::Line(first), 0) {
                    let what = error.to_string();
                    let what = what.split(" at line ").next().unwrap_or_default();
                    collector.gap(Some(first), format!("not an object: {what}"));
                }
            }
            Err(fault) => collector.gap(Some(fault.line), fault.message),
        }
    }

    /// Ends a list. The `last` item is not taken yet if the file ends with it.
    fn end_list(mut self, collector: &mut Collector<'_>, last: Option<Chunk>, end: Option<End>) {
        let first = self.head.first;
        let kind = self.list.kind.as_deref();
        let complete = self.is_sequence || kind.is_some_and(|kind| kind.ends_with("List"));
        let is_cut = end == Some(End::Unread) || (end.is_some() && !complete);
        match last {
            // Half an object is worse than none: without the end of its metadata it would seem to have no finalizers.
            Some(last) if is_cut => collector.gap(
                Some(last.first),
                "cut short within a list; the items before this line were used".into(),
            ),
            Some(last) => {
                end_item(collector, &mut self.list, last);
                note_mid_line(collector, end);
            }
            None if is_cut => collector.gap(Some(first), "a list that was cut short behind its items".into()),
            None => {}
        }
        if !self.is_sequence {
            collector.close_list(&self.list, first);
        }
    }
}

fn note_mid_line(collector: &mut Collector<'_>, end: Option<End>) {
    if let Some(End::MidLine(line)) = end {
        collector.gap(
            Some(line),
            "does not end with a line break, so it may have been cut short here".into(),
        );
    }
}

fn end_item(collector: &mut Collector<'_>, list: &mut ListHead, item: Chunk) {
    let first = item.first;
    match item.json() {
        Ok(Some(text)) => json::object(collector, &text, list, Location::Line(first), 0),
        Ok(None) => collector.gap(Some(first), "an empty item".into()),
        Err(fault) => collector.gap(Some(fault.line), fault.message),
    }
}
