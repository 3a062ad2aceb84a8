//! Changes, but for those tests that are a program of their own: one program, since each is linked anew.

#![cfg(target_os = "linux")]

mod files;
mod journal;
mod workload;
