//! Frames in, merged frames out: the engine, its shortcut for plain frames, and the table of what is held.

pub(crate) mod ahead;
pub(crate) mod engine;
pub(crate) mod finish;
pub(crate) mod plain;
pub(crate) mod table;
