//! What the unit tests of causes and the tests on a real cluster both need.

pub mod weaker;
