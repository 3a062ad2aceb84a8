//! Reports as self-contained HTML pages: one file, no network.
//!
//! [`page`] is the frame of a page, [`svg`] draws, [`table`] lists long tables, and [`embed`] is
//! the only place where text is not escaped. Every other module is a section.
//!
//! Templates are checked by the compiler and escape their input (`maud`), drawings too. Crates that
//! draw (`plotters`) write fixed colours and no descriptions: a dark theme and a screen reader need
//! both otherwise.

mod ab;
mod bars;
mod before;
mod check;
mod chips;
mod connections;
mod counted;
mod diagnose;
mod dots;
mod drift;
mod embed;
mod findings;
#[cfg(target_os = "linux")]
mod fix;
mod graph;
mod intervals;
mod lab;
mod lanes;
mod layout;
mod made;
mod moved;
mod notes;
mod page;
mod path;
mod plot;
mod published;
mod replay;
mod story;
mod svg;
mod table;
mod trace;
#[cfg(target_os = "linux")]
mod undo;
mod verdict;
mod watch;

pub(crate) use ab::write as write_ab;
pub(crate) use check::write as write_check;
pub(crate) use diagnose::write as write_diagnose;
#[cfg(target_os = "linux")]
pub(crate) use fix::write as write_fix;
pub(crate) use lab::write as write_lab;
pub(crate) use replay::write as write_replay;
pub(crate) use trace::write as write_trace;
#[cfg(target_os = "linux")]
pub(crate) use undo::write as write_undo;
pub(crate) use watch::write as write_watch;
