//! One page for a browser. It needs nothing else and asks nobody: its policy forbids every request, and every script and
//! style but its own two.

mod cause;
mod changes;
mod explanation;
mod missing;
mod scan;
mod table;
mod text;
mod tree;

use std::io::{self, Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use ring::digest::{SHA256, digest};

use self::text::Html;
use crate::report::{ExplainReport, ScanReport};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// Writes the page about a scan. `filtered` if the user limited the objects.
pub fn write_scan(report: &ScanReport, filtered: bool, out: &mut impl Write) -> io::Result<()> {
    let mut page = begin("Objects stuck in Terminating", report.observed_at);
    page.markup("<p class=faint>Read from ");
    page.element("code", &report.source).markup(".</p>\n");
    scan::add(&mut page, report, filtered)?;
    end(&mut page);
    page.write(out)
}

/// Writes the page about explained objects.
pub fn write_explanations(reports: &[ExplainReport], out: &mut impl Write) -> io::Result<()> {
    let Some(first) = reports.first() else {
        return Ok(());
    };
    let title = match reports {
        [only] => format!("Explanation of {}", only.target.pasteable()),
        all => format!("Explanation of {} objects", all.len()),
    };
    let mut page = begin(&title, first.observed_at);
    explanation::add(&mut page, reports);
    end(&mut page);
    page.write(out)
}

fn begin(title: &str, read: Timestamp) -> Html {
    let mut page = Html::default();
    page.markup("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
    page.markup("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src '");
    page.text(&source_of(STYLE)).markup("'; script-src '");
    page.text(&source_of(SCRIPT));
    page.markup("'; base-uri 'none'; form-action 'none'\">\n");
    page.markup("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
    page.markup("<meta name=referrer content=no-referrer>\n");
    page.element("title", title).markup("\n<style>").markup(STYLE);
    page.markup("</style>\n</head>\n<body>\n<header>\n");
    page.element("h1", title).markup("\n<p class=faint>As of <time>");
    page.text(&read.strftime("%Y-%m-%d %H:%M").to_string());
    page.markup(" UTC</time>, by kubectl-finalizers v");
    page.markup(env!("CARGO_PKG_VERSION"));
    page.markup(".</p>\n</header>\n<main>\n");
    page
}

fn end(page: &mut Html) {
    page.markup("</main>\n<script>").markup(SCRIPT);
    page.markup("</script>\n</body>\n</html>\n");
}

/// The source in a policy that allows exactly this text.
fn source_of(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}
