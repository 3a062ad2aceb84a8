//! From an incident to the simulator's scenario.

use crate::built::{Built, Unsupported};
use crate::element::{Lane, Link, Nic, Profile, Side};
use crate::model::Workload;
use crate::path::{Does, Part, Room};
use coalescope_simulate as simulate;
use simulate::{Bursts, Host, MILLISECOND, Reorder, Scenario, Timing, Turn};
use simulate::{Cause, Cut, Element, Format, Hop, MICROSECOND, Merge, MergeKind, Point};

/// Names of the offload that lets an emulated card merge.
const GRO: [&str; 3] = ["gro", "generic-receive-offload", "rx-gro"];
/// Names of the offload that lets a host hand large frames to its card.
const TSO: [&str; 2] = ["tso", "tcp-segmentation-offload"];
/// The guest's MTU beyond which merged frames are lost (story E).
const HYPERV_2019_MTU: u32 = 2850;
/// Linux's largest receive buffer if nobody changes net.ipv4.tcp_rmem.
const RECEIVE_BUFFER: u64 = 6 << 20;
/// Headers at their longest: what analyses need of a frame.
const SNAP: u32 = 192;
/// A rate of a line that has none.
const UNLIMITED_BPS: u64 = 1_000_000_000_000;
/// A request as curl makes it.
const REQUEST: u64 = 80;

/// The scenario, and the settings that it does not support.
pub(super) fn of(built: &Built) -> (Scenario, Vec<Unsupported>) {
    let incident = &built.incident;
    let mut scenario = Scenario::new(&incident.name, Cause::Healthy);
    let workload = built.workload();
    scenario.seed = incident.seed;
    scenario.path = path(built);
    scenario.connections = workload.streams as usize;
    scenario.turns = turns(workload);
    scenario.limit = (workload.limit_s * 1e9) as u64;
    scenario.client = host(built, built.client, Side::Server);
    let server = incident.rooms().count().saturating_sub(1);
    scenario.server = host(built, server, Side::Client);
    let receiver = match workload.upload {
        true => &mut scenario.server,
        false => &mut scenario.client,
    };
    if let Some(bytes) = workload.receive_window_bytes {
        set_buffer(receiver, bytes);
    }
    let mut unsupported = tunnels(built);
    for (number, host) in [
        (built.client, &mut scenario.client),
        (server, &mut scenario.server),
    ] {
        if let Some(room) = incident.rooms().nth(number) {
            unsupported.extend(sysctls(room, host));
        }
    }
    (scenario, unsupported)
}

fn turns(workload: &Workload) -> Vec<Turn> {
    let bytes = workload.bytes.div_ceil(u64::from(workload.streams.max(1)));
    let from = match workload.upload {
        true => simulate::Side::Client,
        false => simulate::Side::Server,
    };
    let mut bulk = Turn::new(from, bytes);
    if let Some(rate) = workload.sender_rate_bps {
        // A write every 10 ms.
        bulk = bulk.in_writes((rate / 800).max(1), 10 * MILLISECOND);
    }
    match workload.upload {
        true => vec![bulk],
        false => vec![Turn::new(simulate::Side::Client, REQUEST), bulk],
    }
}

fn host(built: &Built, number: usize, toward: Side) -> Host {
    let mut host = Host {
        mtu: built
            .incident
            .mtu_bytes(number, toward)
            .unwrap_or(1500)
            .into(),
        tso: built.feature(number, toward, &TSO).unwrap_or(true),
        ..Host::default()
    };
    set_buffer(&mut host, RECEIVE_BUFFER);
    host
}

/// A buffer, and a window scale by which all of it can be announced (RFC 7323 section 2.3: at most 14).
fn set_buffer(host: &mut Host, bytes: u64) {
    host.receive_buffer = bytes;
    let scales = (7..14).find(|scale| bytes >> scale <= 0xffff);
    host.window_scale = scales.unwrap_or(14);
}

/// What is not encrypted is the same path, with longer segments.
fn tunnels(built: &Built) -> Vec<Unsupported> {
    let is_tunnel = |part: &&Part| matches!(part, Part::Wire(wire) if wire.esp);
    let tunnels = built.incident.path.iter().filter(is_tunnel);
    let said = tunnels.map(|_| Unsupported("the simulator has no ESP".to_owned()));
    said.collect()
}

/// Sets what the simulator's TCP has; gives back what it has not.
fn sysctls(room: &Room, host: &mut Host) -> Vec<Unsupported> {
    let mut unsupported = Vec::new();
    for (key, value) in &room.sysctls {
        let largest = value
            .split_whitespace()
            .last()
            .and_then(|last| last.parse().ok());
        match (key.as_str(), largest) {
            ("net.ipv4.tcp_rmem", Some(bytes)) => set_buffer(host, bytes),
            ("net.ipv4.tcp_sack", Some(on)) => host.sack = on != 0,
            ("net.ipv4.tcp_timestamps", Some(on)) => host.timestamps = on != 0,
            _ => unsupported.push(Unsupported(format!(
                "{}: the simulator's TCP has no {key}",
                room.name
            ))),
        }
    }
    unsupported
}

/// The elements between the client's room and the server.
fn path(built: &Built) -> Vec<Element> {
    let parts = built.incident.path.iter().enumerate();
    let mut path = Vec::new();
    for (place, part) in parts.skip(2 * built.client + 1) {
        match part {
            Part::Room(room) => path.extend(passing_on(built, place / 2, room)),
            Part::Wire(wire) => {
                let elements = wire.elements.iter();
                path.extend(elements.flat_map(|element| on_wire(built, place / 2, element)));
            }
            Part::Bond(it) => path.extend(cut_before(Some(bond(&it.lanes)))),
            Part::Veth(_) => {}
        }
    }
    path
}

/// What a room does with what is not for itself.
fn passing_on(built: &Built, number: usize, room: &Room) -> Vec<Element> {
    let mtu = [Side::Client, Side::Server]
        .map(|side| built.incident.mtu_bytes(number, side).unwrap_or(1500));
    let router = Hop::Router {
        mtu: mtu[0].min(mtu[1]),
        icmp: true,
    };
    let hops = match room.does {
        Does::Nothing => vec![],
        Does::Bridge => {
            let cut = capped(built, number, room).map(|toward| Hop::Splitter { toward, loss: 0.0 });
            cut.chain([Hop::Forward { mtu }]).collect()
        }
        Does::Route => vec![router],
        Does::Nat => vec![Hop::Nat, router],
        // The simulator has the IPVS of 2.6.32 only, which refuses what keeps its segment size too.
        Does::Ipvs => vec![Hop::Director {
            mtu: mtu[0].min(mtu[1]),
        }],
    };
    hops.into_iter().map(Element::Hop).collect()
}

/// The sides toward which a bridge's port takes no merged frame: Linux cuts what is longer for the port that
/// it leaves by, and asks the bridge itself nothing (`gso_features_check`).
fn capped<'a>(
    built: &'a Built,
    number: usize,
    room: &'a Room,
) -> impl Iterator<Item = simulate::Side> + 'a {
    let sides = [Side::Client, Side::Server].into_iter();
    let is_capped = move |toward: &Side| {
        let port = built.incident.interface(number, *toward);
        let size = port.and_then(|port| room.gso_max_size.get(port));
        let mtu = built.incident.mtu_bytes(number, *toward);
        size.zip(mtu)
            .is_some_and(|(size, mtu)| *size <= u32::from(mtu))
    };
    sides.filter(is_capped).map(side)
}

/// An element of the wire behind the room of a number.
fn on_wire(built: &Built, number: usize, element: &crate::element::Element) -> Vec<Element> {
    use crate::element::Element as Data;
    match element {
        Data::Nic(nic) => {
            let follows = match nic.toward {
                Side::Client => built.feature(number, Side::Server, &GRO),
                Side::Server => built.feature(number + 1, Side::Client, &GRO),
            };
            let merge = follows.unwrap_or(true).then(|| Element::Merge(merge(nic)));
            cut_before(merge)
        }
        Data::Link(it) => cut_before(Some(Element::Link(link(it)))),
        Data::Bond(it) => cut_before(Some(bond(&it.lanes))),
        Data::Switch(switch) | Data::FreebsdBridge(switch) => vec![Element::Hop(Hop::Forward {
            mtu: [switch.mtu_bytes; 2],
        })],
        Data::Forwarder(it) => [simulate::Side::Client, simulate::Side::Server]
            .map(|toward| Hop::DropLargerThan {
                toward,
                bytes: it.mtu_bytes.into(),
            })
            .map(Element::Hop)
            .into(),
        Data::Headerless(it) => vec![segment_size(it.toward, None)],
        Data::Decapsulator(it) => vec![segment_size(it.toward, Some(it.guess_bytes))],
        Data::Director(director) => vec![Element::Hop(Hop::Director {
            mtu: director.mtu_bytes,
        })],
        Data::HyperV2019(switch) => vec![Element::Hop(Hop::DropMergedIfMtuOver {
            guest: side(switch.guest),
            limit: HYPERV_2019_MTU,
        })],
        Data::Point(it) => vec![Element::Point(point(it))],
    }
}

fn segment_size(toward: Side, gso_size: Option<u16>) -> Element {
    let toward = side(toward);
    Element::Hop(Hop::SegmentSize { toward, gso_size })
}

/// A wire carries single frames: what comes from either side is cut, as far as it can be.
fn cut_before(element: Option<Element>) -> Vec<Element> {
    let cut = |toward| Some(Element::Cut(Cut { toward }));
    let all = [
        cut(simulate::Side::Server),
        element,
        cut(simulate::Side::Client),
    ];
    all.into_iter().flatten().collect()
}

fn side(side: Side) -> simulate::Side {
    match side {
        Side::Client => simulate::Side::Client,
        Side::Server => simulate::Side::Server,
    }
}

fn merge(nic: &Nic) -> Merge {
    let kind = match nic.profile {
        Profile::LinuxGro | Profile::LinuxGro26 => MergeKind::Gro,
        Profile::FreebsdLro => MergeKind::Lro,
        Profile::NdisRsc => MergeKind::Rsc,
    };
    Merge {
        toward: side(nic.toward),
        kind,
        reversible: !nic.loses_segment_size,
        interval: nic.interval_us * MICROSECOND,
        max_segments: 0,
        timing: if nic.waits {
            Timing::Delayed
        } else {
            Timing::Throttled
        },
        frames: nic.frames as usize,
    }
}

fn link(link: &Link) -> simulate::Link {
    simulate::Link {
        toward: link.lanes().each_ref().map(lane),
    }
}

fn bond(lanes: &[Lane]) -> Element {
    Element::Bond(lanes.iter().map(lane).collect())
}

fn lane(lane: &Lane) -> simulate::Lane {
    let mut made = simulate::Lane::new(
        lane.rate_bps.unwrap_or(UNLIMITED_BPS),
        lane.delay_us * MICROSECOND,
    );
    made.jitter = lane.jitter_us * MICROSECOND;
    made.loss = lane.loss;
    made.bursts = lane.bursts.map(|bursts| Bursts {
        begin: bursts.begin,
        end: bursts.end,
        loss: bursts.loss,
    });
    made.reorder = lane.reorder.map(|late| Reorder {
        probability: late.probability,
        extra: late.extra_us * MICROSECOND,
    });
    made.queue = usize::try_from(lane.queue_bytes).unwrap_or(usize::MAX);
    made
}

fn point(point: &crate::element::Point) -> Point {
    let mut made = Point::new(&point.name);
    made.own = point.own.map(side);
    made.format = Format::Pcapng;
    made.snap = SNAP;
    made
}
