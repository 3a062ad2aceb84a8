//! The five incidents of the project, each with its fixed or harmless counterpart.
//!
//! Rates, round trips and sizes are the operators' where they gave them.

use super::Story;
use crate::path::{Cut, Element, Hop, Lane, Link, Merge, MergeKind, Point};
use crate::scenario::{Cause, Content, Scenario, Turn};
use crate::schedule::{MICROSECOND, MILLISECOND, Nanos, SECOND};
use crate::side::Side;

/// What an analyser should call the loss of merged frames.
const LOST: Option<&str> = Some("merged-frames-lost");

pub(super) const ALL: [Story; 10] = [
    Story {
        name: "openstack-gro",
        title: "a VM behind a hypervisor whose bridge can't carry what GRO merged",
        cause: Cause::MergedFramesLost,
        points: &["TAP", "UPLINK"],
        finding: LOST,
        build: |name| openstack(name, 5 * MILLISECOND, true),
    },
    Story {
        name: "openstack-gro-fixed",
        title: "the same VM after GRO was switched off on the uplink",
        cause: Cause::Healthy,
        points: &["TAP", "UPLINK"],
        finding: None,
        build: |name| openstack(name, 5 * MILLISECOND, false),
    },
    Story {
        name: "openstack-gro-neighbour",
        title: "the same fault toward a neighbour, hidden by a short round trip",
        cause: Cause::MergedFramesLostUnnoticed,
        points: &["TAP", "UPLINK"],
        finding: LOST,
        build: |name| openstack(name, 100 * MICROSECOND, true),
    },
    Story {
        name: "freebsd-bridge-lro",
        title: "a jail on a bridge behind a NIC with LRO",
        cause: Cause::MergedFramesLost,
        points: &["JAIL", "NIC"],
        finding: LOST,
        build: |name| {
            freebsd(
                name,
                Hop::DropMerged {
                    toward: Side::Client,
                },
            )
        },
    },
    Story {
        name: "freebsd-bridge-host",
        title: "the same host without the bridge in between",
        cause: Cause::Healthy,
        points: &["HOST", "NIC"],
        finding: None,
        build: freebsd_host,
    },
    Story {
        name: "ipvs-gro-direct",
        title: "90 KB over HTTPS straight from the real server",
        cause: Cause::Healthy,
        points: &["CLIENT"],
        finding: None,
        build: ipvs_direct,
    },
    Story {
        name: "ipvs-gro-vip",
        title: "the same 90 KB through an IPVS director with GRO",
        cause: Cause::MergedFramesLost,
        points: &["CLIENT", "DIRECTOR-OUT", "DIRECTOR-IN"],
        finding: LOST,
        build: ipvs_vip,
    },
    Story {
        name: "hyperv-rsc-jumbo",
        title: "a guest with jumbo frames behind a virtual switch with RSC",
        cause: Cause::MergedFramesLost,
        points: &["VM-01", "CAP-02", "CAP-01"],
        finding: LOST,
        build: |name| hyperv(name, 9000),
    },
    Story {
        name: "hyperv-rsc-1500",
        title: "the same guest with an MTU of 1500",
        cause: Cause::Healthy,
        points: &["VM-01", "CAP-02", "CAP-01"],
        finding: None,
        build: |name| hyperv(name, 1500),
    },
    Story {
        name: "frag-needed",
        title: "a router that answers merged frames with \"fragmentation needed\"",
        cause: Cause::MergedFramesLost,
        points: &["LAN", "WAN"],
        finding: LOST,
        build: frag_needed,
    },
];

/// A point that is named.
pub(super) fn point(name: &str) -> Element {
    Element::Point(Point::new(name))
}

/// A link with the same lanes both ways.
pub(super) fn link(rate_bps: u64, delay: Nanos) -> Element {
    Element::Link(Link::both(Lane::new(rate_bps, delay)))
}

/// A long link. The acknowledgements' way varies a little: without that the interrupts of the
/// merging NIC, which the sender's bursts follow, would always come at the same point of a burst.
pub(super) fn wan(rate_bps: u64, delay: Nanos, loss: f64) -> Element {
    let mut back = Lane::new(rate_bps, delay);
    back.jitter = delay / 16;
    Element::Link(Link {
        toward: [Lane::new(rate_bps, delay).losing(loss), back],
    })
}

/// The sending NIC of a side.
pub(super) fn cut_from(side: Side) -> Element {
    Element::Cut(Cut {
        toward: side.other(),
    })
}

/// Megabits per second.
pub(super) const MBIT: u64 = 1_000_000;

/// A request of 200 bytes and its answer.
pub(super) fn download(bytes: u64) -> Vec<Turn> {
    vec![
        Turn::new(Side::Client, 200),
        Turn::new(Side::Server, bytes).after(MILLISECOND),
    ]
}

/// Story A. The uplink's NIC interrupts at most every 150 us, in which the far server's link brings
/// two or three segments.
fn openstack(name: &str, delay: Nanos, gro: bool) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(4 << 20);
    scenario.path = vec![
        point("TAP"),
        Element::Hop(Hop::DropMerged {
            toward: Side::Client,
        }),
        point("UPLINK"),
        cut_from(Side::Client),
        wan(200 * MBIT, delay, 0.0),
        cut_from(Side::Server),
    ];
    if gro {
        let merge = Merge::gro(Side::Client, 150 * MICROSECOND);
        scenario.path.insert(4, Element::Merge(merge));
    }
    scenario
}

/// Story B: 100 Mbit/s, 8 ms, 0.1% of loss, two streams as the operator's iperf3 had.
fn freebsd(name: &str, hop: Hop) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(3 << 20);
    scenario.connections = 2;
    scenario.path = vec![
        point("JAIL"),
        Element::Hop(hop),
        point("NIC"),
        cut_from(Side::Client),
        Element::Merge(Merge::lro(Side::Client, 250 * MICROSECOND)),
        wan(100 * MBIT, 4 * MILLISECOND, 0.001),
        cut_from(Side::Server),
    ];
    scenario
}

fn freebsd_host(name: &str) -> Scenario {
    let mut scenario = freebsd(name, Hop::Bridge);
    scenario.path[0] = point("HOST");
    scenario
}

/// The picture of story D: TLS, a request, 90 KB.
fn picture() -> Vec<Turn> {
    vec![
        Turn::new(Side::Client, 517).holding(Content::Handshake),
        Turn::new(Side::Server, 3_500).holding(Content::Handshake),
        Turn::new(Side::Client, 400).holding(Content::Records),
        Turn::new(Side::Server, 90 * 1024)
            .holding(Content::Records)
            .after(2 * MILLISECOND),
    ]
}

/// The client's NIC merges up to six segments: frames of about 8 KB.
fn client_nic() -> Element {
    Element::Merge(Merge {
        max_segments: 6,
        ..Merge::gro(Side::Client, 500 * MICROSECOND)
    })
}

fn ipvs_direct(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = picture();
    scenario.path = vec![
        point("CLIENT"),
        cut_from(Side::Client),
        client_nic(),
        wan(1000 * MBIT, 40 * MILLISECOND, 0.0),
        cut_from(Side::Server),
    ];
    scenario
}

/// Story D. The director's NIC merges what arrives from the real server within 500 us, and IPVS
/// of Linux 2.6.32 can't send that on.
fn ipvs_vip(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = picture();
    scenario.path = vec![
        point("CLIENT"),
        cut_from(Side::Client),
        client_nic(),
        wan(1000 * MBIT, 40 * MILLISECOND, 0.0),
        point("DIRECTOR-OUT"),
        Element::Hop(Hop::Director { mtu: 1500 }),
        point("DIRECTOR-IN"),
        Element::Merge(Merge::gro(Side::Client, 500 * MICROSECOND)),
        link(1000 * MBIT, 50 * MICROSECOND),
        cut_from(Side::Server),
    ];
    scenario
}

/// Story E. The server's MTU makes frames of 1474 bytes: 1408 of payload and 66 of headers.
fn hyperv(name: &str, guest_mtu: u32) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    // With this seed the first frames are those of the operator's captures: one segment, 2882
    // bytes at Seq=1409, and at the guest Seq=16897 after Ack=1409.
    scenario.seed = 24;
    scenario.client.mtu = guest_mtu;
    scenario.server.mtu = 1460;
    scenario.turns = download(1 << 20);
    scenario.path = vec![
        point("VM-01"),
        Element::Hop(Hop::DropMergedIfMtuOver {
            guest: Side::Client,
            limit: 2850,
        }),
        point("CAP-02"),
        Element::Merge(Merge {
            kind: MergeKind::Rsc,
            ..Merge::lro(Side::Client, 25 * MICROSECOND)
        }),
        cut_from(Side::Client),
        point("CAP-01"),
        wan(1000 * MBIT, 12 * MILLISECOND, 0.0),
        cut_from(Side::Server),
    ];
    scenario
}

fn frag_needed(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(1 << 20);
    scenario.path = vec![
        point("LAN"),
        Element::Hop(Hop::Router {
            mtu: 1500,
            icmp: true,
        }),
        point("WAN"),
        cut_from(Side::Client),
        Element::Merge(Merge::lro(Side::Client, 150 * MICROSECOND)),
        wan(200 * MBIT, 5 * MILLISECOND, 0.0),
        cut_from(Side::Server),
    ];
    scenario.limit = 600 * SECOND;
    scenario
}
