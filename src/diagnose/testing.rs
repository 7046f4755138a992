//! Support for tests of causes: a cluster in memory, its objects, and the diagnosis of them.

pub(crate) mod extremes;
pub(crate) mod fixtures;
pub(crate) mod less_is_weaker;
pub(crate) mod told;
pub(crate) mod world;
