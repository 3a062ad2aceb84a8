//! What is read live of this kernel, compared with what ethtool(8) and ip(8) print of the same
//! interfaces. All of these are in namespaces of their own.

#![cfg(target_os = "linux")]

mod around;
mod compare;
mod kinds;
mod room;
mod uml;
mod unusual;
