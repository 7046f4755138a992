//! Tests of an API server that cannot write, on small clusters.

mod etcd_not_writable;
