//! MTUs that the kernel sets along with another one: a bond's is given to its ports, whatever theirs are.

use super::keys::was;
use crate::journal::{InterfaceEntry, Journal};
use crate::settings::{InterfaceState, Item, Space, read_at, set_ipv6_mtu};
use coalescope_netlink::route::Route;

/// What an interface is to have once another one's MTU is set back: what it was where it is as it was set, and
/// otherwise what it has, which is somebody else's.
#[derive(Debug)]
pub(super) struct Along {
    is: InterfaceState,
    mtu: u32,
    ipv6_mtu: Option<u32>,
}

/// Of all other interfaces of the namespace that a journal knows.
pub(super) fn before(own: &InterfaceEntry, journal: &Journal, space: &Space) -> Vec<Along> {
    let others = journal.interfaces.iter().filter(|entry| {
        entry.namespace.is_same(&own.namespace) && entry.was.index != own.was.index
    });
    let states = others.filter_map(|entry| {
        let is = read_at(space, entry.was.index).ok()??;
        // A bridge's is the least of its ports', and stays so as long as nobody sets it.
        let can = is.is_same_device(&entry.was) && is.kind.as_deref() != Some("bridge");
        can.then(|| Along {
            mtu: was(entry, &Item::Mtu, &is).unwrap_or(is.mtu),
            ipv6_mtu: was(entry, &Item::Ipv6Mtu, &is).or(is.ipv6_mtu.filter(|mtu| *mtu != is.mtu)),
            is,
        })
    });
    states.collect()
}

impl Along {
    /// Sets it again if it was moved along. Looking at what was restored will say what could not be.
    pub(super) fn again(&self, space: &Space) {
        let now = read_at(space, self.is.index).ok().flatten();
        let moved = now.filter(|now| now.is_same_device(&self.is) && now.mtu != self.is.mtu);
        if let Some(now) = moved {
            let _ = space.run(|| {
                self.set(&now);
                Ok(())
            });
        }
    }

    fn set(&self, now: &InterfaceState) {
        if now.mtu != self.mtu {
            let _ = Route::open().and_then(|route| route.set_mtu(&now.name, now.index, self.mtu));
        }
        if let Some(mtu) = self.ipv6_mtu {
            let _ = set_ipv6_mtu(&now.name, mtu);
        }
    }
}
