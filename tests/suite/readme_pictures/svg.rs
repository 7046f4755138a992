//! The output of a terminal as SVG: a line of text for each line, in cells of one width.

use std::fmt::Write as _;

/// The colours of a terminal, named by what they mean (`output/style.rs`).
pub struct Palette {
    background: &'static str,
    border: &'static str,
    text: &'static str,
    faint: &'static str,
    red: &'static str,
    green: &'static str,
    yellow: &'static str,
    cyan: &'static str,
}

pub const LIGHT: Palette = Palette {
    background: "#ffffff",
    border: "#d0d7de",
    text: "#1f2328",
    faint: "#59636e",
    red: "#b3202b",
    green: "#1a7f37",
    yellow: "#805600",
    cyan: "#0f6c80",
};

pub const DARK: Palette = Palette {
    background: "#0d1117",
    border: "#30363d",
    text: "#e6edf3",
    faint: "#9198a1",
    red: "#ff8078",
    green: "#56d364",
    yellow: "#e3b341",
    cyan: "#76d4e3",
};

/// Tenths of a pixel of a cell.
const WIDTH: usize = 84;
/// Pixels of a line, and around the text.
const HEIGHT: usize = 20;
const MARGIN: usize = 16;

/// How a part of a line looks.
#[derive(Clone, Copy, Default, PartialEq)]
struct Look {
    bold: bool,
    faint: bool,
    colour: u32,
}

/// A part of a line with its look, and its column.
struct Part {
    column: usize,
    text: String,
    look: Look,
}

/// The picture of a command and what it printed.
pub fn of(command: &str, printed: &str, palette: &Palette) -> String {
    let prompt = format!("\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m");
    let lines: Vec<_> = [prompt.as_str(), ""]
        .into_iter()
        .chain(printed.trim_end().lines())
        .scan(Look::default(), |look, line| Some(parts(line, look)))
        .collect();
    let columns = lines.iter().filter_map(|parts| parts.last());
    let columns = columns.map(|part| part.column + part.text.chars().count()).max();
    let width = (columns.unwrap_or(0) * WIDTH).div_ceil(10) + 2 * MARGIN;
    let height = lines.len() * HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="title desc">
<title id="title">{}</title>
<desc id="desc">{}</desc>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="8" fill="{}" stroke="{}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="{}">
"#,
        escaped(&format!("Output of {command}")),
        escaped(&plain(printed)),
        width - 1,
        height - 1,
        palette.background,
        palette.border,
        palette.text,
    );
    for (at, parts) in lines.iter().enumerate().filter(|(_, parts)| !parts.is_empty()) {
        let y = MARGIN + at * HEIGHT + 15;
        let _ = write!(svg, "<text y=\"{y}\">");
        for part in parts {
            let x = pixels(10 * MARGIN + part.column * WIDTH);
            let length = pixels(part.text.chars().count() * WIDTH);
            let _ = write!(
                svg,
                "<tspan x=\"{x}\" textLength=\"{length}\"{}>{}</tspan>",
                palette.attributes(part.look),
                escaped(&part.text)
            );
        }
        svg += "</text>\n";
    }
    svg + "</g>\n</svg>\n"
}

impl Palette {
    fn attributes(&self, look: Look) -> String {
        let mut attributes = String::new();
        let colour = match look.colour {
            31 => self.red,
            32 => self.green,
            33 => self.yellow,
            36 => self.cyan,
            0 if look.faint => self.faint,
            0 => "",
            other => panic!("the terminal has no colour {other}"),
        };
        if !colour.is_empty() {
            let _ = write!(attributes, " fill=\"{colour}\"");
        }
        if look.bold {
            attributes += " font-weight=\"bold\"";
        }
        attributes
    }
}

/// The parts of a line that have something to see. A look lasts until the next code.
fn parts(line: &str, look: &mut Look) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut column = 0;
    for (at, piece) in line.split("\x1b[").enumerate() {
        let mut text = piece;
        if at > 0 {
            let (codes, rest) = piece.split_once('m').expect("the end of a code");
            for code in codes.split(';') {
                match code.parse().expect("a code") {
                    0 => *look = Look::default(),
                    1 => look.bold = true,
                    2 => look.faint = true,
                    22 => (look.bold, look.faint) = (false, false),
                    39 => look.colour = 0,
                    colour => look.colour = colour,
                }
            }
            text = rest;
        }
        // Not every viewer keeps several spaces.
        for (at, text) in text.split("  ").enumerate() {
            column += if at > 0 { 2 } else { 0 };
            let length = text.chars().count();
            let seen = text.trim();
            if !seen.is_empty() {
                parts.push(Part {
                    column: column + length - text.trim_start().chars().count(),
                    text: seen.to_owned(),
                    look: *look,
                });
            }
            column += length;
        }
    }
    parts
}

/// What was printed as one text to be read aloud.
fn plain(printed: &str) -> String {
    let mut text = String::new();
    for (at, piece) in printed.split("\x1b[").enumerate() {
        let code = piece.find('m').filter(|_| at > 0);
        text += &piece[code.map_or(0, |end| end + 1)..];
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tenths of a pixel as pixels.
fn pixels(tenths: usize) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
