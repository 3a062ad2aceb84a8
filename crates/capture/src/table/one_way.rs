//! Connections of which one direction comes in a tunnel, or in another one: a load balancer tunnels what clients send to its
//! servers, and these answer directly (IPVS' tunnelling). A capture at the server has the SYN in a tunnel and the SYN-ACK without.
//!
//! A capture of both sides of a tunnel's end shows each direction twice, once in the tunnel and once without, and these are two
//! connections: else each byte would seem to be sent twice. There a direction is seen in both before it is answered in either.

use hashbrown::HashMap;

use super::Table;
use crate::connection::Connection;
use crate::frame::Frame;
use crate::key::Key;

/// Tunnels of a point in which the connection of an answer is looked for; a network of thousands of VXLANs has its answers in
/// the tunnels of the questions.
const CONTEXTS: usize = 16;

/// Which keys stand for which connections.
#[derive(Debug, Default)]
pub(super) struct OneWay {
    /// The first tunnels of connections seen here, none as well.
    contexts: Vec<u32>,
    /// The key of the direction that answers, and that of its connection.
    answers: HashMap<Key, Key>,
}

impl OneWay {
    /// Notes the tunnels of a new connection.
    pub(super) fn note(&mut self, key: &Key) {
        if self.contexts.len() < CONTEXTS && !self.contexts.contains(&key.context()) {
            self.contexts.push(key.context());
        }
    }

    /// The key of the connection whose other direction has this key.
    pub(super) fn connection(&self, answer: &Key) -> Option<&Key> {
        // Nearly all captures have none.
        if self.answers.is_empty() {
            return None;
        }
        self.answers.get(answer)
    }

    /// Forgets the answers to a connection that has made room for another.
    pub(super) fn forget(&mut self, gone: &Key) {
        if self.answers.is_empty() {
            return;
        }
        for answer in self.others(gone).collect::<Vec<_>>() {
            if self.answers.get(&answer) == Some(gone) {
                self.answers.remove(&answer);
            }
        }
    }

    /// The same ends in all other tunnels.
    fn others(&self, key: &Key) -> impl Iterator<Item = Key> {
        let contexts = self.contexts.iter();
        contexts
            .filter(|context| **context != key.context())
            .map(|context| key.within(*context))
    }
}

impl Table {
    /// The connection in other tunnels of which nothing was seen in this frame's direction, if the frame fits there. From here on
    /// the frame's key stands for this connection.
    pub(super) fn answered(&mut self, frame: &Frame) -> Option<u32> {
        let waits = |known: &Connection| known.is_answered_by(frame);
        let (key, id) = self.one_way.others(&frame.key).find_map(|key| {
            let id = self.find_own(&key)?;
            self.get(id).is_some_and(waits).then_some((key, id))
        })?;
        self.one_way.answers.insert(frame.key, key);
        Some(id)
    }
}
