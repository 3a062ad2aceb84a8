//! The kernel's bonding driver, round robin, over veth pairs with netem; its members follow the bond's GRO.

use super::rooms::{Place, Rooms};
use super::veth::pair;
use super::{Error, Lane, Queue, nanos};
use crate::error::Error as LabError;
use crate::link::Link;
use crate::namespace::Namespace;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::{Netem, Route};
use std::cell::Cell;
use std::time::Duration;

/// The kernel's name of the offload that a bond's members follow.
const GRO: &str = "rx-gro";
/// Preamble, frame check sequence and gap of Ethernet, as in the path's own links.
const OVERHEAD_BYTES: i32 = 24;

/// Arguments of two bonds.
#[derive(Clone, Debug)]
pub struct Bonding {
    /// The lines, each a pair of veth with netem, the same both ways. Their `bursts` and `reorder` are not netem's.
    pub lanes: Vec<Lane>,
    /// Packets for each member in turn, 1 or more.
    pub packets_per_member: u16,
    /// netem's slots for frames toward the client: each line sends its frames together, with a gap
    /// between this minimum and this maximum.
    pub slot: Option<[Duration; 2]>,
}

/// Makes both bonds and the lines between them.
pub(super) fn make(
    rooms: &Rooms,
    ends: &[Place; 2],
    mtu: u32,
    lines: &Bonding,
) -> Result<(), Error> {
    for (room, name) in ends {
        let packets = lines.packets_per_member;
        rooms.run(room, || Ok(Route::open()?.add_bond(name, mtu, packets)?))?;
    }
    // netem acts on what an interface sends, so that slots toward the client belong to the server's members.
    let slots = [None, lines.slot];
    for (number, lane) in lines.lanes.iter().enumerate() {
        let names = [0, 1].map(|end| (ends[end].0.clone(), member(end, number)));
        pair(rooms, &names, mtu)?;
        for (((room, bond), (_, name)), slot) in ends.iter().zip(&names).zip(slots) {
            let line = line(lane, mtu, slot);
            rooms.run(room, || enslave(name, bond, &line))?;
        }
    }
    let mut all = ends.iter();
    all.try_for_each(|(room, name)| rooms.run(room, || Link::named(name)?.set_up()))
}

/// Adds a member to a bond. A bond takes members that are down, and sets them up.
fn enslave(name: &str, bond: &str, line: &Netem) -> Result<(), LabError> {
    let (link, bond) = (Link::named(name)?, Link::named(bond)?.index());
    // veth hands no frame of a peer with TSO to GRO (`veth_skb_is_eligible_for_gro`).
    link.disable_tso()?;
    let member = link.index();
    let route = Route::open()?;
    route.add_netem(name, member, line)?;
    Ok(route.add_port(name, member, bond)?)
}

/// A lane as arguments of netem. netem's queue counts frames where the path's own links count
/// bytes; its jitter goes both ways where theirs is only added.
fn line(lane: &Lane, mtu: u32, slot: Option<[Duration; 2]>) -> Netem {
    let frames = match lane.queue {
        Queue::Frames(frames) => frames,
        Queue::Bytes(bytes) => bytes / mtu.max(1) as usize,
    };
    let jitter_ns = nanos(lane.jitter) / 2;
    Netem {
        delay_ns: nanos(lane.delay) + jitter_ns,
        jitter_ns,
        loss: lane.loss,
        rate_bytes_per_s: lane.rate_bps.map(|rate| rate / 8),
        overhead_bytes: OVERHEAD_BYTES,
        frames: u32::try_from(frames).unwrap_or(u32::MAX),
        slot_ns: slot.map(|ends| ends.map(nanos)),
    }
}

/// Name of a member. At the client's end the members lead up to the server, at the server's end
/// down to the client.
fn member(end: usize, number: usize) -> String {
    let toward = ["up", "down"][end];
    format!("{toward}-lane{number}")
}

/// Copies `rx-gro` of a bond to its members: the feature of the bond itself has no effect, and the
/// kernel copies only LRO down (`NETIF_F_UPPER_DISABLES`).
pub(super) struct Follower {
    ethtool: Ethtool,
    bond: String,
    members: Vec<String>,
    was: Cell<Option<bool>>,
}

impl Follower {
    /// One follower for each end.
    pub(super) fn open(rooms: &Rooms, ends: &[Place; 2], lanes: usize) -> Result<Vec<Self>, Error> {
        let open = |end: usize| {
            let (room, bond) = &ends[end];
            Self::of(
                rooms.get(room)?,
                bond,
                (0..lanes).map(|lane| member(end, lane)),
            )
        };
        [0, 1].into_iter().map(open).collect()
    }

    fn of(
        room: &Namespace,
        bond: &str,
        members: impl Iterator<Item = String>,
    ) -> Result<Self, Error> {
        Ok(Self {
            ethtool: room.enter(Ethtool::open)??,
            bond: bond.to_owned(),
            members: members.collect(),
            was: Cell::new(None),
        })
    }

    /// Sets the members if the bond's feature has changed. An interface that cannot be read or set
    /// is left: it may be gone.
    pub(super) fn obey(&self) {
        let features = self.ethtool.read_features(&self.bond).ok();
        let feature = features.and_then(|features| features.get(GRO));
        let Some(on) = feature.map(|feature| feature.active) else {
            return;
        };
        if self.was.replace(Some(on)) != Some(on) {
            for member in &self.members {
                let _ = self.ethtool.set_features(member, &[(GRO, on)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_the_same_line_to_netem() {
        let mut lane = Lane::new(100_000_000, Duration::from_micros(160));
        lane.jitter = Duration::from_micros(80);
        lane.queue = Queue::Bytes(15_000);
        let slot = [200, 500].map(Duration::from_micros);
        let line = line(&lane, 1500, Some(slot));
        assert_eq!((line.delay_ns, line.jitter_ns), (200_000, 40_000));
        assert_eq!((line.rate_bytes_per_s, line.frames), (Some(12_500_000), 10));
        assert_eq!(line.slot_ns, Some([200_000, 500_000]));
    }
}
