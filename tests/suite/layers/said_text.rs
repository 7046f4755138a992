//! Code that takes said text apart: it looks for a word in what is printed, where a field should tell. And code that joins
//! clauses, which only the output does.

use std::collections::BTreeSet;

use testkit::syn::{
    BinOp, Expr, ExprBinary, ExprMethodCall, File, FnArg, ImplItemFn, Item, ItemFn, Local, Member, Pat,
    visit::{self, Visit},
};

use super::code::{attributes, is_for_tests};

/// The fields with words for people.
const FIELDS: [&str; 8] = ["headline", "now", "once", "says", "text", "then", "value", "why"];
/// The methods that give words for people.
const METHODS: [&str; 6] = ["about_object", "in_words", "message", "said", "says", "summary"];
/// The methods that look into a text, and the one that joins clauses.
const INSPECTING: [&str; 19] = [
    "contains",
    "ends_with",
    "eq_ignore_ascii_case",
    "find",
    "join",
    "matches",
    "replace",
    "replacen",
    "rfind",
    "rsplit",
    "rsplit_once",
    "split",
    "split_at",
    "split_once",
    "split_whitespace",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];
/// The methods that give the same text in another form.
const FORMS: [&str; 15] = [
    "as_deref",
    "as_ref",
    "as_str",
    "borrow",
    "chars",
    "clone",
    "iter",
    "lines",
    "to_ascii_lowercase",
    "to_lowercase",
    "to_owned",
    "to_string",
    "trim",
    "trim_end_matches",
    "unwrap_or_default",
];

/// Each place of a file that looks into said text: the function and what it calls, as `function: text.contains`.
pub fn inspections(file: &File) -> BTreeSet<String> {
    let mut search = Search::default();
    search.visit_file(file);
    search.found
}

#[derive(Default)]
struct Search {
    found: BTreeSet<String>,
    /// The function that is being read.
    function: String,
    /// Its variables that hold said text.
    variables: BTreeSet<String>,
}

impl Search {
    /// The field, method or variable that this expression takes said text from.
    fn said(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Reference(inner) => self.said(&inner.expr),
            Expr::Paren(inner) => self.said(&inner.expr),
            Expr::Unary(inner) => self.said(&inner.expr),
            Expr::Try(inner) => self.said(&inner.expr),
            Expr::Field(field) => {
                let Member::Named(name) = &field.member else {
                    return None;
                };
                Some(name.to_string()).filter(|name| FIELDS.contains(&&**name))
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                if METHODS.contains(&&*name) && call.args.is_empty() {
                    return Some(name);
                }
                FORMS
                    .contains(&&*name)
                    .then(|| self.said(&call.receiver))
                    .flatten()
            }
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                self.variables.contains(&name).then_some(name)
            }
            _ => None,
        }
    }

    fn add(&mut self, what: &str, how: &str) {
        self.found.insert(format!("{}: {what}.{how}", self.function));
    }

    fn in_function(&mut self, name: String, read: impl FnOnce(&mut Self)) {
        let function = std::mem::replace(&mut self.function, name);
        let variables = std::mem::take(&mut self.variables);
        read(self);
        self.function = function;
        self.variables = variables;
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.in_function(item.sig.ident.to_string(), |search| {
            visit::visit_item_fn(search, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.in_function(item.sig.ident.to_string(), |search| {
                visit::visit_impl_item_fn(search, item);
            });
        }
    }

    /// A parameter that is called `says` holds said text.
    fn visit_fn_arg(&mut self, argument: &'ast FnArg) {
        if let FnArg::Typed(argument) = argument
            && let Pat::Ident(name) = &*argument.pat
            && name.ident == "says"
        {
            self.variables.insert(name.ident.to_string());
        }
        visit::visit_fn_arg(self, argument);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        visit::visit_local(self, local);
        if let (Pat::Ident(name), Some(value)) = (&local.pat, &local.init) {
            let name = name.ident.to_string();
            if self.said(&value.expr).is_some() {
                self.variables.insert(name);
            } else {
                self.variables.remove(&name);
            }
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let how = call.method.to_string();
        if INSPECTING.contains(&&*how)
            && let Some(what) = self.said(&call.receiver)
        {
            self.add(&what, &how);
        }
        visit::visit_expr_method_call(self, call);
    }

    /// Two said texts may be the same. A said text and anything else are compared to learn what was said.
    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        if matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_)) {
            match (self.said(&binary.left), self.said(&binary.right)) {
                (Some(what), None) | (None, Some(what)) => self.add(&what, "=="),
                _ => {}
            }
        }
        visit::visit_expr_binary(self, binary);
    }
}
