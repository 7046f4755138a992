//! Tables that fit the terminal. Optional columns are hidden before any text is cut. The one long column is
//! cut before the others, and moves below its row before it becomes unreadable. comfy-table lays out the
//! rest.

use comfy_table::{ContentArrangement, Table, presets};
use unicode_width::UnicodeWidthStr;

use super::{Style, safe::harmless};

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading.
    pub heading: &'static str,
    /// The order in which columns are hidden on a narrow terminal: the highest number first, none means
    /// never.
    pub hide: Option<u8>,
    /// Whether its texts may be cut to the rest of the line.
    pub cut: bool,
}

impl Column {
    /// A column that is cut only as a last resort.
    pub const fn fixed(heading: &'static str) -> Self {
        Column {
            heading,
            hide: None,
            cut: false,
        }
    }

    /// A column that can be hidden.
    pub const fn optional(heading: &'static str, hide: u8) -> Self {
        Column {
            heading,
            hide: Some(hide),
            cut: false,
        }
    }

    /// The column that gets the rest of the line.
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
/// The minimum width of a readable column of names.
const NARROWEST: usize = 16;
/// The cut column moves below its row before it becomes narrower than this.
const SENTENCE: usize = 32;
/// Maximum number of lines below the row.
const BELOW: usize = 3;

/// The table as lines without trailing spaces. The first line is the heading, if there is one. `indent`
/// spaces stand before each line. If the cut column has no room, it goes below its row on indented lines.
/// Cells are made harmless here.
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
    // Hide columns without any entry.
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
            && fixed_width(columns, &widths, &shown) + widths[at].min(SENTENCE) > room
        {
            // Without the cut column, columns that were hidden for it may fit again.
            below = Some(at);
            shown = all.into_iter().filter(|&other| other != at).collect();
            hide(columns, &widths, &mut shown, room);
        }
        shrink(columns, &mut widths, &mut shown, room);
    }
    let rest = room.map(|room| {
        room.saturating_sub(fixed_width(columns, &widths, &shown))
            .max(NARROWEST)
    });

    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if headings {
        table.set_header(shown.iter().map(|&at| match rest {
            Some(rest) if columns[at].cut => truncate(columns[at].heading, rest, style),
            _ => truncate(columns[at].heading, widths[at], style),
        }));
    }
    for row in &rows {
        table.add_row(shown.iter().map(|&at| match rest {
            Some(rest) if columns[at].cut => truncate(&row[at], rest, style),
            Some(_) => truncate(&row[at], widths[at], style),
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

/// The width of all columns except the cut one, including gaps.
fn fixed_width(columns: &[Column], widths: &[usize], shown: &[usize]) -> usize {
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
            // The remaining lines are cut together with this one.
            line.push_str(&truncate(&parts[at..].join(" "), room, style));
        } else {
            line.push_str(&truncate(part, room, style));
        }
    }
}

/// Hides columns until the rest fits, with a useful width for the cut column.
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

/// The last resort if even the fixed columns do not fit. Columns on the right explain those on the left, so
/// columns are dropped from the right. The first two identify the row. They are cut, the widest first.
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

/// The beginning of `text`, at most `width` columns wide including the ellipsis.
pub fn truncate(text: &str, width: usize, style: &Style) -> String {
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

/// Wraps `text` at spaces into lines of at most `width` columns. Lines after the first are indented by
/// `indent`. A word that is wider than a line keeps its own line, so that it can be copied.
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
    fn shows_everything_in_a_pipe() {
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
    fn hides_columns_before_it_truncates_words() {
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
    fn moves_the_truncated_column_below_its_row_on_a_very_narrow_terminal() {
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
    fn measures_wide_characters_in_columns() {
        assert_eq!(
            truncate(
                "你好世界",
                5,
                &Style {
                    unicode: true,
                    ..Style::default()
                }
            ),
            "你好…"
        );
        assert_eq!(truncate("abcdef", 5, &Style::default()), "ab...");
    }

    #[test]
    fn wraps_only_between_words() {
        assert_eq!(wrap("one two three", Some(8), 2), "one two\n  three");
        assert_eq!(wrap("aaaaaaaaaaaa b", Some(5), 0), "aaaaaaaaaaaa\nb");
    }
}
