//! The whole objects of a dump, and the lists that they came in.

use std::collections::BTreeSet;

use serde_json::Value;

/// Fields that are dropped. They fill memory, or hold the data of a Secret, under whatever name.
const CONFIDENTIAL_FIELDS: [&str; 3] = ["data", "stringData", "binaryData"];

/// The whole objects, in the order in which they are read.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) objects: Vec<WholeObject>,
    /// The index of the first object of the current file.
    file_start: usize,
    pub(super) lists: Vec<ListScope>,
    incomplete: bool,
}

#[derive(Debug)]
pub(super) struct WholeObject {
    pub(super) group: usize,
    listed: bool,
    pub(super) value: Value,
}

/// The groups and namespaces that the lists of one file hold objects of.
#[derive(Debug, Default)]
pub(super) struct ListScope {
    pub(super) groups: BTreeSet<usize>,
    pub(super) namespaces: BTreeSet<String>,
}

impl Whole {
    /// Takes one object. The collector has already rejected text that cannot be parsed.
    pub(super) fn take(&mut self, group: usize, listed: bool, text: &str) {
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return;
        };
        if let Some(fields) = value.as_object_mut() {
            for field in CONFIDENTIAL_FIELDS {
                fields.remove(field);
            }
        }
        self.objects.push(WholeObject { group, listed, value });
    }

    /// Records that a list of this file does not reach its end.
    pub(super) fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Ends a file. `clean` says whether all of it could be used.
    pub(super) fn end_file(&mut self, clean: bool) {
        let of_file = self.objects.iter().skip(self.file_start);
        let listed = of_file.filter(|object| object.listed);
        let mut scope = ListScope::default();
        for object in listed {
            scope.groups.insert(object.group);
            let namespace = object
                .value
                .pointer("/metadata/namespace")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if !scope.namespaces.contains(namespace) {
                scope.namespaces.insert(namespace.to_owned());
            }
        }
        if clean && !self.incomplete && !scope.groups.is_empty() {
            scope.namespaces.remove("");
            self.lists.push(scope);
        }
        self.incomplete = false;
        self.file_start = self.objects.len();
    }
}
