//! Experiments with network settings: what is changed is always taken back.

#[cfg(target_os = "linux")]
pub mod guardian;
#[cfg(target_os = "linux")]
pub mod journal;
#[cfg(target_os = "linux")]
pub mod restore;
#[cfg(target_os = "linux")]
pub mod settings;
