//! Collects the objects of a dump, in whatever order they come.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{BuildHasher, RandomState},
};

use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{
    kinds::{Custom, Customs},
    place::Location,
    time::Times,
    whole::Whole,
};
use crate::snapshot::{
    Filter, Gap, Item, What, Why,
    json::{ExtraFields, Object},
};

/// How many faults of one file are reported one by one. A file of another kind would otherwise fill the screen.
const MAX_FAULTS: u64 = 20;

/// What a list says about its items. A list of one type leaves out the kind of its items. kubectl sorts keys, so the
/// list's own kind follows the items.
#[derive(Debug, Default)]
pub(super) struct ListHead {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    /// Whether it has objects as items.
    pub(super) is_list: bool,
    /// Whether it says that it is only one page.
    pub(super) is_page: bool,
    /// The group of the items, while the kind of the list is not known.
    untyped: Option<usize>,
}

impl ListHead {
    /// Whether `items` belong to a list, as far as is known so far.
    pub(super) fn may_be_list(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind.ends_with("List"))
    }

    /// `apiVersion` and kind of the items of a list of one type.
    fn item_type(&self) -> Option<(&str, &str)> {
        let kind = self.kind.as_deref()?.strip_suffix("List")?;
        Some((self.api_version.as_deref()?, kind)).filter(|(_, kind)| !kind.is_empty())
    }
}

/// All objects of one `apiVersion` and kind.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// `apiVersion` and kind; none while the list has not named them.
    pub(super) name: Option<(String, String)>,
    /// The number of objects with neither finalizers nor deletion mark, by namespace.
    pub(super) bare: BTreeMap<String, u64>,
    /// Whether any of the objects has a namespace.
    pub(super) in_namespaces: bool,
    /// The group that has the same `apiVersion` and kind, if there is one.
    pub(super) same_as: Option<usize>,
}

/// An object with a finalizer or a deletion mark.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) group: usize,
    pub(super) item: Item<'static>,
}

/// How an object is counted.
#[derive(Clone, Copy, Debug)]
enum CountedAs {
    Bare,
    Stored(usize),
    /// Not counted: it is in another namespace, or lacks the labels.
    NotWanted,
}

/// What a value of a file turned out to be.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    /// An object; it is counted.
    Object,
    /// A list; its items are still to be taken.
    List,
    /// No Kubernetes object; it is noted.
    Nothing,
}

/// Everything that was read from the files.
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
    /// The whole objects, if they are wanted.
    pub(super) whole: Option<Whole>,
    /// How each object is counted, by the hash of its uid or name. An entry costs 24 bytes, and a dump may have a
    /// million objects. The key of the hash is random, so that nobody can prepare a dump in which one object hides
    /// another.
    counted: HashMap<u64, CountedAs>,
    hasher: RandomState,
    lists: u64,
    file: CurrentFile,
}

/// The file that is being read.
#[derive(Default)]
struct CurrentFile {
    name: String,
    faults: u64,
    other_documents: u64,
    first_other_document: u64,
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
            counted: HashMap::new(),
            hasher: RandomState::new(),
            lists: 0,
            file: CurrentFile::default(),
        }
    }

    /// Whether no file held an object, or a list of objects.
    pub(super) fn is_empty(&self) -> bool {
        self.counted.is_empty() && self.lists == 0
    }

    pub(super) fn begin_file(&mut self, name: &str) {
        self.file = CurrentFile {
            name: name.to_owned(),
            ..CurrentFile::default()
        };
    }

    pub(super) fn end_file(&mut self) {
        let file = std::mem::take(&mut self.file);
        if let Some(whole) = &mut self.whole {
            whole.end_file(file.faults == 0);
        }
        if file.faults > MAX_FAULTS {
            self.gaps.push(Gap {
                what: What::File {
                    path: file.name.clone(),
                    line: None,
                },
                why: Why::Undecodable(format!(
                    "{} more parts of it could not be used",
                    file.faults - MAX_FAULTS
                )),
            });
        }
        if file.other_documents > 0 {
            self.notes.push(format!(
                "{}: {} documents are no Kubernetes objects, the first at line {}",
                file.name, file.other_documents, file.first_other_document
            ));
        }
    }

    /// Records that a part of the current file could not be used.
    pub(super) fn gap(&mut self, line: Option<u64>, why: String) {
        self.fault(|| line, Why::Undecodable(why));
    }

    /// Records a fault of the current file.
    pub(super) fn fault(&mut self, line: impl FnOnce() -> Option<u64>, why: Why) {
        self.file.faults += 1;
        if self.file.faults <= MAX_FAULTS {
            self.gaps.push(Gap {
                what: What::File {
                    path: self.file.name.clone(),
                    line: line(),
                },
                why,
            });
        }
    }

    /// Records a document that is no Kubernetes object: the values of a chart, a configuration file.
    pub(super) fn other_document(&mut self, line: u64) {
        if self.file.other_documents == 0 {
            self.file.first_other_document = line;
        }
        self.file.other_documents += 1;
    }

    /// Adds a note about the current file.
    pub(super) fn note_file(&mut self, what: &str) {
        self.notes.push(format!("{} {what}", self.file.name));
    }

    /// Takes one object. `list` gives its type if the object does not. A list in place of an object is left to the
    /// caller.
    pub(super) fn take(
        &mut self,
        text: &str,
        list: &mut ListHead,
        location: Location<'_>,
    ) -> Result<Taken, Why> {
        let object: Object<'_> = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(error) => return self.take_other(text, location, &error),
        };
        let group = match (object.api_version(), object.kind()) {
            (Some(_), Some(kind)) if kind.ends_with("List") => {
                if NotObject::of(text).is_some_and(|other| other.items.is_some()) {
                    return Ok(Taken::List);
                }
                self.group_of(object.api_version(), object.kind())
            }
            (Some("v1"), Some("Status")) => return Err(NotObject::of(text).unwrap_or_default().status()),
            (Some(api_version), Some(kind)) => {
                not_an_object(api_version, kind)?;
                self.group_of(Some(api_version), Some(kind))
            }
            (None, None) => match list.item_type() {
                Some((api_version, kind)) => self.group_of(Some(api_version), Some(kind)),
                None if list.kind.is_none() => Some(self.untyped(list)),
                None => None,
            },
            _ => None,
        };
        let group = group.ok_or_else(|| {
            Why::Undecodable("an object that does not say both its apiVersion and its kind".into())
        })?;
        self.read_spec(group, text);
        self.count(group, object)?;
        if let Some(whole) = &mut self.whole {
            whole.take(group, list.is_list, text);
        }
        Ok(Taken::Object)
    }

    /// Handles a value without metadata: a list, or no object at all.
    fn take_other(
        &mut self,
        text: &str,
        location: Location<'_>,
        error: &serde_json::Error,
    ) -> Result<Taken, Why> {
        let other = NotObject::of(text).unwrap_or_default();
        if other.items.is_some() && other.kind.as_deref().is_none_or(|kind| kind.ends_with("List")) {
            return Ok(Taken::List);
        }
        if other.kind.is_none() && other.api_version.is_none() && other.is_map && !other.metadata {
            self.other_document(location.line(text));
            return Ok(Taken::Nothing);
        }
        let error = error.to_string();
        let what = error.split(" at line ").next().unwrap_or_default();
        Err(Why::Undecodable(format!(
            "{} that makes no sense: {what}",
            other.kind.as_deref().unwrap_or("an object")
        )))
    }

    /// Ends a list after its items.
    pub(super) fn close_list(&mut self, list: &ListHead, line: u64) {
        self.lists += 1;
        if let Some(whole) = self.whole.as_mut().filter(|_| list.is_page) {
            whole.mark_incomplete();
        }
        let item_type = list
            .item_type()
            .filter(|(api_version, kind)| not_an_object(api_version, kind).is_ok());
        let known = item_type.and_then(|(api_version, kind)| self.group_of(Some(api_version), Some(kind)));
        let Some(untyped) = list.untyped else { return };
        if known.is_some() {
            if let Some(group) = self.groups.get_mut(untyped) {
                group.same_as = known;
            }
            return;
        }
        let bare = self
            .groups
            .get(untyped)
            .map(|group| group.bare.values().sum::<u64>());
        let items = bare.unwrap_or_default()
            + self
                .stored
                .iter()
                .filter(|stored| stored.group == untyped)
                .count() as u64;
        self.gap(
            Some(line),
            format!("{items} items of a list that does not say what they are"),
        );
    }

    /// The group of this `apiVersion` and kind.
    fn group_of(&mut self, api_version: Option<&str>, kind: Option<&str>) -> Option<usize> {
        let (api_version, kind) = (api_version?, kind?);
        let is = |group: &Group| {
            group
                .name
                .as_ref()
                .is_some_and(|(own, name)| own == api_version && name == kind)
        };
        // Objects are sorted by type, so the last group nearly always matches.
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

    /// The `apiVersion` and the kind of a group.
    fn name_of(&self, group: usize) -> Option<&(String, String)> {
        self.groups.get(group)?.name.as_ref()
    }

    fn untyped(&mut self, list: &mut ListHead) -> usize {
        *list.untyped.get_or_insert_with(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        })
    }

    /// Reads what a few kinds say beyond their metadata.
    fn read_spec(&mut self, group: usize, text: &str) {
        match self.name_of(group) {
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
        let extra_fields = match self.name_of(group) {
            Some((api_version, kind)) => {
                ExtraFields::of(api_version.split_once('/').map_or("", |(group, _)| group), kind)
            }
            // The kind may turn out to be Namespace. NotObject kinds have no such fields, or ignore them.
            None => ExtraFields::Namespace,
        };
        let item = object.item(extra_fields).map_err(Why::Undecodable)?;
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
            if let Some(group) = self.groups.get_mut(group) {
                group.in_namespaces = true;
            }
            if !self.namespaces.contains(&*item.namespace) {
                self.namespaces.insert(item.namespace.clone().into_owned());
            }
        }
        let in_other_namespace = !item.namespace.is_empty()
            && self
                .namespace
                .is_some_and(|namespace| namespace != item.namespace);
        let counted = match self.counted.get(&key) {
            Some(&before) => {
                self.repeated += 1;
                self.keep_later_copy(group, before, item)
            }
            None if in_other_namespace || !self.filter.labels(&labels) => CountedAs::NotWanted,
            None => self.add(group, item),
        };
        self.counted.insert(key, counted);
        Ok(())
    }

    fn add(&mut self, group: usize, item: Item<'_>) -> CountedAs {
        if item.is_bare()
            && let Some(Group { bare, .. }) = self.groups.get_mut(group)
        {
            match bare.get_mut(&*item.namespace) {
                Some(count) => *count += 1,
                None => drop(bare.insert(item.namespace.into_owned(), 1)),
            }
            return CountedAs::Bare;
        }
        self.stored.push(Stored {
            group,
            item: owned(item),
        });
        CountedAs::Stored(self.stored.len() - 1)
    }

    /// Handles a second copy of an object, perhaps from an older dump. A deletion mark never disappears, and the
    /// finalizers under it only become fewer. So the copy that is further along in its deletion is the keep_later_copy one.
    fn keep_later_copy(&mut self, group: usize, before: CountedAs, item: Item<'_>) -> CountedAs {
        match before {
            CountedAs::Bare if item.deletion.is_some() => {
                let bare = self.groups.get_mut(group).map(|group| &mut group.bare);
                if let Some(count) = bare.and_then(|bare| bare.get_mut(&*item.namespace)) {
                    *count = count.saturating_sub(1);
                }
                self.add(group, item)
            }
            CountedAs::Stored(at) => {
                let Some(Stored { item: old, .. }) = self.stored.get_mut(at) else {
                    return before;
                };
                let fewer = item.all_finalizers().len() < old.all_finalizers().len();
                if item.deletion.is_some() && (old.deletion.is_none() || fewer) {
                    *old = owned(item);
                }
                before
            }
            CountedAs::Bare | CountedAs::NotWanted => before,
        }
    }
}

/// Rejects kinds whose lists do not hold the objects themselves.
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

/// A value that is not an object, parsed to say what it is.
#[derive(Default)]
struct NotObject<'a> {
    is_map: bool,
    api_version: Option<String>,
    kind: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    metadata: bool,
    items: Option<&'a RawValue>,
}

impl<'a> NotObject<'a> {
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
        Some(NotObject {
            is_map: true,
            api_version: text(raw.api_version),
            kind: text(raw.kind),
            reason: text(raw.reason),
            message: text(raw.message),
            metadata: raw.metadata.is_some(),
            items: raw.items.filter(|items| items.get().starts_with(['[', 'n'])),
        })
    }

    /// The server's refusal, saved in place of the objects.
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
