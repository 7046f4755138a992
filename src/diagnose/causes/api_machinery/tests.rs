//! An API server that cannot write, on small worlds.

mod etcd_not_writable;
