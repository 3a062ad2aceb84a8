//! Connections whose SYNs nobody answers. A port scan looks like them, and a host that is switched off, so they are counted
//! and not judged.

use coalescope_capture::facts::{Connection, Endpoint};

use crate::thresholds::SYN_AGAIN_S;
use crate::words::{connections, endpoint};

/// Such connections at a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unanswered {
    count: u64,
    /// The longest time for which one sent its SYN again, in seconds, and where to.
    longest: Option<(f64, Endpoint)>,
}

impl Unanswered {
    /// Counts a connection, if its SYN was sent again (RFC 6298, 2.1) and not answered.
    pub(crate) fn add(&mut self, connection: &Connection) {
        let tried_s = connection.last_s - connection.first_s;
        let is_asked = connection.seen.contains(&"syn") && tried_s >= SYN_AGAIN_S;
        // A capture of one direction shows no answer either, but data.
        if !is_asked || connection.to_client.frames + connection.to_server.data_frames > 0 {
            return;
        }
        self.count += 1;
        if self
            .longest
            .as_ref()
            .is_none_or(|(longest_s, _)| tried_s > *longest_s)
        {
            self.longest = Some((tried_s, connection.server));
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// In words, after their number and what else is to be said of them; none if there are none.
    pub(crate) fn words(&self, besides: &str) -> Option<String> {
        let (tried_s, server) = self.longest.as_ref()?;
        let address = endpoint(server);
        Some(format!(
            "{}{besides}: no answer to the SYN, which was sent again for up to {tried_s:.0} s ({address}); whether the path or the host \
             is silent is not judged",
            connections(self.count)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tried_s: f64, answers: u64) -> Connection {
        let mut connection = Connection {
            first_s: 100.0,
            last_s: 100.0 + tried_s,
            seen: vec!["syn"],
            ..Connection::default()
        };
        connection.to_client.frames = answers;
        connection
    }

    #[test]
    fn what_was_tried_once_or_answered_is_not_counted() {
        let mut unanswered = Unanswered::default();
        for connection in [asked(0.0, 0), asked(0.4, 0), asked(9.0, 1)] {
            unanswered.add(&connection);
        }
        assert_eq!(unanswered.words(""), None);
        [asked(7.0, 0), asked(63.0, 0), asked(3.0, 0)]
            .iter()
            .for_each(|connection| unanswered.add(connection));
        let words = unanswered.words(" beside these").unwrap_or_default();
        assert!(
            words.starts_with("3 connections beside") && words.contains("63 s"),
            "{words}"
        );
    }
}
