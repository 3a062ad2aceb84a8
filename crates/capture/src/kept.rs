//! The connections of a point: kept as they were followed, and turned into facts on demand. Of very many connections
//! only few are ever asked for, and the followed state is smaller than the facts.

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::connection;
use crate::facts::connection::Connection;
use crate::numbering::Numbering;
use crate::summary;
use crate::table::BLOCK;

/// Connections whose state is loaded at once before they are described, so that cache misses overlap.
const LOADED: usize = 16;

/// Connections in order of their first frame; a connection's number is its place.
#[derive(Clone, Default)]
pub struct Connections {
    /// The followed state, in the blocks of the table.
    followed: Vec<Vec<connection::Connection>>,
    len: usize,
    /// Places of the connections in the blocks, if they are not in order.
    order: Option<Vec<u32>>,
    /// Set where frames are numbered through all files.
    numbering: Option<Numbering>,
    /// Facts that hops have changed, and that the followed state does not have.
    made: HashMap<usize, Connection>,
}

impl Connections {
    pub(crate) fn new(followed: Vec<Vec<connection::Connection>>, order: Option<Vec<u32>>) -> Self {
        Self {
            len: followed.iter().map(Vec::len).sum(),
            followed,
            order,
            numbering: None,
            made: HashMap::new(),
        }
    }

    /// The connections of several parts, in any order.
    pub(crate) fn of_parts(mut all: Vec<connection::Connection>, numbering: Numbering) -> Self {
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_by_key(|place| all[*place as usize].first_number);
        let mut followed = Vec::new();
        while !all.is_empty() {
            let block = all.split_off(all.len().saturating_sub(1) / BLOCK * BLOCK);
            followed.push(block);
        }
        followed.reverse();
        Self {
            numbering: Some(numbering),
            ..Self::new(followed, Some(order))
        }
    }

    /// Number of connections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no connections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The facts of a connection.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<Connection> {
        let place = usize::try_from(id).ok()?;
        let made = if self.made.is_empty() {
            None
        } else {
            self.made.get(&place)
        };
        match made {
            Some(made) => Some(made.clone()),
            None => Some(self.described(id, self.at(place)?)),
        }
    }

    fn described(&self, id: u64, followed: &connection::Connection) -> Connection {
        let mut facts = summary::connection(id, followed);
        if let Some(numbering) = &self.numbering {
            numbering.restore(&mut facts);
        }
        facts
    }

    fn at(&self, place: usize) -> Option<&connection::Connection> {
        let place = match &self.order {
            Some(order) => *order.get(place)? as usize,
            None => place,
        };
        self.followed.get(place / BLOCK)?.get(place % BLOCK)
    }

    /// The followed state of a connection.
    pub(crate) fn followed(&self, id: u64) -> Option<&connection::Connection> {
        self.at(usize::try_from(id).ok()?)
    }

    /// The facts of all connections, made one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Connection> {
        (0..self.len).filter_map(|place| {
            if place.is_multiple_of(LOADED) {
                self.load(place..place + LOADED);
            }
            self.get(place as u64)
        })
    }

    /// Loads the memory of some connections, and what they point to; see [`crate::table::Table::warm`].
    fn load(&self, places: Range<usize>) {
        let followed = places.filter_map(|place| self.at(place));
        black_box(followed.fold(0, |sum, known| sum ^ known.touch_facts()));
    }

    /// Payload bytes of each connection, each byte once, of the direction that has more of them.
    pub fn most_bytes(&self) -> impl Iterator<Item = u64> {
        (0..self.len).map(|place| match self.at(place) {
            Some(followed) => followed.most_bytes(),
            None => self.made.get(&place).map_or(0, |made| {
                made.to_client.unique_bytes.max(made.to_server.unique_bytes)
            }),
        })
    }

    /// Changes the facts of a connection.
    pub(crate) fn change(&mut self, id: u64, change: impl FnOnce(&mut Connection)) {
        if let (Some(mut facts), Ok(place)) = (self.get(id), usize::try_from(id)) {
            change(&mut facts);
            self.made.insert(place, facts);
        }
    }
}

impl FromIterator<Connection> for Connections {
    fn from_iter<T: IntoIterator<Item = Connection>>(connections: T) -> Self {
        let made: HashMap<_, _> = connections.into_iter().enumerate().collect();
        Self {
            followed: Vec::new(),
            len: made.len(),
            order: None,
            numbering: None,
            made,
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Connections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_connections_are_kept_in_order() {
        let given = (0..300).map(|id| Connection {
            id,
            ..Connection::default()
        });
        let mut kept: Connections = given.collect();
        assert!(kept.iter().map(|connection| connection.id).eq(0..300));
        kept.change(7, |connection| connection.to_client.unique_bytes = 5);
        assert_eq!(kept.most_bytes().sum::<u64>(), 5);
        assert_eq!((kept.len(), kept.get(300).is_none()), (300, true));
    }
}
