//! kubectl-finalizers: parse, run, exit code.

fn main() {}
