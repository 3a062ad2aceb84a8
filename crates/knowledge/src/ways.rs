//! Connections added up by the way that their data goes.

use std::collections::HashMap;
use std::net::IpAddr;

use coalescope_capture::facts::Connection;

/// Addresses that are looked at by themselves, at most: of more, only all together are.
const ADDRESSES: usize = 1_000;

/// Data of one way: all that goes to clients or to servers, or what goes to one address.
pub(crate) type Way = (&'static str, Option<IpAddr>);

/// A sum for each way.
#[derive(Default)]
pub(crate) struct Ways<T>(HashMap<Way, T>);

impl<T: Default> Ways<T> {
    /// Adds to what goes in a direction, and to what goes to the address as well.
    pub(crate) fn add(&mut self, direction: &'static str, to: IpAddr, add: impl Fn(&mut T)) {
        for way in [(direction, None), (direction, Some(to))] {
            if self.0.len() < ADDRESSES || self.0.contains_key(&way) {
                add(self.0.entry(way).or_default());
            }
        }
    }

    pub(crate) fn get(&self, way: Way) -> Option<&T> {
        self.0.get(&way)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Way, &T)> {
        self.0.iter().map(|(way, sum)| (*way, sum))
    }
}

/// Where data of a direction goes.
pub(crate) fn receiver(connection: &Connection, direction: &str) -> IpAddr {
    match direction {
        "to_client" => connection.client.address,
        _ => connection.server.address,
    }
}
