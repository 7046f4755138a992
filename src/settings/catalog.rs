//! What the words of `catalog` mean.

use super::{Show, trimmed, usage};
use crate::{
    cli::CatalogArgs,
    error::Error,
    knowledge::{Consequence, Filter},
};

/// What `catalog` was asked to do.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// Which entries.
    pub filter: Filter,
    /// How they are shown.
    pub show: Show,
}

impl Catalog {
    /// The meaning of `catalog`'s words.
    pub fn new(words: CatalogArgs) -> Result<Self, Error> {
        Ok(Catalog {
            filter: Filter {
                pattern: words.pattern,
                project: words.project,
                kinds: trimmed(words.kinds),
                consequence: words.consequence.as_deref().map(consequence).transpose()?,
            },
            show: Show {
                format: words.output,
                no_headers: words.no_headers,
            },
        })
    }
}

/// The words have spaces where they are printed; a shell likes hyphens better.
fn consequence(text: &str) -> Result<Consequence, Error> {
    Consequence::of_typed(text).ok_or_else(|| {
        let words: Vec<_> = Consequence::ALL.into_iter().map(Consequence::typed).collect();
        usage(
            format!("--consequence: {text:?} is not one"),
            Some(&format!("one of {}", words.join(", "))),
        )
    })
}
