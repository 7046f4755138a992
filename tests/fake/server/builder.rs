//! Describes what the fake serves and where it fails.

use jiff::{SignedDuration, Timestamp};

use super::answer::{Clock, World};
use super::kind::Kind;
use super::object::Object;
use super::rights::Rights;
use super::rule::Rule;
use super::running::Running;
use super::write::Writes;

/// A fake API server that has not started.
pub struct Fake {
    world: World,
}

/// How the fake responds to the `Accept` of aggregated discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// As `apidiscovery.k8s.io/v2` (servers since 1.30).
    #[default]
    Aggregated,
    /// As `apidiscovery.k8s.io/v2beta1` only (1.26 to 1.29).
    AggregatedBeta,
    /// With the old document and 200, as older servers and many proxies do.
    Legacy,
    /// With 406.
    LegacyRefusing,
}

impl Discovery {
    pub(super) fn is_aggregated(self) -> bool {
        matches!(self, Discovery::Aggregated | Discovery::AggregatedBeta)
    }
}

impl Default for Fake {
    fn default() -> Self {
        Fake::new()
    }
}

impl Fake {
    /// A server without types and objects, with aggregated discovery.
    pub fn new() -> Self {
        let world = World {
            version: "v1.36.3".into(),
            ..World::default()
        };
        Fake { world }
    }

    /// Serves this type. The first version of a group is the preferred one.
    pub fn with_type(mut self, kind: Kind) -> Self {
        self.world.catalogue.add(kind);
        self
    }

    /// Marks this group version as `Stale`. All its lists and its old discovery return 503.
    pub fn stale(mut self, group: &str, version: &str) -> Self {
        self.world.catalogue.group_version(group, version).stale = true;
        self
    }

    /// Adds an object to the type `plural.group` (`pods`, `widgets.example.com`).
    pub fn object(mut self, type_name: &str, object: Object) -> Self {
        self.world.store.add(type_name, object);
        self
    }

    /// Adds `count` objects that are made when a page is requested, and not kept. `make` gets indexes from 0.
    pub fn generate(
        mut self,
        type_name: &str,
        count: usize,
        make: impl Fn(usize) -> Object + Send + 'static,
    ) -> Self {
        self.world.store.generate(type_name, count, Box::new(make));
        self
    }

    /// Fails at this path (a `*` at its end matches any rest) with this fault or rule. The first match wins.
    pub fn on(mut self, path: &str, fault: impl Into<Rule>) -> Self {
        self.world.rules.push(fault.into().at(path));
        self
    }

    pub fn discovery(mut self, discovery: Discovery) -> Self {
        self.world.discovery = discovery;
        self
    }

    /// Serves only the old discovery, whatever is accepted.
    pub fn legacy_discovery(self) -> Self {
        self.discovery(Discovery::Legacy)
    }

    /// Lets the user list everything in these namespaces and nothing outside of them, except the namespaces.
    pub fn rights_only_in(mut self, namespaces: &[&str]) -> Self {
        self.world.rights = Some(Rights::only_in(namespaces));
        self
    }

    /// Handles updates of single objects like this.
    pub fn writes(mut self, writes: Writes) -> Self {
        self.world.writes = writes;
        self
    }

    /// Serves no protobuf, for any type.
    pub fn json_only(mut self) -> Self {
        self.world.json_only = true;
        self
    }

    /// Serves no metadata-only objects: 406 if nothing else is accepted, else whole objects.
    pub fn whole_only(mut self) -> Self {
        self.world.whole_only = true;
        self
    }

    /// Sends bodies in chunks instead of with a `Content-Length`.
    pub fn chunked(mut self) -> Self {
        self.world.chunked = true;
        self
    }

    /// Sets the server's clock wrong by this much.
    pub fn clock_ahead(mut self, by: SignedDuration) -> Self {
        self.world.clock = Clock::Offset(by);
        self
    }

    /// Stops the server's clock at this RFC 3339 time, for output that is compared with a file.
    pub fn clock_at(mut self, at: &str) -> Self {
        let at: Timestamp = at.parse().expect("an RFC 3339 time");
        self.world.clock = Clock::Fixed(at);
        self
    }

    /// Sends no `Date` header.
    pub fn without_date(mut self) -> Self {
        self.world.clock = Clock::None;
        self
    }

    /// The version in `/version`, such as `v1.31.2`.
    pub fn version(mut self, version: &str) -> Self {
        self.world.version = version.into();
        self
    }

    /// Starts the server. Panics if objects have a type that is not served, which is a mistake in the test.
    pub fn start(self) -> Running {
        for name in self.world.store.names() {
            let known = self.world.catalogue.kinds.iter().any(|kind| kind.name() == *name);
            assert!(
                known,
                "objects were added to {name:?}, but no such type was: call with_type first"
            );
        }
        Running::start(self.world)
    }
}
