//! TCP at one end of one connection, close to how Linux does it.

mod endpoint;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;

pub(crate) use endpoint::{Context, Endpoint, Identity};
