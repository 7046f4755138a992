//! What the code of one file names, as syn parses it. Items for tests only are left out.

use std::collections::BTreeSet;

use testkit::syn::{
    Attribute, Expr, ExprMethodCall, ImplItemFn, Item, ItemMod, ItemUse, Macro, Meta, Token, UseTree,
    Visibility,
    buffer::{Cursor, TokenBuffer},
    ext::IdentExt,
    parse::Parser,
    punctuated::Punctuated,
    visit::{self, Visit},
};

use super::{field_paths::field_paths, modules::Segments, said_text};

#[derive(Default)]
pub struct Code {
    /// Each path of more than one segment and each import, with the module around it.
    pub paths: BTreeSet<(Segments, Segments)>,
    /// Each import: the module, the local name and the path.
    pub uses: Vec<(Segments, String, Segments)>,
    /// Modules that have no file of their own.
    pub inline_modules: Vec<Segments>,
    /// Modules that are compiled for tests only.
    pub test_modules: Vec<Segments>,
    /// The macros that are called.
    pub macros: BTreeSet<String>,
    /// The methods that are called, with the number of their arguments.
    pub calls: BTreeSet<(String, usize)>,
    /// Where said text is taken apart.
    pub inspections: BTreeSet<String>,
    /// The JSON pointers into objects.
    pub field_paths: BTreeSet<String>,
    /// Whether a module is taken from a file of another name.
    pub has_path_attribute: bool,
    /// The module that is being read.
    module: Segments,
}

/// Reads a file of this module.
pub fn read(name: &str, text: &str, module: &[String]) -> Code {
    let file = testkit::syn::parse_file(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut code = Code {
        module: module.to_vec(),
        inspections: said_text::inspections(&file),
        field_paths: field_paths(&file),
        ..Code::default()
    };
    code.visit_file(&file);
    code
}

impl Code {
    fn path(&mut self, path: Segments) {
        if path.len() > 1 {
            self.paths.insert((self.module.clone(), path));
        }
    }

    fn import(&mut self, before: &[String], tree: &UseTree) {
        let (name, last) = match tree {
            UseTree::Path(path) => {
                let before = [before, &[path.ident.unraw().to_string()]].concat();
                return self.import(&before, &path.tree);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree);
                }
                return;
            }
            UseTree::Glob(_) => return self.path(before.to_vec()),
            UseTree::Name(name) => (name.ident.unraw(), name.ident.unraw()),
            UseTree::Rename(rename) => (rename.rename.unraw(), rename.ident.unraw()),
        };
        let (mut name, last) = (name.to_string(), last.to_string());
        let mut path = before.to_vec();
        if last != "self" {
            path.push(last);
        } else if name == "self" {
            name = path.last().cloned().unwrap_or_default();
        }
        self.uses.push((self.module.clone(), name, path.clone()));
        self.path(path);
    }

    /// The paths and method calls in tokens that are no expressions, such as the arms of `select!`.
    fn tokens(&mut self, mut at: Cursor<'_>) {
        let mut path = Segments::new();
        // What stands between the last identifier and here.
        let mut joint = String::new();
        while !at.eof() {
            if let Some((ident, after)) = at.ident() {
                if joint == "." {
                    let arguments = after.any_group().map(|(inside, ..)| arguments(inside));
                    self.calls
                        .extend(arguments.map(|count| (ident.to_string(), count)));
                }
                if joint != "::" {
                    self.path(std::mem::take(&mut path));
                }
                path.push(ident.unraw().to_string());
                joint.clear();
                at = after;
            } else if let Some((inside, _, _, after)) = at.any_group() {
                self.tokens(inside);
                joint.push('(');
                at = after;
            } else if let Some((punct, after)) = at.punct() {
                joint.push(punct.as_char());
                at = after;
            } else if let Some((_, after)) = at.token_tree() {
                joint.push('"');
                at = after;
            }
        }
        self.path(path);
    }
}

impl Code {
    /// The paths in the strings of an attribute, as in `#[serde(with = "crate::text")]`.
    fn quoted_paths(&mut self, mut at: Cursor<'_>) {
        while let Some((_, after)) = at.token_tree() {
            if let Some((inside, ..)) = at.any_group() {
                self.quoted_paths(inside);
            } else if let Some((literal, _)) = at.literal() {
                let text = literal.to_string();
                let path = testkit::syn::parse_str::<testkit::syn::Path>(text.trim_matches('"'));
                if let Ok(path) = path {
                    self.visit_path(&path);
                }
            }
            at = after;
        }
    }
}

/// How many arguments stand in these parentheses.
fn arguments(mut at: Cursor<'_>) -> usize {
    let (mut count, mut is_open) = (0, false);
    while let Some((_, after)) = at.token_tree() {
        let is_comma = at.punct().is_some_and(|(punct, _)| punct.as_char() == ',');
        count += usize::from(!is_comma && !is_open);
        is_open = !is_comma;
        at = after;
    }
    count
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            return visit::visit_item(self, item);
        }
        if let Item::Mod(item) = item {
            let module = [&*self.module, &[item.ident.unraw().to_string()]].concat();
            self.test_modules.push(module);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.has_path_attribute |= item
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("path"));
        if item.content.is_some() {
            self.module.push(item.ident.unraw().to_string());
            self.inline_modules.push(self.module.clone());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast testkit::syn::Path) {
        let segments = path.segments.iter();
        self.path(
            segments
                .map(|segment| segment.ident.unraw().to_string())
                .collect(),
        );
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.calls.insert((call.method.to_string(), call.args.len()));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.macros
            .extend(call.path.segments.last().map(|segment| segment.ident.to_string()));
        let expressions = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone());
        match expressions {
            Ok(expressions) => expressions
                .iter()
                .for_each(|expression| self.visit_expr(expression)),
            Err(_) => self.tokens(TokenBuffer::new2(call.tokens.clone()).begin()),
        }
    }

    /// An attribute may name functions and types, also in strings. Documentation is no code.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            Meta::Path(path) => self.visit_path(path),
            Meta::List(list) => {
                let tokens = TokenBuffer::new2(list.tokens.clone());
                self.tokens(tokens.begin());
                self.quoted_paths(tokens.begin());
            }
            Meta::NameValue(pair) if !pair.path.is_ident("doc") => self.visit_expr(&pair.value),
            Meta::NameValue(_) => {}
        }
    }

    /// It can only name a module around this one, and uses nothing of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args().is_ok_and(|when| demands_test(&when))
        }
        _ => false,
    })
}

/// Whether a condition of `cfg` holds only for tests: `test`, or `all` with it.
fn demands_test(when: &Meta) -> bool {
    match when {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let all = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            all.is_ok_and(|all| all.iter().any(demands_test))
        }
        _ => false,
    }
}

pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
