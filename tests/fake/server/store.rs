//! The objects: stored one by one, or made when they are requested.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::object::Object;

/// Makes the object with this index, the same one every time.
type Generator = Box<dyn Fn(usize) -> Object + Send>;

/// The objects of one type: first the stored ones, then the generated ones.
#[derive(Default)]
pub struct Collection {
    stored: Vec<Object>,
    generated: Option<(usize, Generator)>,
}

/// All collections, by `plural.group`.
#[derive(Default)]
pub struct Store {
    collections: BTreeMap<String, Collection>,
}

impl Collection {
    pub fn len(&self) -> usize {
        self.stored.len() + self.generated.as_ref().map_or(0, |(count, _)| *count)
    }

    pub fn get(&self, index: usize) -> Option<Cow<'_, Object>> {
        if let Some(object) = self.stored.get(index) {
            return Some(Cow::Borrowed(object));
        }
        let (count, make) = self.generated.as_ref()?;
        let index = index - self.stored.len();
        (index < *count).then(|| Cow::Owned(make(index)))
    }

    /// A stored object by name. Generated objects are never read alone.
    pub fn find(&self, namespace: &str, name: &str) -> Option<&Object> {
        self.stored
            .iter()
            .find(|object| object.namespace == namespace && object.name == name)
    }
}

impl Store {
    pub fn add(&mut self, type_name: &str, object: Object) {
        self.collections
            .entry(type_name.into())
            .or_default()
            .stored
            .push(object);
    }

    pub fn generate(&mut self, type_name: &str, count: usize, make: Generator) {
        self.collections.entry(type_name.into()).or_default().generated = Some((count, make));
    }

    pub fn collection(&self, type_name: &str) -> Option<&Collection> {
        self.collections.get(type_name)
    }

    /// Every type name with objects, so that a misspelt one is found at the start.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.collections.keys()
    }
}
