//! When a fault applies: at which path, page and request, and how often.

use std::cell::Cell;

use super::fault::Fault;
use super::request::Recorded;

/// A fault with its conditions. The methods of the same names on [`Fault`] build it.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) fault: Fault,
    path: String,
    page: Option<usize>,
    spared: u32,
    times: u32,
    accept: Option<String>,
    method: Option<&'static str>,
    matched: Cell<u32>,
}

impl From<Fault> for Rule {
    fn from(fault: Fault) -> Self {
        Rule {
            fault,
            path: String::new(),
            page: None,
            spared: 0,
            times: u32::MAX,
            accept: None,
            method: None,
            matched: Cell::new(0),
        }
    }
}

impl Rule {
    /// Only for the n-th page of a list, counted from 1.
    pub fn page(mut self, page: usize) -> Self {
        self.page = Some(page);
        self
    }

    /// Only after this many such requests have succeeded.
    pub fn after(mut self, spared: u32) -> Self {
        self.spared = spared;
        self
    }

    /// Only this many times; then all requests succeed.
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Only the n-th such request, counted from 1.
    pub fn nth(self, nth: u32) -> Self {
        self.after(nth - 1).times(1)
    }

    /// Only if the `Accept` header contains this text.
    pub fn when_accept(mut self, text: &str) -> Self {
        self.accept = Some(text.into());
        self
    }

    /// Only for requests with this method.
    pub fn method(mut self, method: &'static str) -> Self {
        self.method = Some(method);
        self
    }

    pub(super) fn at(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    /// Whether the rule applies to this request. Counts the requests that it matches.
    pub(super) fn applies(&self, request: &Recorded, page: usize) -> bool {
        let path = request.path();
        let here = match self.path.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == self.path,
        };
        let about = here
            && self.page.is_none_or(|wanted| wanted == page)
            && self.method.is_none_or(|method| request.method == method)
            && self
                .accept
                .as_ref()
                .is_none_or(|text| request.accept.contains(text));
        if !about {
            return false;
        }
        let before = self.matched.replace(self.matched.get() + 1);
        before >= self.spared && before - self.spared < self.times
    }
}

impl Fault {
    /// Only for the n-th page of a list, counted from 1.
    pub fn page(self, page: usize) -> Rule {
        Rule::from(self).page(page)
    }

    /// Only after this many such requests have succeeded.
    pub fn after(self, spared: u32) -> Rule {
        Rule::from(self).after(spared)
    }

    /// Only this many times; then all requests succeed.
    pub fn times(self, times: u32) -> Rule {
        Rule::from(self).times(times)
    }

    /// Only the n-th such request, counted from 1.
    pub fn nth(self, nth: u32) -> Rule {
        Rule::from(self).nth(nth)
    }

    /// Only for requests with this method.
    pub fn method(self, method: &'static str) -> Rule {
        Rule::from(self).method(method)
    }

    /// Only if the `Accept` header contains this text.
    pub fn when_accept(self, text: &str) -> Rule {
        Rule::from(self).when_accept(text)
    }
}
