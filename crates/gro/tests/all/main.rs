//! The tests of this crate's API, one program: a program a file would be linked seven times.

mod batch;
mod build;
mod conformance;
mod lists;
mod paths;
mod properties;
mod split;
mod split_could;
mod split_stack;
mod virtio;
