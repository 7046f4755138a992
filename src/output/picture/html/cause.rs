//! One cause of a scan as a card: what it is, what a removal costs, who waits for it, and the next command.

use std::collections::BTreeSet;

use super::{
    table::link,
    text::{Html, class},
};
use crate::{
    command::Shown,
    output::{
        scan::{Words, look_of_state},
        together::together_in_words,
    },
    report::{
        ObjectName, ScanReport, gaps,
        root_causes::{RootCauseReport, Row},
    },
};

/// How many objects that wait for the same are listed. The table has all.
const MOST: usize = 10;
/// How many finalizers of a card are named. The table has all.
const FINALIZERS: usize = 3;
/// How deep lists stand in lists.
const DEEPEST: usize = 20;

/// The card of the cause with this number, from 0.
pub(super) struct Card<'a> {
    pub(super) report: &'a ScanReport,
    pub(super) words: &'a Words<'a>,
    pub(super) number: usize,
    pub(super) cause: &'a RootCauseReport,
    /// How many cards the page has.
    pub(super) cards: usize,
}

impl Card<'_> {
    pub(super) fn add(&self, page: &mut Html) {
        let cause = self.cause;
        let look = look_of_state(cause.state);
        let number = (self.number + 1) as i128;
        page.markup("<article class=\"box ").markup(class(look));
        page.markup("\" id=c").number(number).markup("><h3>");
        page.number(number).markup(". ").styled(look, cause.state.word());
        page.markup("</h3><p>");
        for (text, look) in self.words.cause(self.number, cause).parts() {
            page.styled(look, &text);
        }
        page.markup("</p>");
        self.objects(page);
        if let Some(next) = &cause.next {
            page.markup("<p>Next:</p>").command(&Shown::from(next));
        }
        if let Some(together) = &cause.together {
            page.element("p", &together_in_words(together));
            together
                .commands()
                .for_each(|command| _ = page.command(&Shown::from(command)));
        }
        page.markup("</article>\n");
    }

    /// The objects that no worse cause lists.
    fn objects(&self, page: &mut Html) {
        let rows = self.cause.rows.iter();
        let rows: Vec<_> = rows.filter(|row| self.cause.lists(row, self.number)).collect();
        if rows.is_empty() {
            return;
        }
        page.markup("<details open><summary>Waiting for it: ");
        page.number(rows.len() as i128)
            .markup("</summary><ul class=tree>");
        let is_below_another = |row: &Row| {
            let through = row.through.as_ref();
            through.is_some_and(|through| rows.iter().any(|other| self.is(other, through)))
        };
        let first: Vec<_> = rows
            .iter()
            .copied()
            .filter(|row| !is_below_another(row))
            .collect();
        self.list(page, &first, &rows, DEEPEST);
        page.markup("</ul></details>");
        self.finalizers(page, &first);
    }

    /// The finalizers of the objects that wait for the cause itself.
    fn finalizers(&self, page: &mut Html, rows: &[&Row]) {
        let objects = rows.iter().filter(|row| row.through.is_none());
        let objects = objects.filter_map(|row| self.report.terminating.get(row.at));
        let names: BTreeSet<_> = objects
            .flat_map(|object| &object.finalizers)
            .map(ToString::to_string)
            .collect();
        if !names.is_empty() {
            let names: Vec<_> = names.into_iter().collect();
            let some = gaps::first_names(&names, FINALIZERS);
            page.element("p", &format!("Finalizers: {some}"));
        }
    }

    /// Some of the rows, with the others that wait through them below.
    fn list(&self, page: &mut Html, some: &[&Row], all: &[&Row], depth: usize) {
        for row in some.iter().take(MOST) {
            let Some(object) = self.report.terminating.get(row.at) else {
                continue;
            };
            page.markup("<li><code>").text(&object.object.pasteable());
            page.markup("</code>");
            if let Some(deletion) = &object.deletion {
                page.markup(", ").text(&deletion.age.to_string());
            }
            for (at, &other) in row.also.iter().enumerate() {
                page.markup(if at == 0 { ", also cause " } else { ", " });
                link(page, other, self.cards);
            }
            let is_below = |other: &&Row| {
                let through = other.through.as_ref();
                through.is_some_and(|through| self.is(row, through))
            };
            let below: Vec<_> = all.iter().copied().filter(is_below).collect();
            if !below.is_empty() && depth > 0 {
                page.markup("<ul>");
                self.list(page, &below, all, depth - 1);
                page.markup("</ul>");
            }
            page.markup("</li>");
        }
        if let Some(more) = some.len().checked_sub(MOST).filter(|&more| more > 0) {
            page.markup("<li>and ").number(more as i128);
            page.markup(" more, which the table has</li>");
        }
    }

    /// Whether the row is about this object.
    fn is(&self, row: &Row, object: &ObjectName) -> bool {
        self.report.terminating.get(row.at).is_some_and(|report| {
            let own = &report.object;
            (&own.resource, &own.namespace, &own.name) == (&object.resource, &object.namespace, &object.name)
        })
    }
}
