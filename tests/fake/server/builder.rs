//! How a test says what the fake serves and where it fails.

use jiff::{SignedDuration, Timestamp};

use super::answer::{Clock, World};
use super::kind::Kind;
use super::object::Object;
use super::rights::Rights;
use super::rule::Rule;
use super::running::Running;

/// A fake API server that is not started yet.
pub struct Fake {
    world: World,
}

/// How the fake answers to the `Accept` of aggregated discovery.
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
    /// A server that has no types and no objects, and aggregated discovery.
    pub fn new() -> Self {
        let world = World {
            version: "v1.36.3".into(),
            ..World::default()
        };
        Fake { world }
    }

    /// Serves this type. Of several versions of a group the first named is the preferred one.
    pub fn with_type(mut self, kind: Kind) -> Self {
        self.world.catalogue.add(kind);
        self
    }

    /// Says of this group version that it is `Stale`; all its lists answer 503, and so does its old discovery.
    pub fn stale(mut self, group: &str, version: &str) -> Self {
        self.world.catalogue.group_version(group, version).stale = true;
        self
    }

    /// Adds an object to the type `plural.group` (`pods`, `widgets.example.com`).
    pub fn object(mut self, type_name: &str, object: Object) -> Self {
        self.world.store.add(type_name, object);
        self
    }

    /// Adds `count` objects that are made when a page is asked for, and not kept. `make` gets indexes from 0.
    pub fn generate(
        mut self,
        type_name: &str,
        count: usize,
        make: impl Fn(usize) -> Object + Send + 'static,
    ) -> Self {
        self.world.store.generate(type_name, count, Box::new(make));
        self
    }

    /// Fails at this path (a `*` at its end stands for any rest) as the fault or rule says. The first of several wins.
    pub fn on(mut self, path: &str, fault: impl Into<Rule>) -> Self {
        self.world.rules.push(fault.into().at(path));
        self
    }

    pub fn discovery(mut self, discovery: Discovery) -> Self {
        self.world.discovery = discovery;
        self
    }

    /// Answers the old discovery whatever is asked.
    pub fn legacy_discovery(self) -> Self {
        self.discovery(Discovery::Legacy)
    }

    /// The user may list everything in these namespaces and, but for the namespaces, nothing outside of them.
    pub fn rights_only_in(mut self, namespaces: &[&str]) -> Self {
        self.world.rights = Some(Rights::only_in(namespaces));
        self
    }

    /// Speaks no protobuf, for any type.
    pub fn json_only(mut self) -> Self {
        self.world.json_only = true;
        self
    }

    /// Cuts no object down to its metadata: 406 to who accepts nothing else, whole objects to who accepts them.
    pub fn whole_only(mut self) -> Self {
        self.world.whole_only = true;
        self
    }

    /// Sends bodies in chunks in place of a `Content-Length`.
    pub fn chunked(mut self) -> Self {
        self.world.chunked = true;
        self
    }

    /// The server's clock is wrong by so much.
    pub fn clock_ahead(mut self, by: SignedDuration) -> Self {
        self.world.clock = Clock::Offset(by);
        self
    }

    /// The server's clock stands still at this RFC 3339 moment, for output that is compared with a file.
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

    /// What `/version` says, such as `v1.31.2`.
    pub fn version(mut self, version: &str) -> Self {
        self.world.version = version.into();
        self
    }

    /// Starts it. Panics when objects were given to a type that is not served: that is a slip of the pen.
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
