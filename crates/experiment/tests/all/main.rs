//! Experiments: one program, since each is linked anew.

mod counters;
mod figures;
mod statistics;
