//! Parts of the families' scenarios. Paths are written from the receiver of the data, the client, to its sender;
//! [`crate::flip`] exchanges the two.

use coalescope_simulate::{
    Cause, Cut, Element, Hop, Host, Lane, Link, MICROSECOND, MILLISECOND, Merge, MergeKind, Nanos,
    Point, SECOND, Scenario, Side, Timing, Turn, Wrap,
};

use crate::dice::Dice;

/// Megabits per second.
pub(crate) const MBIT: u64 = 1_000_000;
/// A frame of 1,500 bytes on the wire, in bits, with preamble, check sequence and gap.
const FRAME_BITS: u64 = 1538 * 8;
/// The receiver, which most scenarios are written for.
pub(crate) const HERE: Side = Side::Client;

/// The long part of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wan {
    pub(crate) rate_bps: u64,
    /// One-way delay.
    pub(crate) delay: Nanos,
}

impl Wan {
    /// A path from DSL to a data centre's uplink. At most 3 MB are in flight, so that runs stay short.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        Self::within(dice, (20, 2_500), (0.5, 50.0))
    }

    /// A path with rates in Mbit/s and one-way delays in ms of given ranges.
    pub(crate) fn within(dice: &mut Dice, mbit: (u64, u64), delay_ms: (f64, f64)) -> Self {
        let rate_bps = dice.scaled_whole(mbit.0 * MBIT, mbit.1 * MBIT);
        let most = 3e6 * 8.0 / rate_bps as f64 / 2.0 * 1e9;
        let delay = dice.scaled(delay_ms.0, delay_ms.1) * MILLISECOND as f64;
        Self {
            rate_bps,
            delay: delay.min(most) as Nanos,
        }
    }

    /// The link. The delay of acknowledgements varies a little, as it does beside other traffic.
    pub(crate) fn link(self) -> Element {
        let mut back = Lane::new(self.rate_bps, self.delay);
        back.jitter = self.delay / 16;
        Element::Link(Link {
            toward: [Lane::new(self.rate_bps, self.delay), back],
        })
    }

    /// The link with a changed lane toward the receiver.
    pub(crate) fn link_with(self, change: impl FnOnce(&mut Lane)) -> Element {
        let mut link = self.link();
        if let Element::Link(link) = &mut link {
            change(&mut link.toward[HERE.index()]);
        }
        link
    }

    /// The time in which so many full frames arrive back to back.
    pub(crate) fn time_of(self, frames: f64) -> Nanos {
        (frames * FRAME_BITS as f64 * SECOND as f64 / self.rate_bps as f64) as Nanos
    }

    /// Bytes in flight at full rate.
    pub(crate) fn bytes(self) -> u64 {
        (self.rate_bps as f64 / 8.0 * self.delay as f64 * 2.0 / SECOND as f64) as u64
    }
}

/// Two hosts with their settings drawn, and a download.
pub(crate) fn scenario(dice: &mut Dice, name: &str, bytes: u64) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.ipv6 = dice.chance(0.25);
    scenario.vlan = dice.chance(0.1).then(|| dice.whole(2..=4000) as u16);
    let timestamps = dice.chance(0.85);
    let sack = dice.chance(0.92);
    let mtu = dice.pick(&[1500, 1500, 1500, 1500, 1400, 1460]);
    for host in [&mut scenario.client, &mut scenario.server] {
        *host = self::host(dice, mtu);
        (host.timestamps, host.sack) = (timestamps, sack);
    }
    scenario.turns = download(dice, bytes);
    scenario
}

fn host(dice: &mut Dice, mtu: u32) -> Host {
    Host {
        mtu,
        receive_buffer: 16 << 20,
        window_scale: 10,
        tail_probe: dice.chance(0.85),
        tso: dice.chance(0.75),
        checksum_offload: dice.chance(0.7),
        ttl: dice.pick(&[64, 64, 128, 255]),
        initial_window: dice.pick(&[10, 10, 10, 4, 3]),
        ..Host::default()
    }
}

/// A request and its answer.
pub(crate) fn download(dice: &mut Dice, bytes: u64) -> Vec<Turn> {
    let request = dice.whole(80..=900);
    let think = dice.scaled_whole(100 * MICROSECOND, 5 * MILLISECOND);
    vec![
        Turn::new(Side::Client, request),
        Turn::new(Side::Server, bytes).after(think),
    ]
}

/// A point with this name; the part in front of the first `-` is its host.
pub(crate) fn point(name: &str) -> Element {
    Element::Point(Point::new(name))
}

/// Changes all points.
pub(crate) fn for_points(scenario: &mut Scenario, mut change: impl FnMut(&mut Point)) {
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            change(point);
        }
    }
}

/// A short link, of a rack or inside of a host.
pub(crate) fn near(dice: &mut Dice, wan: Wan) -> Element {
    let rate = wan.rate_bps.max(1000 * MBIT) * dice.pick(&[1, 2, 10]);
    let delay = dice.scaled_whole(8 * MICROSECOND, 80 * MICROSECOND);
    Element::Link(Link::both(Lane::new(rate, delay)))
}

/// The sending NIC of a side.
pub(crate) fn cut_from(side: Side) -> Element {
    Element::Cut(Cut {
        toward: side.other(),
    })
}

/// A card that merges toward the receiver, 2 to 20 segments at a time if they come back to back.
pub(crate) fn merging(dice: &mut Dice, wan: Wan, kind: MergeKind) -> Merge {
    let frames = dice.scaled(2.5, 20.0);
    let interval = wan.time_of(frames).clamp(10 * MICROSECOND, 2 * MILLISECOND);
    Merge {
        kind,
        reversible: kind == MergeKind::Gro,
        timing: dice.pick(&[
            Timing::Grid,
            Timing::Grid,
            Timing::Throttled,
            Timing::Delayed,
        ]),
        max_segments: dice.pick(&[0, 0, 0, 6, 17]),
        ..Merge::gro(HERE, interval)
    }
}

/// A tag or a tunnel.
pub(crate) fn wrap(dice: &mut Dice) -> Wrap {
    let tag = dice.whole(1..=4_000) as u16;
    let tags = [Wrap::Vlan(tag), Wrap::QinQ(tag, 7)];
    let tunnels = [Wrap::Gre, Wrap::Vxlan, Wrap::Geneve];
    if dice.chance(0.4) {
        dice.pick(&tags)
    } else {
        dice.pick(&tunnels)
    }
}

/// One end of a tunnel or tagged link, with the receiver inside.
pub(crate) fn end_of(with: Wrap, inner: Side) -> Element {
    Element::Hop(Hop::Wrap { inner, with })
}

/// GRO, LRO or RSC.
pub(crate) fn any_kind(dice: &mut Dice) -> MergeKind {
    dice.pick(&[
        MergeKind::Gro,
        MergeKind::Gro,
        MergeKind::Lro,
        MergeKind::Rsc,
    ])
}

/// Points of one host share a clock; their names begin alike.
pub(crate) fn host_of(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}
