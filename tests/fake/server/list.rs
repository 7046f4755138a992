//! Lists: selectors, pages, and the three formats. A page is made when it is requested, and not kept.

use serde_json::json;

use super::accept::Form;
use super::kind::Kind;
use super::object::Object;
use super::page::Cursor;
use super::reply::Reply;
use super::request::{Recorded, unescape};
use super::status::{Status, status};
use super::store::Collection;
use super::{json, protobuf};

const RESOURCE_VERSION: &str = "1000";

/// The memory for pages, which a connection keeps from one page to the next.
#[derive(Default)]
pub struct Buffers {
    pub body: Vec<u8>,
    items: Vec<u8>,
}

/// Which continue tokens a list returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    Right,
    /// The first page and the same token every time.
    Same,
    /// Empty pages and new tokens without end.
    Endless,
}

/// The objects of a list.
pub struct Query<'a> {
    pub kind: &'a Kind,
    pub collection: Option<&'a Collection>,
    pub namespace: Option<&'a str>,
    pub request: &'a Recorded,
    pub tokens: Tokens,
}

/// The selectors of a request as one string. Its continue tokens are valid only with them.
pub fn selectors(request: &Recorded) -> String {
    let part = |name| request.query(name).unwrap_or_default();
    format!("{}|{}", part("labelSelector"), part("fieldSelector"))
}

impl Query<'_> {
    pub fn answer(&self, form: Form, buffers: &mut Buffers) -> Result<Reply, Status> {
        let selectors = selectors(self.request);
        let cursor = match self.request.query("continue").filter(|token| !token.is_empty()) {
            None => Cursor::START,
            Some(token) => Cursor::parse(&token, &selectors).ok_or_else(|| {
                status(
                    400,
                    "BadRequest",
                    "continue key is not valid: it was not given by this list",
                )
            })?,
        };
        let terms = terms(self.request)?;
        buffers.items.clear();
        let next = self.fill(cursor, form, &terms, &mut buffers.items);
        let token = next.map(|cursor| cursor.token(&selectors)).unwrap_or_default();
        let total = self.collection.map_or(0, Collection::len);
        let remaining = next
            .filter(|_| terms.is_empty())
            .map(|next| (total - next.offset.min(total)) as u64);

        let mut body = std::mem::take(&mut buffers.body);
        body.clear();
        let meta = protobuf::ListMeta {
            resource_version: RESOURCE_VERSION,
            continue_token: &token,
            remaining,
        };
        let content_type = match form {
            Form::PartialProtobuf => {
                protobuf::list(&meta, &buffers.items, &mut body);
                "application/vnd.kubernetes.protobuf"
            }
            Form::Partial | Form::Whole => {
                self.wrap(&meta, form, &buffers.items, &mut body);
                "application/json"
            }
        };
        Ok(Reply::new(200, content_type, body))
    }

    /// Writes one page of items. Returns where the next page starts, if there is one.
    fn fill(&self, cursor: Cursor, form: Form, terms: &[Term], out: &mut Vec<u8>) -> Option<Cursor> {
        let page = cursor.page + 1;
        if self.tokens == Tokens::Endless {
            return Some(Cursor {
                offset: cursor.offset,
                page,
            });
        }
        let limit = self
            .request
            .query("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0_usize);
        let type_name = self.kind.name();
        let mut offset = cursor.offset;
        let mut written = 0;
        while let Some(object) = self.collection.and_then(|objects| objects.get(offset)) {
            if limit > 0 && written == limit {
                return Some(self.next(offset, page));
            }
            offset += 1;
            let here = self
                .namespace
                .is_none_or(|namespace| object.namespace == unescape(namespace));
            if !here || !terms.iter().all(|term| term.holds(&object)) {
                continue;
            }
            if form != Form::PartialProtobuf && written > 0 {
                out.push(b',');
            }
            written += 1;
            match form {
                Form::PartialProtobuf => protobuf::item(&object, &type_name, out),
                Form::Partial => json::partial(&object, &type_name, out),
                Form::Whole => json::whole(&object, self.kind, false, out),
            }
        }
        (self.tokens == Tokens::Same).then(|| self.next(offset, page))
    }

    fn next(&self, offset: usize, page: usize) -> Cursor {
        match self.tokens {
            Tokens::Same => Cursor { offset: 0, page: 2 },
            Tokens::Right | Tokens::Endless => Cursor { offset, page },
        }
    }

    /// The JSON around the items. Custom types are encoded from maps, sorted by key: their `metadata` follows
    /// `items`.
    fn wrap(&self, meta: &protobuf::ListMeta<'_>, form: Form, items: &[u8], out: &mut Vec<u8>) {
        let mut metadata = json!({ "resourceVersion": meta.resource_version });
        if !meta.continue_token.is_empty() {
            metadata["continue"] = json!(meta.continue_token);
        }
        if let Some(remaining) = meta.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
        let metadata = metadata.to_string();
        let (kind, api_version) = match form {
            Form::Whole => (format!("{}List", self.kind.kind), self.kind.api_version()),
            Form::Partial | Form::PartialProtobuf => (
                "PartialObjectMetadataList".to_owned(),
                "meta.k8s.io/v1".to_owned(),
            ),
        };
        let sorted = form == Form::Whole && self.kind.is_custom();
        out.extend_from_slice(if sorted {
            b"{\"apiVersion\":"
        } else {
            b"{\"kind\":"
        });
        json::string(if sorted { &api_version } else { &kind }, out);
        if !sorted {
            out.extend_from_slice(b",\"apiVersion\":");
            json::string(&api_version, out);
            out.extend_from_slice(b",\"metadata\":");
            out.extend_from_slice(metadata.as_bytes());
        }
        out.extend_from_slice(b",\"items\":[");
        out.extend_from_slice(items);
        out.push(b']');
        if sorted {
            out.extend_from_slice(b",\"kind\":");
            json::string(&kind, out);
            out.extend_from_slice(b",\"metadata\":");
            out.extend_from_slice(metadata.as_bytes());
        }
        out.extend_from_slice(b"}\n");
    }
}

/// One requirement of a label or field selector.
enum Term {
    Label {
        key: String,
        value: Option<String>,
        wanted: bool,
    },
    Name(String),
    Namespace(String),
}

impl Term {
    fn holds(&self, object: &Object) -> bool {
        match self {
            Term::Label { key, value, wanted } => {
                let found = object.labels.get(key);
                let equal = value
                    .as_ref()
                    .map_or(found.is_some(), |value| found == Some(value));
                equal == *wanted
            }
            Term::Name(name) => object.name == *name,
            Term::Namespace(namespace) => object.namespace == *namespace,
        }
    }
}

/// Only equality and existence; sets are rejected, so that they are not misread.
fn terms(request: &Recorded) -> Result<Vec<Term>, Status> {
    let mut terms = Vec::new();
    let labels = request.query("labelSelector").unwrap_or_default();
    for term in labels.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        if term.contains(['(', ' ']) {
            return Err(status(
                400,
                "BadRequest",
                format!("the fake cannot parse labelSelector {term:?}"),
            ));
        }
        let (key, value, wanted) = match (
            term.split_once("!="),
            term.split_once('='),
            term.strip_prefix('!'),
        ) {
            (Some((key, value)), _, _) => (key, Some(value), false),
            (_, Some((key, value)), _) => (key, Some(value.trim_start_matches('=')), true),
            (_, _, Some(key)) => (key, None, false),
            _ => (term, None, true),
        };
        terms.push(Term::Label {
            key: key.into(),
            value: value.map(Into::into),
            wanted,
        });
    }
    let fields = request.query("fieldSelector").unwrap_or_default();
    for term in fields.split(',').filter(|term| !term.is_empty()) {
        terms.push(match term.split_once('=') {
            Some(("metadata.name", value)) => Term::Name(value.trim_start_matches('=').into()),
            Some(("metadata.namespace", value)) => Term::Namespace(value.trim_start_matches('=').into()),
            _ => {
                return Err(status(
                    400,
                    "BadRequest",
                    format!("field label not supported: {term}"),
                ));
            }
        });
    }
    Ok(terms)
}
