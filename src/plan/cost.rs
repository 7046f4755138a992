//! The cost of removing a finalizer from this object.
//!
//! The catalogue knows what each finalizer protects. Nobody knows what is lost with an unknown finalizer, so
//! the worst is assumed: an unknown cost is not a small cost.

use serde_json::Value;

use crate::{
    diagnose::{filled, kinds::PersistentVolume},
    knowledge::{Consequence, Entry, Knowledge, Wait},
    object::Finalizer,
    snapshot::facts::Object,
};

/// What is lost or leaked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The class of the consequence.
    pub consequence: Consequence,
    /// The cost in words, for this object.
    pub text: String,
    /// The external resources that no controller cleans up, as this object names them.
    pub outside: Vec<Outside>,
    /// Whether somebody described the finalizer. Otherwise the worst is assumed.
    pub known: bool,
}

/// A resource outside Kubernetes, as the object names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The kind of resource, in words.
    pub what: String,
    /// The field that names the resource.
    pub field: String,
    /// The value of that field.
    pub id: String,
}

impl Cost {
    /// No cost, and why.
    pub(super) fn nothing(text: &str) -> Self {
        Cost {
            consequence: Consequence::None,
            text: text.to_owned(),
            outside: Vec::new(),
            known: true,
        }
    }

    /// The cost of removing `finalizer` from the object by hand.
    pub(super) fn of(object: &Object, finalizer: &Finalizer, knowledge: &Knowledge) -> Self {
        let reference = object.reference();
        let (consequence, entry) = knowledge.removal_cost(finalizer, Some((&reference).into()));
        let Some(entry) = entry else {
            return Cost {
                consequence,
                text: "this finalizer is unknown, so it may protect data. Whatever its controller would clean up, save or \
                       detach first is left as it is."
                    .into(),
                outside: Vec::new(),
                known: false,
            };
        };
        let mut outside = external_resources(object, &entry);
        if consequence >= Consequence::LeakedInfrastructure {
            outside.extend(disk(object));
        }
        Cost {
            consequence,
            text: filled(&entry.if_removed.text, object, finalizer, &entry),
            outside,
            known: true,
        }
    }

    /// Whether the user must accept the cost by its name before anything is sent. A lost record need not be
    /// accepted.
    pub fn must_be_accepted(&self) -> bool {
        self.consequence > Consequence::Metadata
    }
}

fn external_resources(object: &Object, entry: &Entry) -> Vec<Outside> {
    let named = entry.waits_for.on.iter().filter_map(|wait| match wait {
        Wait::External { what, id } => Some((what, id)),
        _ => None,
    });
    let mut found = Vec::new();
    for (what, fields) in named {
        for field in fields {
            if let Some(id) = field_at(&object.value, field) {
                found.push(Outside {
                    what: what.clone(),
                    field: field.clone(),
                    id,
                });
            }
        }
    }
    found
}

/// The disk of a volume, by the name that its driver gave it.
pub(super) fn disk(object: &Object) -> Option<Outside> {
    let handle = PersistentVolume(object).disk();
    let is_volume = object.is("", "persistentvolumes") && !handle.is_empty();
    is_volume.then(|| Outside {
        what: format!(
            "the disk that driver {} made",
            PersistentVolume(object).csi_driver()
        ),
        field: "spec.csi.volumeHandle".into(),
        id: handle.to_owned(),
    })
}

/// The value of a field by its path. Keys may contain dots, as those of annotations do. Strings are returned as
/// they are, other values as JSON.
fn field_at(value: &Value, path: &str) -> Option<String> {
    if let Some(found) = value.get(path) {
        return match found {
            Value::Null => None,
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            other => Some(other.to_string()),
        };
    }
    path.match_indices('.').find_map(|(dot, _)| {
        let (first, rest) = path.split_at_checked(dot)?;
        field_at(value.get(first)?, rest.strip_prefix('.')?)
    })
}
