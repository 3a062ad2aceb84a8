//! Reports as HTML pages that stand by themselves: one file, no network.
//!
//! [`page`] is the shell, [`svg`] draws, [`table`] lists what may be long, [`embed`] is the only place
//! where text goes out without being escaped. The other modules are a section each.

mod embed;
mod page;
mod plot;
mod svg;
mod table;
mod trace;

pub(crate) use trace::write as write_trace;
