//! Experiments with network settings: what is changed is always taken back.
//!
//! | step | where | what happens |
//! |---|---|---|
//! | asked | [`record`], `ab/plan` | factors, workload, metrics; checked before anything is changed |
//! | levels | `ab/board`, `guardian`, `journal` | changed by the guardian alone, after what was is on disk; restored by the guardian |
//! | run | `workload`, [`counters`], [`figures`] | the command at its vantage; what moved; the figure in its output |
//! | judged | [`design`], [`statistics`], [`effects`] | random blocks, exact tests, planned looks; words |
//! | taken back | `restore` | settings and files from a journal, all or none, byte for byte |

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
