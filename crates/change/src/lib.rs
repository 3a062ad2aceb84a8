//! Settings and files that are changed, and restored whatever happens. Linux only.
//!
//! | step | where | what happens |
//! |---|---|---|
//! | read | [`settings`] | a setting's name is parsed, and what it is asked of the kernel |
//! | written down | [`journal`] | what was is on disk before the first change |
//! | changed | [`guardian`] | by a process of its own alone, which restores when the command ends, however it ends |
//! | taken back | [`restore`] | settings and files from a journal, all or none, byte for byte |
//! | run | [`workload`] | commands at their vantage, ended with all that these started: an experiment's, and those of `restore` |

pub mod guardian;
pub mod journal;
pub mod restore;
pub mod settings;
pub mod workload;
