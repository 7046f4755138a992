//! Words of the catalogue that may stay in a redacted snapshot.

use serde_json::Value;

use super::{Knowledge, schema::product_words};
use crate::snapshot::saved::Public;

impl Knowledge {
    /// What the catalogue knows, and so tells nothing about a cluster. The names of controllers reveal which products
    /// somebody uses, and a diagnosis needs them. The words of a user's own entries are no public words.
    pub fn public(&self) -> Public {
        let mut public = Public::default();
        for entry in self.all() {
            add_names(
                &serde_json::to_value(&entry.holder).unwrap_or_default(),
                &mut public,
            );
            public.products.extend(product_words(entry));
        }
        // Without the words by which a platform is recognised, less would be known to be hidden.
        for id in self
            .platforms()
            .iter()
            .flat_map(|platform| &platform.provider_ids)
        {
            let words = id.split(|c: char| !c.is_ascii_alphanumeric());
            public
                .products
                .extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        // A reference that is left empty means the object of this name.
        let defaults = self.defaults().iter().filter_map(|one| one.named.clone());
        public.names.extend(defaults);
        for entry in Knowledge::builtin().all() {
            public.add_words(&serde_json::to_value(entry).unwrap_or_default());
        }
        public
    }
}

/// Fields of a holder that hold no names.
const NO_NAMES: &[&str] = &["foundBy", "hiddenOn", "kind", "note", "runs"];

/// Adds the names by which a controller is found.
fn add_names(holder: &Value, public: &mut Public) {
    match holder {
        Value::String(text) => {
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
            public
                .names
                .extend(text.split(|c| !is_of_name(c)).map(str::to_owned));
        }
        Value::Array(values) => values.iter().for_each(|value| add_names(value, public)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(field, _)| !NO_NAMES.contains(&field.as_str()))
            .for_each(|(_, value)| add_names(value, public)),
        _ => {}
    }
}
