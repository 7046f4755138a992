//! Finalizers of operators on small worlds, with what almost meets their causes.

mod finalizer_names;
mod waits_for;
