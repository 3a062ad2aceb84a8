//! The BPF programs, and their maps.

mod btf;
mod layout;
mod load;
mod symbols;

pub(crate) use layout::{Counted, Fate, Place, RawSample, Shapes, Where};
pub(crate) use load::LoadError;
pub(crate) use load::{Count, Programs};
pub(crate) use symbols::Symbols;
