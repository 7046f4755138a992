//! Paths of fields of Kubernetes' own kinds, which only the typed views may know.

use std::collections::BTreeSet;

use testkit::syn::{
    File, ImplItemFn, Item, LitStr, Macro,
    buffer::{Cursor, TokenBuffer},
    parse_str,
    visit::{self, Visit},
};

use super::code::{attributes, is_for_tests};

/// The fields that JSON pointers into an object begin with. Only Kubernetes' own kinds have most of them.
const BEGINNINGS: [&str; 9] = [
    "/involvedObject",
    "/metadata",
    "/regarding",
    "/roleRef",
    "/rules",
    "/spec",
    "/status",
    "/subjects",
    "/webhooks",
];

/// The JSON pointers into objects that stand in a file as they are, also in macros.
pub fn field_paths(file: &File) -> BTreeSet<String> {
    let mut search = Search::default();
    search.visit_file(file);
    search.found
}

#[derive(Default)]
struct Search {
    found: BTreeSet<String>,
}

impl Search {
    fn add(&mut self, text: String) {
        let is_below = |beginning: &&str| {
            text.strip_prefix(*beginning)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if BEGINNINGS.iter().any(is_below) {
            self.found.insert(text);
        }
    }

    fn tokens(&mut self, mut at: Cursor<'_>) {
        while let Some((_, after)) = at.token_tree() {
            if let Some((inside, ..)) = at.any_group() {
                self.tokens(inside);
            } else if let Some((literal, _)) = at.literal()
                && let Ok(text) = parse_str::<LitStr>(&literal.to_string())
            {
                self.add(text.value());
            }
            at = after;
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.add(text.value());
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.tokens(TokenBuffer::new2(call.tokens.clone()).begin());
    }
}
