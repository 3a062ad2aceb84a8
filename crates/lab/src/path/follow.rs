//! Elements that follow the settings of interfaces.

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

/// How often settings are read. A change takes effect as soon as with a driver (resetting a card
/// takes longer), and one read costs the kernel some 20 us.
pub(super) const PERIOD: Duration = Duration::from_millis(50);

/// A property of one interface that an element follows.
pub(super) struct Watched {
    ethtool: Ethtool,
    route: Route,
    interface: String,
    what: Followed,
}

impl Watched {
    /// Opens sockets in the room of one end of a wire.
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

    /// Reads the property. If it cannot be read, the value stays: the interface may be gone, or renamed.
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

/// Reads all properties periodically until `stop` is set.
pub(super) fn follow(watched: &[Watched], bonds: &[Follower], stop: &Arc<AtomicBool>) {
    while !stop.load(Relaxed) {
        watched.iter().for_each(Watched::read);
        bonds.iter().for_each(Follower::obey);
        thread::sleep(PERIOD);
    }
}
