//! What it costs to take a finalizer out of this very object, and whether that was accepted by its name.
//!
//! The catalogue knows what each finalizer protects. Of what it does not know nobody can say what is lost, so the
//! worst is assumed: an unknown cost is not a small one.

use serde_json::Value;

use super::{Plan, Refusal};
use crate::{
    diagnose::filled,
    knowledge::{Consequence, Entry, Wait},
    object::Finalizer,
    snapshot::facts::Object,
};

use super::Seen;

/// What is lost or left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The class.
    pub consequence: Consequence,
    /// In words, for this object.
    pub text: String,
    /// What stays outside with nobody to clean it up, by the names that this object has for it.
    pub outside: Vec<Outside>,
}

/// Something outside Kubernetes, as the object names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// What it is.
    pub what: String,
    /// The field that names it.
    pub field: String,
    /// What stands there.
    pub id: String,
}

impl Cost {
    /// Nothing.
    pub(super) fn nothing(text: &str) -> Self {
        Cost {
            consequence: Consequence::None,
            text: text.to_owned(),
            outside: Vec::new(),
        }
    }

    /// What it costs to take `finalizer` out of the object by hand.
    pub(super) fn of(seen: &Seen<'_>, finalizer: &Finalizer) -> Self {
        let object = seen.object;
        let reference = object.reference();
        let entry = seen
            .knowledge
            .lookup(&finalizer.name, finalizer.list, Some((&reference).into()))
            .filter(|entry| !entry.last_resort);
        let Some(entry) = entry else {
            return Cost {
                consequence: Consequence::DataLoss,
                text: format!(
                    "what {} protects is not known here, so the worst is assumed: whatever its controller would have \
                     cleaned up, saved or detached first is not",
                    finalizer.name
                ),
                outside: Vec::new(),
            };
        };
        let mut outside = outside(object, &entry);
        if entry.if_removed.consequence >= Consequence::LeakedInfrastructure {
            outside.extend(disk(object));
        }
        Cost {
            consequence: entry.if_removed.consequence,
            text: filled(&entry.if_removed.text, object, finalizer, &entry),
            outside,
        }
    }

    /// Whether it must be accepted by its name before anything is sent. A record that is lost need not be.
    pub fn must_be_accepted(&self) -> bool {
        self.consequence > Consequence::Metadata
    }
}

/// Why what was accepted is not enough, or is not what these plans cost: one word accepts one consequence, and a word
/// that none of them has would be a blanket.
pub fn unaccepted(plans: &[Plan], accepted: &[Consequence]) -> Vec<Refusal> {
    let missing = plans
        .iter()
        .filter(|plan| plan.cost.must_be_accepted() && !accepted.contains(&plan.cost.consequence))
        .map(|plan| Refusal {
            target: plan.target.clone().into(),
            why: format!("it costs {}: {}", plan.cost.consequence, plan.cost.text),
            needs: format!(
                "whoever may decide that accepts it by its name: --accept {}",
                plan.cost.consequence.typed()
            ),
        });
    let needless = accepted.iter().filter_map(|word| {
        let plan = plans.first()?;
        plans
            .iter()
            .all(|plan| plan.cost.consequence != *word)
            .then(|| Refusal {
                target: plan.target.clone().into(),
                why: format!("--accept {} accepts what nothing here costs", word.typed()),
                needs: format!(
                    "only the consequence of this very plan is accepted: {}",
                    plan.cost.consequence.typed()
                ),
            })
    });
    missing.chain(needless).collect()
}

fn outside(object: &Object, entry: &Entry) -> Vec<Outside> {
    let named = entry.waits_for.on.iter().filter_map(|wait| match wait {
        Wait::External { what, id } => Some((what, id)),
        _ => None,
    });
    let mut found = Vec::new();
    for (what, fields) in named {
        for field in fields {
            if let Some(id) = at(&object.value, field) {
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

/// The disk behind a volume, by the name that its driver gave it.
fn disk(object: &Object) -> Option<Outside> {
    let handle = object.text("/spec/csi/volumeHandle");
    let is_volume = object.is("", "persistentvolumes") && !handle.is_empty();
    is_volume.then(|| Outside {
        what: format!("the disk that driver {} made", object.text("/spec/csi/driver")),
        field: "spec.csi.volumeHandle".into(),
        id: handle.to_owned(),
    })
}

/// A field by its path; keys may have dots of their own, as annotations do. Texts as they are, the rest as JSON.
fn at(value: &Value, path: &str) -> Option<String> {
    if let Some(found) = value.get(path) {
        return match found {
            Value::Null => None,
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            other => Some(other.to_string()),
        };
    }
    path.match_indices('.')
        .find_map(|(dot, _)| at(value.get(&path[..dot])?, &path[dot + 1..]))
}
