//! Experiments, but for those tests that are a program of their own: one program, since each is linked anew.

mod counters;
mod figures;
mod files;
mod journal;
mod statistics;
mod workload;
