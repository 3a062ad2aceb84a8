//! Experiments with network settings: what is changed is always taken back.

#[cfg(target_os = "linux")]
pub mod ab;
pub mod counters;
pub mod design;
pub mod effects;
pub mod figures;
#[cfg(target_os = "linux")]
pub mod guardian;
#[cfg(target_os = "linux")]
pub mod journal;
pub mod record;
#[cfg(target_os = "linux")]
pub mod restore;
#[cfg(target_os = "linux")]
pub mod settings;
pub mod statistics;
#[cfg(target_os = "linux")]
pub mod workload;
