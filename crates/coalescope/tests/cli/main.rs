//! The command as its users meet it.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod check;
mod common;
mod errors;
mod help;
mod json;
#[cfg(unix)]
mod pipes;
mod replay;
mod text;
#[cfg(target_os = "linux")]
mod wire;
