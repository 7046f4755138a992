//! Support for tests of causes: a cluster in memory, its objects, and the diagnosis of them.

pub(crate) mod extremes;
pub(crate) mod fixtures;
pub(crate) mod labels;
pub(crate) mod less_is_weaker;
pub(crate) mod outputs;
pub(crate) mod redacted_is_equal;
pub(crate) mod scanned;
pub(crate) mod strangers;
pub(crate) mod told;
pub(crate) mod world;
