//! Sums of connections by the way of their data.

use std::collections::HashMap;
use std::net::IpAddr;

use coalescope_capture::facts::Connection;

/// The most addresses that are looked at by themselves: beyond that only the sums are.
const ADDRESSES: usize = 1_000;

/// Data of one way: all data to clients or to servers, or data to one address.
pub(crate) type Way = (&'static str, Option<IpAddr>);

/// A sum for each way.
#[derive(Default)]
pub(crate) struct Ways<T>(HashMap<Way, T>);

impl<T: Default> Ways<T> {
    /// Adds to the sum of a direction, and to that of the address.
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

/// The address that data of a direction goes to.
pub(crate) fn receiver(connection: &Connection, direction: &str) -> IpAddr {
    match direction {
        "to_client" => connection.client.address,
        _ => connection.server.address,
    }
}
