//! From a request to a response: the first fault that applies, else the correct response.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::accept::{self, Form};
use super::builder::Discovery;
use super::discovery::Catalogue;
use super::fault::Fault;
use super::json;
use super::list::{self, Buffers, Query, Tokens};
use super::malformed::Malformed;
use super::page::Cursor;
use super::reply::{Delivery, End, Place, Reply};
use super::request::{Recorded, unescape};
use super::rights::Rights;
use super::route::{Route, Target, route};
use super::rule::Rule;
use super::status::{self, Status, status};
use super::store::Store;
use super::write::{Updates, Writes};

/// Everything that responses depend on.
#[derive(Default)]
pub struct World {
    pub catalogue: Catalogue,
    pub store: Store,
    pub rules: Vec<Rule>,
    pub discovery: Discovery,
    pub json_only: bool,
    pub whole_only: bool,
    pub chunked: bool,
    pub clock: Clock,
    pub version: String,
    pub rights: Option<Rights>,
    pub writes: Writes,
    pub updates: Updates,
}

/// The value of the `Date` header.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Offset(SignedDuration),
    Fixed(Timestamp),
    None,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::Offset(SignedDuration::ZERO)
    }
}

impl Clock {
    pub fn now(self) -> Option<Timestamp> {
        match self {
            Clock::Offset(offset) => Timestamp::now().checked_add(offset).ok(),
            Clock::Fixed(at) => Some(at),
            Clock::None => None,
        }
    }
}

impl World {
    pub fn answer(&self, request: &Recorded, buffers: &mut Buffers) -> Reply {
        let page = Cursor::page_of(request.query("continue").as_deref());
        let mut struck = None;
        for rule in &self.rules {
            // Every rule sees every request, so that a rule's n-th request does not depend on other rules.
            if rule.applies(request, page) {
                struck = struck.or(Some(&rule.fault));
            }
        }
        match struck {
            None => self.healthy(request, Tokens::Right, buffers),
            Some(fault) => self.wrong(fault, request, buffers),
        }
    }

    fn wrong(&self, fault: &Fault, request: &Recorded, buffers: &mut Buffers) -> Reply {
        let mut healthy = || self.healthy(request, Tokens::Right, buffers);
        let cut = |place, end| Delivery::Cut(place, end);
        match fault {
            Fault::Status(status) => status.reply(),
            Fault::TooManyRequests { retry_after } => {
                let body = b"Too many requests, please try again later.\n";
                let reply = Reply::new(429, "text/plain; charset=utf-8", body.into());
                match retry_after {
                    Some(value) => reply.header("Retry-After", value),
                    None => reply,
                }
            }
            Fault::Expired { fresh_token } => expired(request, *fresh_token).reply(),
            Fault::TruncateBody => healthy().delivered(cut(Place::HalfOfBody, End::Close)),
            Fault::ResetMidBody => healthy().delivered(cut(Place::HalfOfBody, End::Reset)),
            Fault::HangMidBody => healthy().delivered(cut(Place::HalfOfBody, End::Hang)),
            Fault::CloseBeforeHeaders => healthy().delivered(cut(Place::BeforeHead, End::Close)),
            Fault::ResetBeforeHeaders => healthy().delivered(cut(Place::BeforeHead, End::Reset)),
            Fault::HangBeforeHeaders => healthy().delivered(cut(Place::BeforeHead, End::Hang)),
            Fault::Trickle { bytes, pause } => healthy().delivered(Delivery::Trickle(*bytes, *pause)),
            Fault::Delay(pause) => Reply {
                delay: *pause,
                ..healthy()
            },
            Fault::Stored(then) => {
                healthy();
                self.wrong(then, request, buffers)
            }
            Fault::Warning(text) => healthy().header("Warning", &format!("299 - {text:?}")),
            Fault::Body {
                code,
                content_type,
                body,
            } => Reply::new(*code, content_type, body.clone()),
            Fault::Redirect(to) => Reply::new(302, "text/html", Vec::new()).header("Location", to),
            Fault::Malformed(malformed) => page(*malformed),
            Fault::SameToken => self.healthy(request, Tokens::Same, buffers),
            Fault::EndlessPages => self.healthy(request, Tokens::Endless, buffers),
        }
    }

    /// The response of a healthy server; `tokens` says which continue tokens its lists have.
    fn healthy(&self, request: &Recorded, tokens: Tokens, buffers: &mut Buffers) -> Reply {
        if let Some(rights) = &self.rights
            && let Some(reply) = rights.answer(request)
        {
            return reply;
        }
        if request.method == "PATCH"
            && self.writes != Writes::Refused
            && let Route::Object(target, name) = route(request.path())
        {
            return self.object(target, name, request);
        }
        if request.method != "GET" {
            return status(405, "MethodNotAllowed", "the fake only reads").reply();
        }
        match route(request.path()) {
            Route::Version => Reply::json(200, &self.version()),
            Route::Core => self.discover(request, true),
            Route::Groups => self.discover(request, false),
            Route::Group(group) => Reply::json(200, &self.catalogue.group(group)),
            Route::GroupVersion(group, version) => match self.catalogue.find(group, version) {
                Some(known) if known.stale => unavailable(),
                Some(_) => Reply::json(200, &self.catalogue.resources(group, version)),
                None => status::not_found().reply(),
            },
            Route::Collection(target) if request.query("watch").is_some() => self.watch(target, request),
            Route::Collection(target) => self.list(target, request, tokens, buffers),
            Route::Object(target, name) => self.object(target, name, request),
            Route::Unknown => status::not_found().reply(),
        }
    }

    fn discover(&self, request: &Recorded, core: bool) -> Reply {
        let version = if self.discovery == Discovery::AggregatedBeta {
            "v2beta1"
        } else {
            "v2"
        };
        if self.discovery.is_aggregated() && accept::wants_aggregated(&request.accept, version) {
            let mut reply = Reply::json(200, &self.catalogue.aggregated(core, version));
            reply.content_type = match version {
                "v2" => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                _ => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
            };
            return reply.header("Vary", "Accept");
        }
        let refused =
            self.discovery == Discovery::LegacyRefusing && request.accept.contains("APIGroupDiscoveryList");
        if refused || !(accept::takes_json(&request.accept) || self.discovery == Discovery::Legacy) {
            return status::not_acceptable().reply();
        }
        let document = if core {
            self.catalogue.core_versions()
        } else {
            self.catalogue.group_list()
        };
        Reply::json(200, &document)
    }

    fn list(&self, target: Target<'_>, request: &Recorded, tokens: Tokens, buffers: &mut Buffers) -> Reply {
        let kind = match self.kind(target) {
            Ok(kind) => kind,
            Err(reply) => return reply,
        };
        let Some(form) = accept::form(&request.accept, &kind, "PartialObjectMetadataList") else {
            return status::not_acceptable().reply();
        };
        let query = Query {
            kind: &kind,
            collection: self.store.collection(&kind.name()),
            namespace: target.namespace,
            request,
            tokens,
        };
        query
            .answer(form, buffers)
            .unwrap_or_else(|status| status.reply())
    }

    /// A watch in which nothing happens. What happens is for faults to say.
    fn watch(&self, target: Target<'_>, request: &Recorded) -> Reply {
        let kind = match self.kind(target) {
            Ok(kind) => kind,
            Err(reply) => return reply,
        };
        if accept::form(&request.accept, &kind, "PartialObjectMetadata").is_none() {
            return status::not_acceptable().reply();
        }
        Reply::new(200, "application/json", Vec::new()).delivered(Delivery::Open)
    }

    /// The object, after the patch if the request is one.
    fn object(&self, target: Target<'_>, name: &str, request: &Recorded) -> Reply {
        let kind = match self.kind(target) {
            Ok(kind) => kind,
            Err(reply) => return reply,
        };
        let Some(form) = accept::form(&request.accept, &kind, "PartialObjectMetadata") else {
            return status::not_acceptable().reply();
        };
        let (namespace, name) = (unescape(target.namespace.unwrap_or_default()), unescape(name));
        let stored = self.store.collection(&kind.name());
        let stored = stored.and_then(|all| all.find(&namespace, &name));
        let key = [kind.name(), namespace, name];
        let Some(mut object) = self.updates.current(&key, stored) else {
            let message = format!("{} {:?} not found", kind.name(), key[2]);
            return status(404, "NotFound", message).reply();
        };
        if request.method == "PATCH" {
            object = match self.updates.patch(key, &object, request, self.writes) {
                Ok(patched) => patched,
                Err(status) => return status.reply(),
            };
        }
        let mut body = Vec::new();
        match form {
            Form::Partial | Form::PartialProtobuf => json::partial(&object, &kind.name(), &mut body),
            Form::Whole => json::whole(&object, &kind, true, &mut body),
        }
        Reply::new(200, "application/json", body)
    }

    /// The type of a path, as this server serves it.
    fn kind(&self, target: Target<'_>) -> Result<super::Kind, Reply> {
        if self
            .catalogue
            .find(target.group, target.version)
            .is_some_and(|known| known.stale)
        {
            return Err(unavailable());
        }
        let kind = self.catalogue.kind(target.group, target.version, target.plural);
        // A cluster-scoped type has no path in a namespace.
        let kind = kind.filter(|kind| kind.namespaced || target.namespace.is_none());
        let mut kind = kind.ok_or_else(|| status::not_found().reply())?.clone();
        kind.json_only |= self.json_only;
        kind.whole_only |= self.whole_only;
        Ok(kind)
    }

    fn version(&self) -> serde_json::Value {
        let mut parts = self.version.trim_start_matches('v').split('.');
        json!({
            "major": parts.next(), "minor": parts.next(), "gitVersion": self.version,
            "gitCommit": "fake", "platform": "linux/amd64",
        })
    }
}

/// The response of the aggregator for an unavailable API.
fn unavailable() -> Reply {
    Reply::new(503, "text/plain; charset=utf-8", b"service unavailable\n".into())
}

/// The text of `apiserver:pkg/storage/etcd3/errors.go`. The new token continues where the old one did.
fn expired(request: &Recorded, fresh_token: bool) -> Status {
    if !fresh_token {
        let message = "The provided continue parameter is too old to display a consistent list result. You must \
                       start a new list without the continue parameter.";
        return status(410, "Expired", message);
    }
    let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                   a new list without the continue parameter, or use the continue token in this response to \
                   retrieve the remainder of the results. Continuing with the provided token results in an \
                   inconsistent list - objects that were created, modified, or deleted between the time the first \
                   chunk was returned and now may show up in the list.";
    let used = request.query("continue").filter(|token| !token.is_empty());
    let used = used.unwrap_or_else(|| Cursor::START.token(&list::selectors(request)));
    status(410, "Expired", message).continued_at(Some(Cursor::fresh_token(&used)))
}

fn page(malformed: Malformed) -> Reply {
    let content_type = if malformed.is_protobuf() {
        "application/vnd.kubernetes.protobuf"
    } else {
        "application/json"
    };
    Reply::new(200, content_type, malformed.body())
}
