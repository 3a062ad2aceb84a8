//! The kernel's pairs of interfaces (veth) between two rooms.

use super::Error;
use super::rooms::{Place, Rooms};
use crate::link::Link;
use coalescope_netlink::route::{NewLink, Route};

/// Makes a pair and sets both ends up.
pub(super) fn make(rooms: &Rooms, ends: &[Place; 2], mtu: u32) -> Result<(), Error> {
    pair(rooms, ends, mtu)?;
    let mut ends = ends.iter().rev();
    ends.try_for_each(|(room, name)| rooms.run(room, || Link::named(name)?.set_up()))
}

/// Makes a pair in the first end's room, both ends down. The other end has a temporary name until
/// it is moved, since both may have the same name.
pub(super) fn pair(rooms: &Rooms, [one, two]: &[Place; 2], mtu: u32) -> Result<(), Error> {
    const PASSING: &str = "cs-passing";
    let far = rooms.get(&two.0)?;
    rooms.run(&one.0, || {
        // The kernel chooses random addresses: a bridge may join several pairs.
        let end = |name| NewLink {
            name,
            mac: None,
            mtu,
        };
        Route::open()?.add_veth(&end(&one.1), &end(PASSING))?;
        Link::named(PASSING)?.move_to(far)
    })?;
    rooms.run(&two.0, || {
        let index = Link::named(PASSING)?.index();
        Ok(Route::open()?.rename(PASSING, index, &two.1)?)
    })
}
