//! Experiments with network settings. `change` makes each change, and restores it.
//!
//! | step | where | what happens |
//! |---|---|---|
//! | asked | [`record`], `ab/plan` | factors, workload, metrics; checked before anything is changed |
//! | levels | `ab/board` | changed and restored by the guardian of `change` |
//! | run | `ab/measure`, [`counters`], [`figures`] | the command at its vantage; what moved; the figure in its output |
//! | judged | [`design`], [`statistics`], [`effects`] | random blocks, exact tests, planned looks; words |

#[cfg(target_os = "linux")]
pub mod ab;
pub mod counters;
pub mod design;
pub mod effects;
pub mod figures;
pub mod record;
pub mod statistics;
