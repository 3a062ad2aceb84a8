//! Elements obey the settings of the interfaces that they stand for.

use super::bonding::Follower;
use super::element::{Follow, Followed};
use super::{Error, Side};
use crate::namespace::Namespace;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::Route;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How often settings are read: a change is obeyed as soon as a driver would have carried it out
/// (resetting a card takes longer), and reading costs the kernel some 20 us.
pub(super) const PERIOD: Duration = Duration::from_millis(50);

/// One interface, and what an element wants to know of it.
pub(super) struct Watched {
    ethtool: Ethtool,
    route: Route,
    interface: String,
    what: Followed,
}

impl Watched {
    /// Looks at an end of a wire, through sockets in its room.
    pub(super) fn open(
        follow: Follow,
        rooms: [&Namespace; 2],
        interfaces: [&str; 2],
    ) -> Result<Self, Error> {
        let Follow { end, what } = follow;
        let at: usize = Side::index(end);
        let sockets = rooms[at].enter(|| Ok((Ethtool::open()?, Route::open()?)))?;
        let (ethtool, route) =
            sockets.map_err(|error: coalescope_netlink::Error| Error::from(error))?;
        Ok(Self {
            ethtool,
            route,
            interface: interfaces[at].to_owned(),
            what,
        })
    }

    /// Reads it. What cannot be read stays as it was: the interface may be gone, or renamed.
    pub(super) fn read(&self) {
        match &self.what {
            Followed::Feature(name, value) => {
                let features = self.ethtool.read_features(&self.interface).ok();
                if let Some(feature) = features.and_then(|features| features.get(name)) {
                    value.store(feature.active, Relaxed);
                }
            }
            Followed::Mtu(value) => {
                let link = self.route.link(&self.interface).ok();
                if let Some(mtu) = link.and_then(|link| link.mtu) {
                    value.store(mtu, Relaxed);
                }
            }
        }
    }
}

/// Reads again and again until told to stop.
pub(super) fn follow(watched: &[Watched], bonds: &[Follower], stop: &Arc<AtomicBool>) {
    while !stop.load(Relaxed) {
        watched.iter().for_each(Watched::read);
        bonds.iter().for_each(Follower::obey);
        thread::sleep(PERIOD);
    }
}
