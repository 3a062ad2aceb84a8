//! Which hosts are on which side of a hop, as its connections show together.

use hashbrown::HashMap;

use super::pair::Pair;
use crate::point::Point;

/// Evidence from other connections of the same two hosts counts for as much as TTLs do: they take the same way.
const SAME_HOSTS: i32 = 3;
/// Clients of other hosts may well be on the other side.
const OTHER_HOSTS: i32 = 1;

/// The ends of a connection, as the first point shows them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    /// Lower and higher address.
    addresses: (u128, u128),
    client_is_low: bool,
}

impl Ends {
    pub(super) fn of(pair: &Pair, first: &Point) -> Self {
        let Some(connection) = first.table.get(pair.ids[0]) else {
            return Self::default();
        };
        let [low, high] = connection.key.ends();
        Self {
            addresses: (low.0, high.0),
            client_is_low: connection.client_is_low,
        }
    }

    /// Turns a weight for direction 0 to go forth, that is for the lower end to be on the first side, into a weight for
    /// the client to be there.
    fn of_client(&self, weight: i32) -> i32 {
        if self.client_is_low { weight } else { -weight }
    }
}

/// Evidence for hosts, and for clients at large, to be on the first point's side.
#[derive(Debug, Default)]
pub(super) struct Sides {
    hosts: HashMap<(u128, u128), i32>,
    clients: i32,
    /// Whether clients are on the first point's side on the other hops of the path.
    pub(super) neighbours: Option<bool>,
}

impl Sides {
    /// Adds the evidence of one connection.
    pub(super) fn add(&mut self, ends: &Ends, weight: i32) {
        if weight == 0 {
            return;
        }
        let hosts = self.hosts.entry(ends.addresses).or_default();
        *hosts = hosts.saturating_add(weight);
        self.clients = self.clients.saturating_add(ends.of_client(weight));
    }

    /// Whether clients are on the first point's side, if anything speaks for or against it.
    pub(super) fn client_first(&self) -> Option<bool> {
        (self.clients != 0).then_some(self.clients > 0)
    }

    /// The weight of one connection's own evidence and that of all others.
    pub(super) fn weigh(&self, ends: &Ends, weight: i32) -> i32 {
        // Between two ends of one address: ports decide which is the lower, so its side is no evidence.
        let is_between_hosts = ends.addresses.0 != ends.addresses.1;
        let hosts = self.hosts.get(&ends.addresses).filter(|_| is_between_hosts);
        let hosts = hosts.map_or(0, |hosts| SAME_HOSTS * hosts.signum());
        let clients = OTHER_HOSTS * ends.of_client(self.clients.signum());
        let neighbours = self
            .neighbours
            .map_or(0, |first| if first { 1 } else { -1 });
        match weight + hosts + clients {
            0 => ends.of_client(neighbours),
            all => all,
        }
    }
}
