//! The rooms (network namespaces) of a path, and the places of interfaces.

use super::Error;
use crate::error::Error as LabError;
use crate::namespace::Namespace;
use std::collections::BTreeMap;

/// An interface: its room's name and its own.
pub(super) type Place = (String, String);

/// The rooms of a path.
#[derive(Debug)]
pub(super) struct Rooms(BTreeMap<String, Namespace>);

impl Rooms {
    pub(super) fn make(names: impl Iterator<Item = String>) -> Result<Self, Error> {
        let made = names.map(|name| Ok((name, Namespace::new()?)));
        made.collect::<Result<_, Error>>().map(Self)
    }

    pub(super) fn get(&self, room: &str) -> Result<&Namespace, Error> {
        self.0.get(room).ok_or_else(|| Error::NoRoom {
            room: room.to_owned(),
            rooms: self.0.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// All rooms with their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Namespace)> {
        self.0.iter()
    }

    /// Runs `work` in a room.
    pub(super) fn run<T: Send>(
        &self,
        room: &str,
        work: impl FnOnce() -> Result<T, LabError> + Send,
    ) -> Result<T, Error> {
        let done = self.get(room)?.enter(work)?;
        done.map_err(|source| Error::Room {
            room: room.to_owned(),
            source,
        })
    }
}
