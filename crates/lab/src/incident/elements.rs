//! Elements of an incident's file as elements of a path.

use crate::path::{
    self, Decapsulator, Headerless, HyperV2019, Point, Recorder, Side, Switch, Wire,
};
use coalescope_incident as data;
use data::{Element, Profile};
use std::time::Duration;

/// Adds an element to a wire; returns the recorder of an element that is a capture point. A
/// director has the first address as its virtual one, and the second as the real server's.
pub(super) fn add(
    wire: Wire,
    element: &Element,
    [stands_for, real]: [[u8; 4]; 2],
    seed: u64,
) -> (Wire, Option<Recorder>) {
    let wire = match element {
        Element::Point(it) => {
            let point = point(it);
            let recorder = point.recorder();
            return (wire.with(point), Some(recorder));
        }
        Element::Nic(it) => wire.with(nic(it)),
        Element::Link(it) => wire.with(link(it).seed(seed)),
        Element::Bond(it) => {
            let lanes: Vec<_> = it.lanes.iter().map(lane).collect();
            wire.with(path::Bond::new(&it.name, &lanes))
        }
        Element::Switch(it) => wire.with(Switch::new(&it.name, it.mtu_bytes)),
        Element::FreebsdBridge(it) => wire.with(Switch::freebsd_bridge(&it.name, it.mtu_bytes)),
        Element::Forwarder(it) => wire.with(Switch::by_whole_length(&it.name, it.mtu_bytes)),
        Element::Headerless(it) => wire.with(Headerless::new(&it.name, side(it.toward))),
        Element::Decapsulator(it) => {
            wire.with(Decapsulator::new(&it.name, side(it.toward), it.guess_bytes))
        }
        Element::HyperV2019(it) => wire.with(HyperV2019::new(&it.name, side(it.guest))),
        Element::Director(it) => {
            let director = path::Director::ipvs_2632(&it.name, stands_for, real, it.mtu_bytes);
            wire.with(director)
        }
    };
    (wire, None)
}

fn side(side: data::Side) -> Side {
    match side {
        data::Side::Client => Side::Client,
        data::Side::Server => Side::Server,
    }
}

fn point(point: &data::Point) -> Point {
    let made = Point::new(&point.name);
    match point.own {
        Some(own) => made.own(side(own)),
        None => made,
    }
}

fn nic(nic: &data::Nic) -> path::Nic {
    let profile = match nic.profile {
        Profile::LinuxGro => gro::Profile::linux_gro(),
        Profile::LinuxGro26 => gro::Profile::linux_gro_2_6(),
        Profile::FreebsdLro => gro::Profile::freebsd_lro(),
        Profile::NdisRsc => gro::Profile::ndis_rsc(),
    };
    let interval = Duration::from_micros(nic.interval_us);
    let frames = usize::try_from(nic.frames).unwrap_or(usize::MAX);
    let made = path::Nic::new(&nic.name, side(nic.toward), profile);
    let made = match nic.loses_segment_size {
        true => made.losing_segment_size(),
        false => made,
    };
    match nic.waits {
        true => made.waiting(interval, frames),
        false => made.polling(interval, frames),
    }
}

fn link(link: &data::Link) -> path::Link {
    path::Link::new(&link.name, link.lanes().each_ref().map(lane))
}

/// A lane of the file as a lane of a path.
pub(super) fn lane(lane: &data::Lane) -> path::Lane {
    path::Lane {
        rate_bps: lane.rate_bps,
        delay: Duration::from_micros(lane.delay_us),
        jitter: Duration::from_micros(lane.jitter_us),
        loss: lane.loss,
        bursts: lane.bursts.map(|bursts| path::Bursts {
            begin: bursts.begin,
            end: bursts.end,
            loss: bursts.loss,
        }),
        reorder: lane.reorder.map(|late| path::Reorder {
            probability: late.probability,
            extra: Duration::from_micros(late.extra_us),
        }),
        queue: path::Queue::Bytes(usize::try_from(lane.queue_bytes).unwrap_or(usize::MAX)),
    }
}

/// The arguments of the kernel's bonds.
pub(super) fn bonding(bond: &data::Bonded) -> path::Bonding {
    path::Bonding {
        lanes: bond.lanes.iter().map(lane).collect(),
        packets_per_member: bond.packets_per_slave,
        slot: bond.slot_us.map(|ends| ends.map(Duration::from_micros)),
    }
}
