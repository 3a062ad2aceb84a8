//! Frames in, merged frames out: the engine, its short path for plain frames, and the table of held frames.

pub(crate) mod ahead;
pub(crate) mod engine;
pub(crate) mod finish;
pub(crate) mod plain;
pub(crate) mod table;
