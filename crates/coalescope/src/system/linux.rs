//! Linux: settings are changed and restored, the lab runs, and strangers' files are read with few rights.

pub(crate) mod changes;
pub(crate) mod export;
pub(crate) mod host;
pub(crate) mod lab;
pub(crate) mod meant;
pub(crate) mod memory;
pub(crate) mod rights;
mod signals;
pub(crate) mod watch;
