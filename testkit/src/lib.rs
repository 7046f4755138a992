//! Checks that the unit tests of causes share with the tests on a real cluster.

pub mod weaker;
