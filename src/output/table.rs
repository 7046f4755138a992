//! Tables that fit: columns are hidden before anything is cut, the one long column is cut before any other, and goes
//! below its row before it says nothing. comfy-table lays out what is left.

use comfy_table::{ContentArrangement, Table, presets};
use unicode_width::UnicodeWidthStr;

use super::{Style, safe::harmless};

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// When it goes if the terminal is too narrow: the highest number first, and never with none.
    pub hide: Option<u8>,
    /// Whether its texts may be cut to what is left of the line.
    pub cut: bool,
}

impl Column {
    /// A column that stays whole as long as it can.
    pub const fn fixed(heading: &'static str) -> Self {
        Column {
            heading,
            hide: None,
            cut: false,
        }
    }

    /// A column that can be done without.
    pub const fn optional(heading: &'static str, hide: u8) -> Self {
        Column {
            heading,
            hide: Some(hide),
            cut: false,
        }
    }

    /// The column that takes what is left.
    pub const fn rest(heading: &'static str) -> Self {
        Column {
            heading,
            hide: None,
            cut: true,
        }
    }
}

/// Spaces between columns.
const GAP: usize = 3;
/// A column of names narrower than this says nothing.
const NARROWEST: usize = 16;
/// The cut column goes below its row before it becomes narrower than this.
const SENTENCE: usize = 32;
/// Lines that it may take there.
const BELOW: usize = 3;

/// The table as rows without trailing spaces; the first is the heading if it has one. `indent` spaces stand before
/// each. Where the cut column has no room it stands below its row, indented, in lines of its own. Cells are made
/// harmless here.
pub fn lines(
    columns: &[Column],
    rows: &[Vec<String>],
    style: &Style,
    indent: usize,
    headings: bool,
) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| harmless(cell).into_owned()).collect())
        .collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|at| {
            let cells = rows.iter().map(|row| row[at].width()).max().unwrap_or(0);
            if headings {
                cells.max(columns[at].heading.width())
            } else {
                cells
            }
        })
        .collect();
    // A column without a single entry is only air.
    let mut shown: Vec<usize> = (0..columns.len())
        .filter(|&at| rows.iter().any(|row| !row[at].is_empty()))
        .collect();
    let room = style
        .width
        .map(|width| width.saturating_sub(indent).max(NARROWEST));
    let mut widths = widths;
    let mut below = None;
    if let Some(room) = room {
        let all = shown.clone();
        hide(columns, &widths, &mut shown, room);
        let sentence = shown.iter().copied().find(|&at| columns[at].cut);
        if let Some(at) = sentence
            && shown.len() > 1
            && taken(columns, &widths, &shown) + widths[at].min(SENTENCE) > room
        {
            // With the sentence out of the way, others that went for it may fit.
            below = Some(at);
            shown = all.into_iter().filter(|&other| other != at).collect();
            hide(columns, &widths, &mut shown, room);
        }
        shrink(columns, &mut widths, &mut shown, room);
    }
    let rest = room.map(|room| {
        room.saturating_sub(taken(columns, &widths, &shown))
            .max(NARROWEST)
    });

    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if headings {
        table.set_header(shown.iter().map(|&at| match rest {
            Some(rest) if columns[at].cut => cut(columns[at].heading, rest, style),
            _ => cut(columns[at].heading, widths[at], style),
        }));
    }
    for row in &rows {
        table.add_row(shown.iter().map(|&at| match rest {
            Some(rest) if columns[at].cut => cut(&row[at], rest, style),
            Some(_) => cut(&row[at], widths[at], style),
            None => row[at].clone(),
        }));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, u16::try_from(GAP).unwrap_or(1)));
    }
    let margin = " ".repeat(indent);
    let mut lines: Vec<_> = table
        .lines()
        .map(|line| format!("{margin}{}", line.trim_end()))
        .collect();
    if let (Some(at), Some(room)) = (below, room) {
        let first = usize::from(headings);
        for (line, row) in lines.iter_mut().skip(first).zip(&rows) {
            put_below(line, &row[at], indent + 3, room + indent, style);
        }
    }
    lines
}

/// Columns that all but the cut one take, with their gaps.
fn taken(columns: &[Column], widths: &[usize], shown: &[usize]) -> usize {
    let others = shown.iter().filter(|&&at| !columns[at].cut);
    others.map(|&at| widths[at]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

fn put_below(line: &mut String, text: &str, indent: usize, width: usize, style: &Style) {
    if text.is_empty() {
        return;
    }
    let room = width.saturating_sub(indent).max(NARROWEST);
    let wrapped = wrap(text, Some(room), 0);
    let parts: Vec<&str> = wrapped.split('\n').collect();
    let margin = " ".repeat(indent);
    for (at, part) in parts.iter().take(BELOW).enumerate() {
        line.push('\n');
        line.push_str(&margin);
        if at + 1 == BELOW && parts.len() > BELOW {
            // What follows is cut together with it.
            line.push_str(&cut(&parts[at..].join(" "), room, style));
        } else {
            line.push_str(&cut(part, room, style));
        }
    }
}

/// Takes columns away until the rest fits, with a useful width for the one that may be cut.
fn hide(columns: &[Column], widths: &[usize], shown: &mut Vec<usize>, room: usize) {
    loop {
        let needed: usize = shown
            .iter()
            .map(|&at| {
                if columns[at].cut {
                    widths[at].min(SENTENCE)
                } else {
                    widths[at]
                }
            })
            .sum::<usize>()
            + GAP * shown.len().saturating_sub(1);
        let victim = shown
            .iter()
            .copied()
            .filter(|&at| columns[at].hide.is_some())
            .max_by_key(|&at| columns[at].hide);
        match victim {
            Some(victim) if needed > room => shown.retain(|&at| at != victim),
            _ => return,
        }
    }
}

/// The last resort, where even the columns that are never hidden do not fit. What stands on the right explains
/// what stands on the left, so columns go from the right; the first two say what the row is about and are cut,
/// the widest first.
fn shrink(columns: &[Column], widths: &mut [usize], shown: &mut Vec<usize>, room: usize) {
    let narrowest = |at: usize, widths: &[usize]| {
        if columns[at].cut {
            widths[at].min(NARROWEST)
        } else {
            widths[at]
        }
    };
    loop {
        let gaps = GAP * shown.len().saturating_sub(1);
        let needed = shown.iter().map(|&at| narrowest(at, widths)).sum::<usize>() + gaps;
        if needed <= room {
            return;
        }
        if shown.len() > 2 {
            shown.pop();
            continue;
        }
        let Some(widest) = shown.iter().copied().max_by_key(|&at| narrowest(at, widths)) else {
            return;
        };
        let others = needed - narrowest(widest, widths);
        let other_half = room.saturating_sub(gaps) / 2;
        let fitting = room.saturating_sub(others).max(other_half);
        if fitting >= widths[widest] {
            return;
        }
        widths[widest] = fitting;
    }
}

/// The beginning of `text`, at most `width` columns wide with its ellipsis.
pub fn cut(text: &str, width: usize, style: &Style) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let ellipsis = style.ellipsis();
    let mut kept = String::new();
    let mut used = ellipsis.width();
    for c in text.chars() {
        used += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    format!("{}{ellipsis}", kept.trim_end())
}

/// Breaks `text` at spaces into lines of at most `width` columns, those after the first indented by `indent`.
/// A word that is wider than a line keeps a line of its own, whole, so that it can be copied.
pub fn wrap(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let margin = " ".repeat(indent);
    let first = text.trim_start_matches(' ');
    let (mut wrapped, mut column) = (text[..text.len() - first.len()].to_owned(), 0);
    let lead = wrapped.len();
    for word in first.split(' ') {
        if column == 0 {
            column = lead;
        } else if column + 1 + word.width() > width {
            wrapped.truncate(wrapped.trim_end().len());
            wrapped.push('\n');
            wrapped.push_str(&margin);
            column = indent;
        } else {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += word.width();
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::fixed("object"),
        Column::optional("age", 1),
        Column::rest("reason"),
    ];

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    fn at(width: Option<usize>) -> Vec<String> {
        let rows = [
            row(["pvc/data-0", "2h", "a pod that is running uses the claim"]),
            row(["pv/x", "", "short"]),
        ];
        lines(
            &COLUMNS,
            &rows,
            &Style {
                width,
                unicode: true,
                ..Style::default()
            },
            1,
            true,
        )
    }

    #[test]
    fn a_pipe_gets_everything() {
        assert_eq!(
            at(None),
            [
                " object       age   reason",
                " pvc/data-0   2h    a pod that is running uses the claim",
                " pv/x               short"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_loses_columns_before_words() {
        assert_eq!(
            at(Some(47)),
            [
                " object       reason",
                " pvc/data-0   a pod that is running uses the c…",
                " pv/x         short"
            ]
        );
    }

    #[test]
    fn on_a_narrower_one_the_sentence_stands_below_its_row() {
        assert_eq!(
            at(Some(40)),
            [
                " object       age",
                " pvc/data-0   2h\n    a pod that is running uses the claim",
                " pv/x\n    short"
            ]
        );
        assert_eq!(
            at(Some(24))[1],
            " pvc/data-0   2h\n    a pod that is\n    running uses the\n    claim"
        );
        let lines = at(Some(10)).join("\n");
        assert!(lines.lines().all(|line| line.width() <= 4 + NARROWEST), "{lines}");
    }

    #[test]
    fn wide_characters_count_for_what_they_take() {
        assert_eq!(
            cut(
                "你好世界",
                5,
                &Style {
                    unicode: true,
                    ..Style::default()
                }
            ),
            "你好…"
        );
        assert_eq!(cut("abcdef", 5, &Style::default()), "ab...");
    }

    #[test]
    fn wrapping_keeps_words_whole() {
        assert_eq!(wrap("one two three", Some(8), 2), "one two\n  three");
        assert_eq!(wrap("aaaaaaaaaaaa b", Some(5), 0), "aaaaaaaaaaaa\nb");
    }
}
