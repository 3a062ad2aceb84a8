//! MTUs that the kernel moves along with another one: a bond's MTU is given to its ports, whatever theirs are.

use super::keys::was;
use crate::journal::{InterfaceEntry, Journal};
use crate::settings::{InterfaceState, Item, Space, read_at, related, set_ipv6_mtu};
use coalescope_netlink::route::Route;

/// The MTU that an interface is to have after another one's MTU is set back. If the interface still
/// has the MTU that we set, this is the one from before; otherwise the present one, which somebody
/// else has set.
#[derive(Debug)]
pub(super) struct Along {
    is: InterfaceState,
    mtu: u32,
    ipv6_mtu: Option<u32>,
}

/// All other interfaces of the namespace that the journal has, and those that were put above or beneath since.
pub(super) fn before(own: &InterfaceEntry, journal: &Journal, space: &Space) -> Vec<Along> {
    let others = journal.interfaces.iter().filter(|entry| {
        entry.namespace.is_same(&own.namespace) && entry.was.index != own.was.index
    });
    let known = others.filter_map(|entry| {
        let is = moved_along(space, entry.was.index)?;
        is.is_same_device(&entry.was).then(|| Along {
            mtu: was(entry, &Item::Mtu, &is).unwrap_or(is.mtu),
            ipv6_mtu: was(entry, &Item::Ipv6Mtu, &is).or(own_ipv6_mtu(&is)),
            is,
        })
    });
    known.chain(new(own, journal, space)).collect()
}

/// Interfaces that the journal does not have, and whose MTU differs. One with the same MTU follows,
/// and goes on to follow.
fn new(own: &InterfaceEntry, journal: &Journal, space: &Space) -> Vec<Along> {
    let is_known = |index: &u32| {
        let mut entries = journal.interfaces.iter();
        entries.any(|entry| entry.was.index == *index && entry.namespace.is_same(&own.namespace))
    };
    let now = read_at(space, own.was.index).ok().flatten();
    let all = related(space, own.was.index).unwrap_or_default();
    let others = all.into_iter().filter(|index| !is_known(index));
    let states = others.filter_map(|index| moved_along(space, index));
    let apart = states.filter(|is| now.as_ref().is_some_and(|now| now.mtu != is.mtu));
    apart
        .map(|is| Along {
            mtu: is.mtu,
            ipv6_mtu: own_ipv6_mtu(&is),
            is,
        })
        .collect()
}

/// The state of an interface to which another one's MTU may be given; a bridge's MTU follows its ports by itself.
fn moved_along(space: &Space, index: u32) -> Option<InterfaceState> {
    let is = read_at(space, index).ok()??;
    (!is.follows_ports()).then_some(is)
}

/// IPv6's MTU, where it differs from the interface's.
fn own_ipv6_mtu(is: &InterfaceState) -> Option<u32> {
    is.ipv6_mtu.filter(|mtu| *mtu != is.mtu)
}

impl Along {
    /// Sets the MTU again if it was moved along. Errors are ignored here: `verify` reports an MTU
    /// that is not restored.
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
