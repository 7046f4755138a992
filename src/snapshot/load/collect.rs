//! What has been met so far in a dump, in whatever order it came.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{BuildHasher, RandomState},
};

use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{
    json,
    kinds::{Custom, Customs},
    place::Place,
    time::Times,
    whole::Whole,
};
use crate::snapshot::{
    Filter, Gap, Item, What, Why,
    json::{Beyond, Object},
};

/// How many faults of one file are told one by one. A file that is something else altogether would otherwise
/// fill the screen.
const FAULTS_TOLD: u64 = 20;

/// What a list says about its items. Kubernetes leaves their kind out in a list of one type, and kubectl's
/// sorted keys put the list's own kind behind them.
#[derive(Debug, Default)]
pub(super) struct ListHead {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    /// Whether objects are its items.
    pub(super) is_list: bool,
    /// Whether it says itself that it is only a page.
    pub(super) is_page: bool,
    /// The group of items that wait for the list's kind.
    waiting: Option<usize>,
}

impl ListHead {
    /// Whether `items` are a list's, as far as is known by now.
    pub(super) fn may_be_list(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind.ends_with("List"))
    }

    /// What the items of a list of one type are.
    fn item_type(&self) -> Option<(&str, &str)> {
        let kind = self.kind.as_deref()?.strip_suffix("List")?;
        Some((self.api_version.as_deref()?, kind)).filter(|(_, kind)| !kind.is_empty())
    }
}

/// All objects of one `apiVersion` and kind.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// None while the list that they come from has not said it.
    pub(super) name: Option<(String, String)>,
    /// Objects with neither finalizers nor a deletion mark, by namespace.
    pub(super) bare: BTreeMap<String, u64>,
    /// Whether any object of it has a namespace.
    pub(super) in_namespaces: bool,
    /// Whether it turned out to be the same as another one.
    pub(super) same_as: Option<usize>,
}

/// An object that carries a finalizer or a deletion mark.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) group: usize,
    pub(super) item: Item<'static>,
}

/// Where an object that was met is counted.
#[derive(Clone, Copy, Debug)]
enum Met {
    Bare,
    Stored(usize),
    /// Of another namespace, or without the labels.
    Elsewhere,
}

/// Everything that files brought.
pub(super) struct Collector<'a> {
    namespace: Option<&'a str>,
    filter: &'a Filter,
    pub(super) groups: Vec<Group>,
    pub(super) stored: Vec<Stored>,
    pub(super) customs: Customs,
    pub(super) namespaces: BTreeSet<String>,
    pub(super) gaps: Vec<Gap>,
    pub(super) notes: Vec<String>,
    pub(super) time: Times,
    pub(super) repeated: u64,
    /// The objects themselves, where they are wanted.
    pub(super) whole: Option<Whole>,
    /// Hashes instead of names: an object costs 24 bytes here, and a dump may have a million. The key of the
    /// hash is random, so nobody can prepare a dump in which one object hides another.
    met: HashMap<u64, Met>,
    hasher: RandomState,
    lists: u64,
    file: OpenFile,
}

/// The file being read.
#[derive(Default)]
struct OpenFile {
    name: String,
    faults: u64,
    strangers: u64,
    first_stranger: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(namespace: Option<&'a str>, filter: &'a Filter) -> Self {
        Collector {
            namespace,
            filter,
            groups: Vec::new(),
            stored: Vec::new(),
            customs: Customs::new(),
            namespaces: BTreeSet::new(),
            gaps: Vec::new(),
            notes: Vec::new(),
            time: Times::default(),
            repeated: 0,
            whole: None,
            met: HashMap::new(),
            hasher: RandomState::new(),
            lists: 0,
            file: OpenFile::default(),
        }
    }

    /// Whether nothing that was read is an object, or a list of them.
    pub(super) fn is_empty(&self) -> bool {
        self.met.is_empty() && self.lists == 0
    }

    pub(super) fn begin_file(&mut self, name: &str) {
        self.file = OpenFile {
            name: name.to_owned(),
            ..OpenFile::default()
        };
    }

    pub(super) fn end_file(&mut self) {
        let file = std::mem::take(&mut self.file);
        if let Some(whole) = &mut self.whole {
            whole.end_file(file.faults == 0);
        }
        if file.faults > FAULTS_TOLD {
            self.gaps.push(Gap {
                what: What::File {
                    path: file.name.clone(),
                    line: None,
                },
                why: Why::Undecodable(format!(
                    "{} more parts of it could not be used",
                    file.faults - FAULTS_TOLD
                )),
            });
        }
        if file.strangers > 0 {
            self.notes.push(format!(
                "{}: {} documents are no Kubernetes objects, the first at line {}",
                file.name, file.strangers, file.first_stranger
            ));
        }
    }

    /// Something of the current file could not be used.
    pub(super) fn gap(&mut self, line: Option<u64>, why: String) {
        self.fault(|| line, Why::Undecodable(why));
    }

    fn fault(&mut self, line: impl FnOnce() -> Option<u64>, why: Why) {
        self.file.faults += 1;
        if self.file.faults <= FAULTS_TOLD {
            self.gaps.push(Gap {
                what: What::File {
                    path: self.file.name.clone(),
                    line: line(),
                },
                why,
            });
        }
    }

    /// A document that does not even claim to be an object: the values of a chart, a configuration file.
    pub(super) fn stranger(&mut self, line: u64) {
        if self.file.strangers == 0 {
            self.file.first_stranger = line;
        }
        self.file.strangers += 1;
    }

    /// Something worth knowing about the current file.
    pub(super) fn note_file(&mut self, what: &str) {
        self.notes.push(format!("{} {what}", self.file.name));
    }

    /// Takes one object, of which `list` says the type if it does not itself. A list in place of an object is
    /// unpacked.
    pub(super) fn object(&mut self, text: &str, list: &mut ListHead, place: Place<'_>, depth: u8) {
        if let Err(why) = self.take(text, list, place, depth) {
            self.fault(|| Some(place.line(text)), why);
        }
    }

    fn take(&mut self, text: &str, list: &mut ListHead, place: Place<'_>, depth: u8) -> Result<(), Why> {
        let object: Object<'_> = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(error) => return self.take_other(text, place, depth, &error),
        };
        let group = match (object.api_version(), object.kind()) {
            (Some(_), Some(kind)) if kind.ends_with("List") => {
                if Other::of(text).is_some_and(|other| other.items.is_some()) {
                    return self.nested(text, place, depth);
                }
                self.group_of(object.api_version(), object.kind())
            }
            (Some("v1"), Some("Status")) => return Err(Other::of(text).unwrap_or_default().status()),
            (Some(api_version), Some(kind)) => {
                not_an_object(api_version, kind)?;
                self.group_of(Some(api_version), Some(kind))
            }
            (None, None) => match list.item_type() {
                Some((api_version, kind)) => self.group_of(Some(api_version), Some(kind)),
                None if list.kind.is_none() => Some(self.waiting(list)),
                None => None,
            },
            _ => None,
        };
        let group = group.ok_or_else(|| {
            Why::Undecodable("an object that does not say both its apiVersion and its kind".into())
        })?;
        self.learn(group, text);
        self.count(group, object)?;
        if let Some(whole) = &mut self.whole {
            whole.take(group, list.is_list, text);
        }
        Ok(())
    }

    /// What has no metadata: a list, or no object at all.
    fn take_other(
        &mut self,
        text: &str,
        place: Place<'_>,
        depth: u8,
        error: &serde_json::Error,
    ) -> Result<(), Why> {
        let other = Other::of(text).unwrap_or_default();
        if other.items.is_some() && other.kind.as_deref().is_none_or(|kind| kind.ends_with("List")) {
            return self.nested(text, place, depth);
        }
        if other.kind.is_none() && other.api_version.is_none() && other.is_map && !other.metadata {
            self.stranger(place.line(text));
            return Ok(());
        }
        let error = error.to_string();
        let what = error.split(" at line ").next().unwrap_or_default();
        Err(Why::Undecodable(format!(
            "{} that makes no sense: {what}",
            other.kind.as_deref().unwrap_or("an object")
        )))
    }

    fn nested(&mut self, text: &str, place: Place<'_>, depth: u8) -> Result<(), Why> {
        if depth >= json::DEEPEST {
            return Err(Why::Undecodable("lists in lists, too deep to follow".into()));
        }
        let place = match place {
            Place::Within(..) => Place::Within(text, place.line(text)),
            line @ Place::Line(_) => line,
        };
        json::value(self, text, place, depth + 1)
            .map(drop)
            .map_err(|error| Why::Undecodable(error.to_string()))
    }

    /// Ends a list whose items were taken one by one.
    pub(super) fn close_list(&mut self, list: &ListHead, line: u64) {
        self.lists += 1;
        if let Some(whole) = self.whole.as_mut().filter(|_| list.is_page) {
            whole.tear();
        }
        let of = list
            .item_type()
            .filter(|(api_version, kind)| not_an_object(api_version, kind).is_ok());
        let known = of.and_then(|(api_version, kind)| self.group_of(Some(api_version), Some(kind)));
        let Some(waiting) = list.waiting else { return };
        if known.is_some() {
            self.groups[waiting].same_as = known;
            return;
        }
        let items = self.groups[waiting].bare.values().sum::<u64>()
            + self
                .stored
                .iter()
                .filter(|stored| stored.group == waiting)
                .count() as u64;
        self.gap(
            Some(line),
            format!("{items} items of a list that does not say what they are"),
        );
    }

    /// The group of this name.
    fn group_of(&mut self, api_version: Option<&str>, kind: Option<&str>) -> Option<usize> {
        let (api_version, kind) = (api_version?, kind?);
        let is = |group: &Group| {
            group
                .name
                .as_ref()
                .is_some_and(|(own, name)| own == api_version && name == kind)
        };
        // Objects come sorted by type: the last group is nearly always the one.
        if self.groups.last().is_some_and(is) {
            return Some(self.groups.len() - 1);
        }
        if let Some(at) = self.groups.iter().position(is) {
            return Some(at);
        }
        self.groups.push(Group {
            name: Some((api_version.to_owned(), kind.to_owned())),
            ..Group::default()
        });
        Some(self.groups.len() - 1)
    }

    fn waiting(&mut self, list: &mut ListHead) -> usize {
        *list.waiting.get_or_insert_with(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        })
    }

    /// What a few kinds say beyond their metadata.
    fn learn(&mut self, group: usize, text: &str) {
        match &self.groups[group].name {
            Some((api_version, kind))
                if kind == "CustomResourceDefinition" && api_version.starts_with("apiextensions.k8s.io/") =>
            {
                if let Ok(Spec { spec: custom }) = serde_json::from_str::<Spec<Custom>>(text) {
                    self.customs
                        .insert((custom.group.clone(), custom.names.kind.clone()), custom);
                }
            }
            Some((api_version, kind))
                if kind == "Lease" && api_version.starts_with("coordination.k8s.io/") =>
            {
                let renewed =
                    serde_json::from_str::<Spec<LeaseSpec>>(text).map(|lease| lease.spec.renew_time);
                if let Ok(Some(time)) = renewed {
                    self.time.renewal(time);
                }
            }
            _ => {}
        }
    }

    fn count(&mut self, group: usize, object: Object<'_>) -> Result<(), Why> {
        let labels = match &self.filter.selector {
            Some(_) => object.labels().map_err(Why::Undecodable)?,
            None => BTreeMap::new(),
        };
        let beyond = match &self.groups[group].name {
            Some((api_version, kind)) => {
                Beyond::of(api_version.split_once('/').map_or("", |(group, _)| group), kind)
            }
            // It may turn out to be Namespaces; others have no such fields, or ignore them.
            None => Beyond::Namespace,
        };
        let item = object.item(beyond).map_err(Why::Undecodable)?;
        if item.name.is_empty() {
            return Err(Why::Undecodable("an object without a name".into()));
        }
        self.time.object(&item);
        let key = if item.uid.is_empty() {
            self.hasher.hash_one((group, &item.namespace, &item.name))
        } else {
            self.hasher.hash_one(&item.uid)
        };
        if !item.namespace.is_empty() {
            self.groups[group].in_namespaces = true;
            if !self.namespaces.contains(&*item.namespace) {
                self.namespaces.insert(item.namespace.clone().into_owned());
            }
        }
        let elsewhere = !item.namespace.is_empty()
            && self
                .namespace
                .is_some_and(|namespace| namespace != item.namespace);
        let met = match self.met.get(&key) {
            Some(&before) => {
                self.repeated += 1;
                self.later(group, before, item)
            }
            None if elsewhere || !self.filter.labels(&labels) => Met::Elsewhere,
            None => self.add(group, item),
        };
        self.met.insert(key, met);
        Ok(())
    }

    fn add(&mut self, group: usize, item: Item<'_>) -> Met {
        if item.is_bare() {
            let bare = &mut self.groups[group].bare;
            match bare.get_mut(&*item.namespace) {
                Some(count) => *count += 1,
                None => drop(bare.insert(item.namespace.into_owned(), 1)),
            }
            return Met::Bare;
        }
        self.stored.push(Stored {
            group,
            item: owned(item),
        });
        Met::Stored(self.stored.len() - 1)
    }

    /// The same object once more, perhaps from a dump of another day. A deletion mark never goes and the
    /// finalizers under it only become fewer, so the copy that is further along is the later one.
    fn later(&mut self, group: usize, before: Met, item: Item<'_>) -> Met {
        match before {
            Met::Bare if item.deletion.is_some() => {
                if let Some(count) = self.groups[group].bare.get_mut(&*item.namespace) {
                    *count = count.saturating_sub(1);
                }
                self.add(group, item)
            }
            Met::Stored(at) => {
                let old = &self.stored[at].item;
                let fewer = item.all_finalizers().len() < old.all_finalizers().len();
                if item.deletion.is_some() && (old.deletion.is_none() || fewer) {
                    self.stored[at].item = owned(item);
                }
                before
            }
            Met::Bare | Met::Elsewhere => before,
        }
    }
}

/// Refuses kinds whose lists do not hold the objects themselves.
fn not_an_object(api_version: &str, kind: &str) -> Result<(), Why> {
    match (api_version, kind) {
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", "Table") => Err(Why::Undecodable(
            "a table, which leaves out finalizers; save objects with -o yaml or -o json".into(),
        )),
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", "PartialObjectMetadata") => Err(Why::Undecodable(
            "metadata alone, which does not say the type; save whole objects".into(),
        )),
        _ => Ok(()),
    }
}

fn owned(item: Item<'_>) -> Item<'static> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    Item {
        namespace: own(item.namespace),
        name: own(item.name),
        uid: own(item.uid),
        created: item.created,
        deletion: item.deletion,
        grace_seconds: item.grace_seconds,
        finalizers: item.finalizers.into_iter().map(own).collect(),
        namespace_only: item.namespace_only,
        driver: item.driver,
    }
}

#[derive(Deserialize)]
struct Spec<T> {
    spec: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeaseSpec {
    renew_time: Option<Timestamp>,
}

/// What is not an object, looked at to say what it is.
#[derive(Default)]
struct Other<'a> {
    is_map: bool,
    api_version: Option<String>,
    kind: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    metadata: bool,
    items: Option<&'a RawValue>,
}

impl<'a> Other<'a> {
    fn of(text: &'a str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Raw<'a> {
            #[serde(borrow)]
            api_version: Option<&'a RawValue>,
            #[serde(borrow)]
            kind: Option<&'a RawValue>,
            #[serde(borrow)]
            reason: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            metadata: Option<IgnoredAny>,
            #[serde(borrow)]
            items: Option<&'a RawValue>,
        }
        if !text.trim_start().starts_with('{') {
            return None;
        }
        let raw: Raw<'a> = serde_json::from_str(text).ok()?;
        let text = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Some(Other {
            is_map: true,
            api_version: text(raw.api_version),
            kind: text(raw.kind),
            reason: text(raw.reason),
            message: text(raw.message),
            metadata: raw.metadata.is_some(),
            items: raw.items.filter(|items| items.get().starts_with(['[', 'n'])),
        })
    }

    /// The server's refusal, saved in place of what was asked for.
    fn status(self) -> Why {
        let message = self.message.unwrap_or_default();
        match self.reason.as_deref() {
            Some("Forbidden" | "Unauthorized") => Why::Forbidden(message),
            _ => Why::ServerError(format!(
                "the server's refusal was saved instead of objects: {message}"
            )),
        }
    }
}
