//! What a cause declares: the objects that it is about, how much of them it reads, and what it tells.

use crate::{
    diagnose::{
        holder::Holder,
        model::{Finding, Page},
        view::View,
    },
    knowledge::Entry,
    object::{Finalizer, join_group},
    snapshot::facts::Object,
};

/// A cause. The constants of this type are the list of causes: `build/causes.rs` finds them.
pub(crate) struct Cause {
    /// The types that it is about, by group and plural; none for all types.
    pub(crate) types: &'static [(&'static str, &'static str)],
    /// The finalizers that it is about.
    pub(crate) finalizer: On,
    /// How much of such an object it reads.
    pub(crate) reads: Reads,
    /// The page about it.
    pub(crate) page: Page,
    /// What it tells.
    pub(crate) tells: Tells,
}

/// The finalizers that a cause is about.
pub(crate) enum On {
    /// Any, or none.
    Any,
    /// The one of this name.
    Named(&'static str),
    /// All that begin so.
    Beginning(&'static str),
}

/// How much of an object a cause reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// What every list shows.
    Metadata,
    /// All of it. Of an object that was only listed, the cause would say something else.
    Whole,
}

/// What a cause tells.
#[derive(Clone, Copy)]
pub(crate) enum Tells {
    /// What a finalizer waits for.
    Finalizer(ExplainFinalizer),
    /// Why an object is still there that its finalizers alone do not keep.
    Itself(fn(&Object, &View<'_>) -> Option<Finding>),
    /// More about a finalizer that the catalogue describes.
    Described(Turn, fn(&Described<'_>, &mut Finding, &View<'_>)),
    /// More about what other causes have found.
    More(Stage, fn(&Subject<'_>, &mut [Finding], &View<'_>)),
}

/// Explains what a finalizer waits for.
pub(crate) type ExplainFinalizer = fn(&Object, &Finalizer, &View<'_>) -> Finding;

/// A finalizer that the catalogue describes.
pub(crate) struct Described<'a> {
    pub(crate) object: &'a Object,
    pub(crate) finalizer: &'a Finalizer,
    pub(crate) entry: &'a Entry,
    pub(crate) holder: &'a Holder,
}

/// When a cause adds to a described finalizer. The first that knows better has the say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Which name the finalizer has now.
    Name,
    /// What only its product knows.
    Product,
    /// What the entry says it waits for.
    Waits,
    /// What the steps of the entry must not do.
    Steps,
}

/// The object that causes add to.
pub(crate) struct Subject<'a> {
    pub(crate) object: &'a Object,
    /// The entries of `metadata.finalizers` that no cause knows by name: operators remove these.
    pub(crate) of_operators: Vec<Finalizer>,
    /// How much had been missed before the object was looked at. If more is missed now, an unknown finding may be about
    /// a controller that works or waits.
    pub(crate) missed_before: usize,
}

/// When a cause adds to the findings of others. A later one may rest on what an earlier one added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Why a finalizer must not be removed by hand.
    Vetoes,
    /// What refuses the removal.
    Refusals,
    /// Where the object belongs.
    Belongings,
    /// What the object names and nobody has.
    References,
    /// What stands around the object.
    Surroundings,
    /// What becomes of it and of what it stands for, also if it is not being deleted.
    Fate,
    /// Who put a finalizer on that the catalogue lacks. It comes last, because a thing in the way tells more.
    Authors,
    /// What is said once for the target and all that it waits for.
    Cluster,
    /// The steps in front of all others.
    FirstSteps,
}

impl Cause {
    /// Whether this cause is about objects of this type, and about this finalizer if there is one.
    pub(crate) fn is_about(&self, object: &Object, finalizer: Option<&Finalizer>) -> bool {
        let is_of_type = |(group, plural): &(&str, &str)| object.is(group, plural);
        let is_named = match (&self.finalizer, finalizer) {
            (On::Any, _) => true,
            (On::Named(name), Some(finalizer)) => finalizer.name == *name,
            (On::Beginning(prefix), Some(finalizer)) => finalizer.name.starts_with(prefix),
            (On::Named(_) | On::Beginning(_), None) => false,
        };
        is_named && (self.types.is_empty() || self.types.iter().any(is_of_type))
    }

    /// Whether it knows a finalizer by its name.
    pub(crate) fn names_finalizer(&self) -> bool {
        !matches!(self.finalizer, On::Any)
    }

    /// Whether it explains objects of this type (`plural.group`), and names it.
    pub(crate) fn explains_type(&self, type_name: &str) -> bool {
        let mut types = self.types.iter();
        matches!(self.tells, Tells::Finalizer(_) | Tells::Itself(_))
            && types.any(|(group, plural)| join_group(plural, group) == type_name)
    }
}
