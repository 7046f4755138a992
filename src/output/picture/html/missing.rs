//! What was not read, in plain sight.

use super::text::Html;
use crate::report::{GapReport, gaps};

/// Maximum number of names for one reason.
const NAMES: usize = 50;

/// A box with the gaps, if there are any.
pub(super) fn add(page: &mut Html, heading: &str, not_read: &[GapReport]) {
    let groups = gaps::grouped(not_read);
    if groups.is_empty() {
        return;
    }
    page.markup("<section class=\"box caution\">");
    page.markup("<h3 class=caution>")
        .text(heading)
        .markup("</h3><ul>");
    for group in groups {
        page.markup("<li>");
        page.text(&gaps::first_names(&group.subjects, NAMES));
        page.text(": ").text(&group.why).markup("</li>");
    }
    page.markup("</ul></section>\n");
}

/// A box that says that the run was stopped.
pub(super) fn stopped(page: &mut Html, text: &str) {
    page.markup("<section class=\"box caution\"><p><strong class=caution>");
    page.text(text).markup("</strong></p></section>\n");
}
