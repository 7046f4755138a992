//! Tests of the finalizers of operators on small clusters, including cases that almost fit a cause.

mod complaints;
mod finalizer_names;
mod hooks;
mod little_known;
mod never_by_hand;
mod resumed;
mod waits_for;
