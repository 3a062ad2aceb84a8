//! The command as its users meet it.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

#[cfg(target_os = "linux")]
mod ab;
mod archive;
#[cfg(target_os = "linux")]
mod bombs;
mod check;
mod common;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod datagrams;
mod errors;
#[cfg(target_os = "linux")]
mod export;
#[cfg(target_os = "linux")]
mod fix;
mod fleet;
#[cfg(unix)]
mod generated;
#[cfg(target_os = "linux")]
mod held;
mod help;
#[cfg(target_os = "linux")]
mod hostile;
mod json;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod odd;
mod page;
#[cfg(target_os = "linux")]
mod parity;
#[cfg(unix)]
mod pipes;
mod replay;
mod schema;
mod separated;
#[cfg(unix)]
mod served;
mod speech;
#[cfg(target_os = "linux")]
mod stories;
#[cfg(target_os = "linux")]
mod synced;
#[cfg(target_os = "linux")]
mod terminal;
mod text;
#[cfg(target_os = "linux")]
mod undo;
mod watch;
mod watched;
#[cfg(unix)]
mod web;
mod widths;
#[cfg(target_os = "linux")]
mod wire;
