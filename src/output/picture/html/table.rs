//! The table of stuck objects, which sorts and filters. Without its script it is a plain table.

use super::text::Html;
use crate::{
    diagnose::Verdict,
    object::Finalizer,
    output::explain,
    report::{DeletionReport, ObjectName},
};

/// One object.
pub(super) struct Row<'a> {
    pub(super) object: &'a ObjectName,
    pub(super) deletion: Option<&'a DeletionReport>,
    pub(super) is_at_risk: bool,
    pub(super) verdict: Option<Verdict>,
    pub(super) finalizers: Vec<&'a Finalizer>,
    /// The cards about it, from 0.
    pub(super) cards: Vec<usize>,
}

/// The table. Rows link to cards, of which the page has this many.
pub(super) fn add(page: &mut Html, rows: &[Row<'_>], card: &'static str, cards: usize) {
    if rows.is_empty() {
        return;
    }
    page.markup("<section><h2>Objects</h2>\n<p class=filter hidden>");
    page.markup("<label>Filter: <input id=filter type=search autocomplete=off></label> ");
    page.markup("<output id=shown for=filter></output></p>\n");
    page.markup("<div class=scroll><table class=objects><thead><tr>");
    for head in ["Object", "Terminating for", "Verdict", "Finalizers", card] {
        page.markup("<th scope=col aria-sort=none><button type=button>");
        page.markup(head).markup("</button></th>");
    }
    page.markup("</tr></thead><tbody>\n");
    for row in rows {
        row.add(page, cards);
    }
    page.markup("</tbody></table></div></section>\n");
}

impl Row<'_> {
    /// End tags that HTML lets out are left out: a page may hold thousands of rows.
    fn add(&self, page: &mut Html, cards: usize) {
        page.markup("<tr><td><code>");
        page.text(&self.object.pasteable()).markup("</code>");
        match self.deletion {
            Some(deletion) => page
                .markup("<td data-sort=")
                .number(deletion.for_seconds)
                .markup(">")
                .text(&deletion.age.to_string()),
            None => page.markup("<td>"),
        };
        page.markup("<td>");
        let is_slow = self.deletion.is_some_and(|deletion| deletion.in_grace_period);
        match self.verdict {
            _ if self.is_at_risk => page.text("AT RISK"),
            _ if is_slow => page.text("SLOW"),
            Some(verdict) => page.text(&explain::verdict(verdict).0),
            None => page,
        };
        page.markup("<td>");
        let names: Vec<_> = self.finalizers.iter().map(ToString::to_string).collect();
        page.text(&names.join(", ")).markup("<td>");
        for (at, &card) in self.cards.iter().enumerate() {
            if at > 0 {
                page.markup(", ");
            }
            link(page, card, cards);
        }
        page.markup("\n");
    }
}

/// The number of a card, with a link if the page has it.
pub(super) fn link(page: &mut Html, card: usize, cards: usize) {
    let number = (card + 1) as i128;
    if card < cards {
        page.markup("<a href=#c").number(number).markup(">");
        page.number(number).markup("</a>");
    } else {
        page.number(number);
    }
}
