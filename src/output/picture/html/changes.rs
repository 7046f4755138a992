//! What changed since an earlier snapshot: counts, and a table of the objects. What stays is among the others of the page.

use super::text::Html;
use crate::{
    output::scan::{NOT_KNOWN, changes_in_words, reason},
    report::changes::{ChangedObject, ChangesReport},
};

/// So many objects of each kind of change are shown. `-o json` has all.
const SHOWN: usize = 100;

pub(super) fn add(page: &mut Html, changes: &ChangesReport) {
    page.markup("<section><h2>Changes</h2><p><strong>Changes ");
    page.text(&changes_in_words(changes)).markup("</strong></p>");
    let unknown = changes.not_known.iter();
    let unknown: Vec<_> = unknown.map(|one| (&one.object, reason(one))).collect();
    let kinds = [
        ("new", plain(&changes.new)),
        ("went", plain(&changes.went)),
        ("not known", unknown),
    ];
    let hidden: usize = kinds.iter().map(|(_, all)| all.len().saturating_sub(SHOWN)).sum();
    if kinds.iter().any(|(_, all)| !all.is_empty()) {
        page.markup("<div class=scroll><table><thead><tr>");
        for head in ["Change", "Object", "Terminating for", "Why it is not known"] {
            page.markup("<th scope=col>").markup(head).markup("</th>");
        }
        page.markup("</tr></thead><tbody>\n");
        for (word, all) in &kinds {
            for (object, why) in all.iter().take(SHOWN) {
                page.markup("<tr><td>").markup(word).markup("<td><code>");
                page.text(&object.object.pasteable()).markup("</code><td>");
                page.text(&object.age.to_string()).markup("<td>");
                page.text(why).markup("\n");
            }
        }
        page.markup("</tbody></table></div>\n");
    }
    if hidden > 0 {
        page.markup("<p>").number(hidden as i128);
        page.markup(" more are in <code>-o json</code>.</p>");
    }
    if !changes.not_known.is_empty() {
        page.element("p", NOT_KNOWN);
    }
    page.markup("</section>\n");
}

fn plain(objects: &[ChangedObject]) -> Vec<(&ChangedObject, String)> {
    objects.iter().map(|object| (object, String::new())).collect()
}
