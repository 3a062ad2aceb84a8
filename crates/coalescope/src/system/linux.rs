//! Linux: settings are changed and put back, the lab runs, and a reader of strangers' files has few rights.

pub(crate) mod changes;
pub(crate) mod export;
pub(crate) mod host;
pub(crate) mod lab;
pub(crate) mod meant;
pub(crate) mod memory;
pub(crate) mod rights;
mod signals;
pub(crate) mod watch;
