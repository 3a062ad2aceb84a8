//! The tests of this crate's API, but for those that Miri runs: one program, since each is linked anew.

mod any_bytes;
mod build;
mod checksums;
mod fixed;
mod ip;
mod links;
mod names;
mod properties;
mod tcp;
mod tunnels;
mod unread;
