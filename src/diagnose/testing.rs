//! For tests of causes: one cluster in memory, objects to put into it, and what is then said.

pub(crate) mod fixtures;
pub(crate) mod less_is_weaker;
pub(crate) mod told;
pub(crate) mod world;
