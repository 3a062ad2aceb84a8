//! Links and their queues, addresses and routes, through rtnetlink.

mod addresses;
mod change;
mod details;
mod filters;
mod links;
mod namespaces;
mod netem;
mod routes;
mod tunnel;

pub use addresses::Address;
pub use change::NewLink;
pub use details::{Details, Port, VlanProtocol};
pub use filters::{Action, ActionKind};
pub use links::{Limits, Link, Xdp, XdpMode};
pub use netem::Netem;
pub use tunnel::Tunnel;

use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;

/// rtnetlink in the namespace of the thread that opened it.
#[derive(Debug)]
pub struct Route {
    socket: Socket,
}

impl Route {
    /// Opens a socket.
    pub fn open() -> Result<Self, Error> {
        let socket = Socket::open(NETLINK_ROUTE)?;
        Ok(Self { socket })
    }

    /// Requests a change, or one object.
    fn ask(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
        action: &str,
    ) -> Result<Vec<Raw>, Error> {
        self.socket.ask(message, flags, action)
    }

    /// Requests a dump of all objects of a kind.
    fn dump(&self, message: &RouteNetlinkMessage, action: &str) -> Result<Vec<Raw>, Error> {
        self.socket.dump(message, action)
    }
}
