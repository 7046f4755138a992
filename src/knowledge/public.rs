//! Words of the catalogue that may stay in a redacted snapshot.

use super::Knowledge;
use crate::snapshot::saved::Public;

impl Knowledge {
    /// What the catalogue knows, and so tells nothing about a cluster. The names of controllers reveal which products
    /// somebody uses, and a diagnosis needs them. The words of a user's own entries are no public words.
    pub fn public(&self) -> Public {
        let mut public = Public::default();
        for entry in self.all() {
            let holder = serde_json::to_string(&entry.holder).unwrap_or_default();
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
            public
                .names
                .extend(holder.split(|c| !is_of_name(c)).map(str::to_owned));
        }
        for entry in Knowledge::builtin().all() {
            public.add_words(&serde_json::to_value(entry).unwrap_or_default());
        }
        public
    }
}
