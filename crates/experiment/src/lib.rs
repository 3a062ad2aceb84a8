//! Experiments with network settings: what is changed is always taken back.

pub mod design;
pub mod effects;
#[cfg(target_os = "linux")]
pub mod guardian;
#[cfg(target_os = "linux")]
pub mod journal;
#[cfg(target_os = "linux")]
pub mod restore;
#[cfg(target_os = "linux")]
pub mod settings;
pub mod statistics;
