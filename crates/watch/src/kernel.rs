//! The BPF programs, and their maps.

mod attach;
mod btf;
mod clock;
mod error;
mod layout;
mod load;
mod pace;
mod symbols;

pub(crate) use clock::now_ns;
pub(crate) use error::LoadError;
pub(crate) use layout::{Counted, Fate, Place, RawSample, Shapes, Where};
pub(crate) use load::{Count, Programs};
pub(crate) use symbols::Symbols;
