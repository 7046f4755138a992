//! The settings of `catalog`.

use super::{trimmed, usage};
use crate::{
    cli::{CatalogArgs, Format},
    error::Error,
    knowledge::{Consequence, Filter},
};

/// The settings of `catalog`.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The entries to list.
    pub filter: Filter,
    /// The format.
    pub format: Format,
    /// Whether to leave out headings and the closing line.
    pub no_headers: bool,
}

impl Catalog {
    /// Interprets the arguments of `catalog`.
    pub fn new(words: CatalogArgs) -> Result<Self, Error> {
        Ok(Catalog {
            filter: Filter {
                pattern: words.pattern,
                project: words.project,
                kinds: trimmed(words.kinds),
                consequence: words.consequence.as_deref().map(consequence).transpose()?,
            },
            format: words.output.into(),
            no_headers: words.no_headers,
        })
    }
}

/// The words have spaces in output, and hyphens on the command line.
fn consequence(text: &str) -> Result<Consequence, Error> {
    Consequence::from_typed(text).ok_or_else(|| {
        let words: Vec<_> = Consequence::ALL.into_iter().map(Consequence::typed).collect();
        usage(
            format!("--consequence: {text:?} is not one"),
            Some(&format!("one of {}", words.join(", "))),
        )
    })
}
