//! The carrier: some drivers reset the link when a setting changes.

use super::{Error, NamespaceId, Outcome, Space, by_index};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two reads.
const PAUSE: Duration = Duration::from_millis(20);

/// Carrier of a link, and the number of its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carrier {
    /// The link is up and has a carrier.
    pub on: bool,
    /// Changes of the carrier; 0 if the kernel does not count them.
    pub changes: u32,
}

impl Carrier {
    /// Reads the carrier in the calling thread's namespace; a link that is gone has none.
    pub(super) fn read(index: u32) -> Result<Self, Error> {
        let link = by_index(index)?;
        Ok(link.map_or_else(Self::default, |link| Self {
            on: link.up && link.carrier == Some(true),
            changes: link.carrier_changes.unwrap_or_default(),
        }))
    }

    /// The outcome to report if the link went down since `self` was read.
    pub(super) fn went_down(self, now: Self, interface: &str) -> Option<Outcome> {
        let down = self.on && (!now.on || now.changes != self.changes);
        down.then(|| Outcome::LinkWentDown {
            interface: interface.to_owned(),
            is_back: now.on,
        })
    }
}

/// Waits until an interface has its carrier; returns the time, or `None` if there is no carrier in time.
pub fn wait_for_carrier(
    namespace: &NamespaceId,
    index: u32,
    at_most: Duration,
) -> Result<Option<Duration>, Error> {
    let space = Space::find(namespace)?;
    let begin = Instant::now();
    loop {
        if space.run(|| Carrier::read(index))?.on {
            return Ok(Some(begin.elapsed()));
        }
        if begin.elapsed() >= at_most {
            return Ok(None);
        }
        sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_came_back_went_down_all_the_same() {
        let with = |on, changes| Carrier { on, changes };
        let fate = |now| with(true, 2).went_down(now, "a");
        assert_eq!(fate(with(true, 2)), None);
        let back = |is_back| {
            let interface = "a".to_owned();
            Some(Outcome::LinkWentDown { interface, is_back })
        };
        assert_eq!(fate(with(true, 4)), back(true));
        assert_eq!(fate(with(false, 3)), back(false));
        assert_eq!(with(false, 1).went_down(with(false, 1), "a"), None);
    }
}
