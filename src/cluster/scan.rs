//! Reads a whole cluster: every type once, in parallel, and each fails alone.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashSet},
    rc::Rc,
};

use futures::{StreamExt, stream};
use jiff::Timestamp;

use super::{
    PARALLEL,
    connect::fault,
    discovery::{Discovered, discover, families},
    followed::Followed,
    list::{Family, Listed, Listing},
    paths::object_path,
    request::{Failure, Server, WHOLE},
    rights::Rights,
};
use crate::{
    error::Error,
    object::ResourceType,
    settings::{self, Scope},
    snapshot::{
        Filter, Gap, Item, Keep, Namespaces, Room, Snapshot, Tally, TypeRead, What, Why,
        json::{self, ExtraFields},
        leftovers::missing_namespace_note,
        select::{Choice, mentions},
    },
};

/// The result of a scan so far. It lives outside the scan, so that progress is visible while the scan runs. What was
/// read also survives when the user stops the scan.
#[derive(Debug, Default)]
pub struct Reading(RefCell<ReadingState>);

#[derive(Debug, Default)]
struct ReadingState {
    observed_at: Option<Timestamp>,
    types: Vec<TypeRead>,
    tally: Tally,
    gaps: Vec<Gap>,
    notes: Vec<String>,
    namespaces: Namespaces,
    only_within: Vec<String>,
    /// Types that are not read yet.
    pending: BTreeSet<String>,
    /// Types that are being read now, with their tallies.
    current: Vec<(String, Rc<RefCell<Tally>>)>,
    /// How many requests in a row got no answer.
    unanswered: usize,
    /// Why the scan sends no more requests.
    out_of_reach: Option<Why>,
}

/// The progress of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Types that are finished.
    pub done: usize,
    /// All types; none until discovery has finished.
    pub total: usize,
    /// Objects that were read.
    pub objects: u64,
    /// Types being read now.
    pub waiting_for: Vec<String>,
}

impl Reading {
    /// The progress so far.
    pub fn progress(&self) -> Progress {
        let state = self.0.borrow();
        Progress {
            done: state.types.len(),
            total: state.types.len() + state.pending.len(),
            objects: state.tally.objects
                + state
                    .current
                    .iter()
                    .map(|(_, tally)| tally.borrow().objects)
                    .sum::<u64>(),
            waiting_for: state.current.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Whether the server stopped answering, so that more requests are useless.
    pub fn is_cut_off(&self) -> bool {
        self.out_of_reach().is_some()
    }

    /// The result. Unfinished types become gaps.
    pub fn finish(self, source: &str) -> Snapshot {
        let mut state = self.0.into_inner();
        let mut gaps = state.gaps;
        let interrupted = !state.pending.is_empty() || state.observed_at.is_none();
        if state.observed_at.is_none() {
            gaps.push(Gap {
                what: What::Discovery,
                why: Why::Interrupted,
            });
        }
        for (name, tally) in state.current {
            let tally = tally.take();
            if state.pending.remove(&name) {
                let read = tally.objects;
                gaps.push(Gap {
                    what: What::Type { name, read },
                    why: Why::Interrupted,
                });
            }
            state.tally.absorb(tally);
        }
        gaps.extend(state.pending.into_iter().map(|name| Gap {
            what: What::Type { name, read: 0 },
            why: Why::Interrupted,
        }));
        gaps.sort();
        let mut types = state.types;
        types.sort_by_key(|read| read.ty.name());
        Snapshot {
            observed_at: state.observed_at.unwrap_or_else(Timestamp::now),
            source: source.to_owned(),
            server_version: None,
            types,
            tally: state.tally,
            namespaces: state.namespaces,
            only_within: state.only_within,
            gaps,
            notes: state.notes,
            interrupted,
        }
    }

    /// Begins a list. Its tally outlives it.
    fn begin(&self, name: &str) -> Rc<RefCell<Tally>> {
        let tally = Rc::default();
        self.0
            .borrow_mut()
            .current
            .push((name.to_owned(), Rc::clone(&tally)));
        tally
    }

    fn end(&self, name: &str) {
        self.0.borrow_mut().current.retain(|(known, _)| known != name);
    }

    fn gap(&self, what: What, why: Why) {
        self.0.borrow_mut().gaps.push(Gap { what, why });
    }

    /// Records that a type is finished, completely or as far as possible.
    fn answered(&self, ty: &ResourceType, objects: u64) {
        let state = &mut *self.0.borrow_mut();
        state.pending.remove(&ty.name());
        state.types.push(TypeRead {
            ty: ty.clone(),
            objects,
        });
    }

    /// Adds the tally of a list and returns its number of objects.
    fn add(&self, ty: &ResourceType, listed: &Listed, tally: Tally) -> u64 {
        let state = &mut *self.0.borrow_mut();
        let objects = tally.objects;
        if listed.inconsistent {
            state.notes.push(format!(
                "{}: the list expired while it was read and went on at a newer state; objects that changed meanwhile may be missing or old",
                ty.name()
            ));
        }
        if let Some((version, message)) = &listed.other_version {
            state.notes.push(format!(
                "{} was read as {version}, because reading it as {} fails: {message}. Whatever reads {} fails too, the namespace controller and the garbage collector among them",
                ty.name(), ty.version, ty.version
            ));
        }
        state.tally.absorb(tally);
        objects
    }

    /// Why the server is out of reach, if it is.
    fn out_of_reach(&self) -> Option<Why> {
        self.0.borrow().out_of_reach.clone()
    }

    fn reset_unanswered(&self) {
        self.0.borrow_mut().unanswered = 0;
    }

    /// Counts a request without an answer. Returns true once, when there were so many in a row that the server may be
    /// unreachable. That caller checks it, and the others continue.
    fn count_unanswered(&self) -> bool {
        let state = &mut *self.0.borrow_mut();
        state.unanswered += 1;
        state.unanswered == PARALLEL
    }
}

/// Reads what the user selected into `reading`. Fails only if nothing could be read, or if a named type does not exist.
/// Types whose state `followed` has are not asked for.
pub async fn scan(
    server: &Server,
    wanted: &settings::Scan,
    followed: Option<&Followed>,
    reading: &Reading,
) -> Result<(), Error> {
    let found = discover(server)
        .await
        .map_err(|failure| no_discovery(server, failure))?;
    let now = found.date.unwrap_or_else(Timestamp::now);
    let types = wanted_types(wanted, &found, reading)?;
    {
        let state = &mut *reading.0.borrow_mut();
        state.observed_at = Some(now);
        state.pending = types.iter().map(ResourceType::name).collect();
        // If the user named types, a faulty group without these types does not concern this scan.
        let named = |gap: &Gap| match &gap.what {
            What::GroupVersion { types: hidden, .. } => {
                wanted.types.is_empty() || hidden.iter().any(|name| mentions(&wanted.types, name))
            }
            _ => true,
        };
        state.gaps.extend(found.gaps.into_iter().filter(named));
    }

    // Read Namespaces first: those that are being deleted decide whose content is counted.
    let (namespaces, types): (Vec<_>, Vec<_>) = types.into_iter().partition(|ty| ty.is("", "namespaces"));
    let mut scan = Scanner {
        server,
        reading,
        followed,
        scope: &wanted.scope,
        keep: Keep {
            all: wanted.view.all,
            crowds: wanted.view.is_by_holder(),
            filter: wanted.filter.clone(),
            now,
            content_of: (!wanted.every_namespace).then(BTreeSet::new),
            known_namespaces: None,
        },
        room: Room::default(),
        missing: None,
    };
    if let Some(ty) = namespaces.first() {
        // With a label selector, these are not all namespaces.
        let all = scan.keep.filter.selector.is_none();
        if all {
            reading.0.borrow_mut().namespaces = Namespaces::Unknown(Why::Interrupted);
        }
        let names = scan.namespaces(ty).await;
        if all {
            scan.set_namespaces(names);
        }
    }
    let forbidden = RefCell::new(Vec::new());
    stream::iter(families(types))
        .map(|family| scan.family(family, &forbidden))
        .buffer_unordered(PARALLEL)
        .collect::<()>()
        .await;
    scan.by_namespace(forbidden.into_inner()).await;
    scan.note_missing();
    Ok(())
}

pub(super) fn no_discovery(server: &Server, failure: Failure) -> Error {
    refused(server, failure, "types", "/apis")
}

/// The error for a first request that failed. It asked for `asked` at `path`.
pub(super) fn refused(server: &Server, failure: Failure, asked: &str, path: &str) -> Error {
    let connected = &server.connected;
    if failure.is(http::StatusCode::UNAUTHORIZED) {
        return connected.unauthorized();
    }
    match failure {
        Failure::Connection(error) => *error,
        Failure::TimedOut(_) => connected.timed_out(),
        Failure::Status { message, .. } if fault::is_plain_http_refused(&message) => {
            fault::plain_http(&connected.server)
        }
        failure => {
            let why = failure.why();
            Error::Server {
                message: format!(
                    "cannot ask {} for its {asked}: {}",
                    connected.server,
                    why.message()
                ),
                hint: match why {
                    Why::Forbidden(_) => Some(format!(
                        "check with: kubectl auth whoami, and with: kubectl get --raw {path}"
                    )),
                    Why::Undecodable(_) => Some(format!(
                        "is that an API server, and not a proxy before it? kubectl get --raw {path}"
                    )),
                    _ => None,
                },
            }
        }
    }
}

/// The types to read: the named ones or all, without the excluded ones.
fn wanted_types(
    wanted: &settings::Scan,
    found: &Discovered,
    reading: &Reading,
) -> Result<Vec<ResourceType>, Error> {
    let choice = Choice {
        types: &wanted.types,
        exclude: &wanted.exclude,
        in_one_namespace: wanted.scope != Scope::All,
    };
    let chosen = choice.of(&found.types, &found.gaps, |word| found.kept_name(word))?;
    reading.0.borrow_mut().notes.extend(chosen.notes);
    Ok(chosen.types)
}

struct Scanner<'a> {
    server: &'a Server,
    reading: &'a Reading,
    followed: Option<&'a Followed>,
    scope: &'a Scope,
    keep: Keep,
    room: Room,
    /// The selected namespace, if it does not exist.
    missing: Option<String>,
}

impl Scanner<'_> {
    async fn list(
        &self,
        ty: &ResourceType,
        namespace: Option<&str>,
        family: &mut Family,
        observe: &dyn Fn(&Item<'_>),
    ) -> (Listed, Tally) {
        if let Some(why) = self.reading.out_of_reach() {
            let listed = Listed {
                fault: Some(why),
                ..Listed::default()
            };
            return (listed, Tally::default());
        }
        let name = ty.name();
        let tally = self.reading.begin(&name);
        let listing = Listing {
            server: self.server,
            ty,
            namespace,
            keep: &self.keep,
            room: &self.room,
            tally: &tally,
            observe,
        };
        let listed = listing.run(family).await;
        self.reading.end(&name);
        self.check_reachable(listed.fault.as_ref()).await;
        (listed, tally.take())
    }

    /// Checks whether the server itself is out of reach, after several requests in a row without an answer. The reason
    /// may also be the backend of one group. If the server does not even return its version, each further type would
    /// cost a time limit.
    async fn check_reachable(&self, fault: Option<&Why>) {
        if !matches!(fault, Some(Why::Connection(_) | Why::TimedOut(_))) {
            self.reading.reset_unanswered();
        } else if self.reading.count_unanswered() {
            match self.server.get("/version", WHOLE).await {
                Ok(_) | Err(Failure::Status { .. }) => self.reading.reset_unanswered(),
                Err(failure) => {
                    let why = format!("the server stopped answering: {}", failure.why().message());
                    self.reading.0.borrow_mut().out_of_reach = Some(Why::Connection(why));
                }
            }
        }
    }

    /// Reads all Namespaces, or the selected one, and returns the names of those that exist. Remembers which of them
    /// are being deleted.
    async fn namespaces(&mut self, ty: &ResourceType) -> Result<HashSet<Box<str>>, Why> {
        if let Scope::Namespace(name) = self.scope {
            return self.namespace(ty, name).await;
        }
        let terminating = RefCell::new(BTreeSet::new());
        let names = RefCell::new(HashSet::new());
        let (listed, tally) = self
            .list(ty, None, &mut Family::of(1), &|item| {
                names.borrow_mut().insert(item.name.as_ref().into());
                if item.deletion.is_some() {
                    terminating.borrow_mut().insert(item.name.to_string());
                }
            })
            .await;
        let read = self.reading.add(ty, &listed, tally);
        if let Some(why) = &listed.fault {
            self.reading.gap(What::Namespaces, why.clone());
        }
        self.reading.answered(ty, read);
        if self.keep.content_of.is_some() {
            self.keep.content_of = Some(terminating.into_inner());
        }
        listed.fault.map_or(Ok(names.into_inner()), Err)
    }

    /// Reads the selected Namespace. Namespaced roles often grant `get` on it; otherwise it is a gap.
    async fn namespace(&mut self, ty: &ResourceType, name: &str) -> Result<HashSet<Box<str>>, Why> {
        let path = object_path(ty, None, name);
        let mut tally = Tally::default();
        let found = match self.server.get(&path, WHOLE).await {
            Ok(answer) => match self.selected(&answer.body) {
                Ok(item) => {
                    if let Some(item) = item {
                        if item.deletion.is_some() && self.keep.content_of.is_some() {
                            self.keep.content_of = Some(BTreeSet::from([name.to_owned()]));
                        }
                        tally.note(ty, item, &self.keep);
                    }
                    Ok(HashSet::from([name.into()]))
                }
                Err(message) => Err(Why::Undecodable(message)),
            },
            Err(failure) if failure.is_not_found() => {
                self.missing = Some(name.to_owned());
                Ok(HashSet::new())
            }
            Err(failure) => Err(failure.why()),
        };
        if let Err(why) = &found {
            self.reading.gap(What::Namespace(name.to_owned()), why.clone());
        }
        let read = self.reading.add(ty, &Listed::default(), tally);
        self.reading.answered(ty, read);
        found
    }

    /// Sets the namespaces that exist. From then on, objects in other namespaces count as leftover.
    fn set_namespaces(&mut self, names: Result<HashSet<Box<str>>, Why>) {
        let known = match names {
            Ok(names) => {
                self.keep.known_namespaces = Some(names);
                Namespaces::Known
            }
            Err(why) => Namespaces::Unknown(why),
        };
        self.reading.0.borrow_mut().namespaces = known;
    }

    /// The object, if its labels match. A server applies selectors only to lists.
    fn selected<'b>(&self, body: &'b [u8]) -> Result<Option<Item<'b>>, String> {
        let object = json::object(body)?;
        if !self.keep.filter.labels(&object.labels()?) {
            return Ok(None);
        }
        object.item(ExtraFields::Namespace).map(Some)
    }

    /// Notes that the selected namespace does not exist. Objects in it tell whether it was deleted or mistyped.
    fn note_missing(&self) {
        let Some(name) = &self.missing else {
            return;
        };
        let state = &mut *self.reading.0.borrow_mut();
        state
            .notes
            .push(missing_namespace_note(name, state.tally.objects));
    }

    /// Reads the types of one family, one after the other. Namespaced types that are forbidden cluster-wide go to
    /// `forbidden`, to be read namespace by namespace.
    async fn family(&self, types: Vec<ResourceType>, forbidden: &RefCell<Vec<(ResourceType, Why)>>) {
        let mut family = Family::of(types.len());
        for ty in types {
            let followed = self.followed.and_then(|followed| followed.tally(&ty, &self.keep));
            if let Some(tally) = followed {
                let read = self.reading.add(&ty, &Listed::default(), tally);
                self.reading.answered(&ty, read);
                continue;
            }
            let (listed, tally) = self.list(&ty, self.scope.namespace(), &mut family, &|_| {}).await;
            if let Some(why @ Why::Forbidden(_)) = &listed.fault
                && ty.namespaced
                && *self.scope == Scope::All
            {
                self.reading.0.borrow_mut().only_within.push(ty.name());
                // Drop the pages from before the refusal: they are read again.
                forbidden.borrow_mut().push((ty, why.clone()));
                continue;
            }
            let read = self.reading.add(&ty, &listed, tally);
            if let Some(why) = listed.fault {
                self.reading.gap(self.what(&ty, read), why);
            }
            self.reading.answered(&ty, read);
        }
    }

    fn what(&self, ty: &ResourceType, read: u64) -> What {
        match self.scope {
            Scope::Namespace(namespace) if ty.namespaced => What::TypeIn {
                name: ty.name(),
                namespace: namespace.clone(),
                read,
            },
            _ => What::Type {
                name: ty.name(),
                read,
            },
        }
    }

    /// Reads forbidden types in each namespace where the user may list them.
    async fn by_namespace(&self, forbidden: Vec<(ResourceType, Why)>) {
        if forbidden.is_empty() {
            return;
        }
        // Without the right to list namespaces, only the namespace of the context is known.
        let names = self.namespace_names().await;
        let all_known = names.is_some();
        let namespaces = names.unwrap_or_else(|| {
            let here = self.server.connected.namespace.clone();
            self.reading.0.borrow_mut().notes.push(format!(
                "you may not list namespaces, so what is forbidden everywhere was looked for only in {here}, the namespace of the context; name another with -n"
            ));
            vec![here]
        });
        let rights: Vec<_> = stream::iter(&namespaces)
            .map(|namespace| async move { (namespace.as_str(), self.rights(namespace).await) })
            .buffered(PARALLEL)
            .collect()
            .await;
        let each =
            stream::iter(forbidden).map(|(ty, why)| self.type_by_namespace(ty, why, &rights, all_known));
        each.buffer_unordered(PARALLEL).collect::<()>().await;
    }

    async fn rights(&self, namespace: &str) -> Rights {
        if self.reading.out_of_reach().is_some() {
            return Rights::default();
        }
        let rights = Rights::within(self.server, namespace).await;
        self.check_reachable(rights.as_ref().err().map(Failure::why).as_ref())
            .await;
        rights.unwrap_or_default()
    }

    async fn type_by_namespace(
        &self,
        ty: ResourceType,
        why: Why,
        rights: &[(&str, Rights)],
        all_known: bool,
    ) {
        let mut read = 0;
        let mut read_in = Vec::new();
        for (namespace, rights) in rights {
            if !rights.may_list(&ty) {
                continue;
            }
            let (listed, tally) = self.list(&ty, Some(namespace), &mut Family::of(1), &|_| {}).await;
            let here = self.reading.add(&ty, &listed, tally);
            read += here;
            rights.learn(&ty, !matches!(listed.fault, Some(Why::Forbidden(_))));
            match listed.fault {
                None => read_in.push((*namespace).to_owned()),
                // A review is only a best effort of the authorizers. The answer to the list decides.
                Some(Why::Forbidden(_)) => {}
                Some(why) => {
                    let what = What::TypeIn {
                        name: ty.name(),
                        namespace: (*namespace).to_owned(),
                        read: here,
                    };
                    self.reading.gap(what, why);
                }
            }
        }
        if !(all_known && read_in.len() == rights.len()) {
            self.reading.gap(
                What::TypeOutside {
                    name: ty.name(),
                    read_in,
                },
                why,
            );
        }
        self.reading.answered(&ty, read);
    }

    /// The names of all namespaces, if the user may list them.
    async fn namespace_names(&self) -> Option<Vec<String>> {
        let names = RefCell::new(BTreeSet::new());
        let ty = ResourceType {
            version: "v1".into(),
            plural: "namespaces".into(),
            ..ResourceType::default()
        };
        // The label selector is for objects, not for their namespaces.
        let keep = Keep {
            filter: Filter::default(),
            ..self.keep.clone()
        };
        let observe = |item: &Item<'_>| {
            names.borrow_mut().insert(item.name.to_string());
        };
        let listing = Listing {
            server: self.server,
            ty: &ty,
            namespace: None,
            keep: &keep,
            room: &self.room,
            tally: &RefCell::default(),
            observe: &observe,
        };
        let listed = listing.run(&mut Family::of(1)).await;
        listed
            .fault
            .is_none()
            .then(|| names.into_inner().into_iter().collect())
    }
}
