//! The bytes are what they pretend to be: headers that an independent parser accepts, checksums
//! that are right where they should be.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use coalescope_simulate::{Element, Hop, Reader, Scenario, Side, run, story};
use etherparse::{NetHeaders, PacketHeaders, TransportHeader};

/// What a checksum field may be. One in 65,536 is both.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    right: bool,
    pseudo_header: bool,
}

fn checksum(bytes: &[u8]) -> Kind {
    let headers = PacketHeaders::from_ethernet_slice(bytes).unwrap();
    let payload = headers.payload.slice();
    let Some(TransportHeader::Tcp(tcp)) = headers.transport else {
        panic!("not TCP");
    };
    let (right, addresses) = match headers.net.unwrap() {
        NetHeaders::Ipv4(ip, _) => {
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            let right = tcp.calc_checksum_ipv4(&ip, payload).unwrap();
            (right, [ip.source, ip.destination].concat())
        }
        NetHeaders::Ipv6(ip, _) => {
            let right = tcp.calc_checksum_ipv6(&ip, payload).unwrap();
            (right, [ip.source, ip.destination].concat())
        }
        NetHeaders::Arp(_) => panic!("no ARP here"),
    };
    let mut sum: usize = 6 + tcp.header_len() + payload.len();
    sum += addresses
        .chunks(2)
        .map(|pair| usize::from(pair[0]) << 8 | usize::from(pair[1]))
        .sum::<usize>();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    Kind {
        right: tcp.checksum == right,
        pseudo_header: usize::from(tcp.checksum) == folded,
    }
}

fn frames(scenario: &Scenario, point: &str) -> Vec<Vec<u8>> {
    let outcome = run(scenario);
    let frames = common::read(&outcome.point(point).unwrap().bytes);
    frames.into_iter().map(|frame| frame.bytes).collect()
}

#[test]
fn checksums_on_the_wire_are_right() {
    for (name, point) in [
        ("clock-offset", "WIRE"),
        ("nat", "OUTSIDE"),
        ("jumbo", "FAR"),
    ] {
        let scenario = story(name).unwrap();
        let all = frames(&scenario, point);
        assert!(all.iter().all(|frame| checksum(frame).right), "{name}");
    }
}

#[test]
fn lro_recomputes_what_gro_leaves() {
    let merged = |name: &str, point: &str| {
        let all = frames(&story(name).unwrap(), point);
        all.into_iter()
            .filter(|frame| frame.len() > 1600)
            .collect::<Vec<_>>()
    };
    let lro = merged("freebsd-bridge-lro", "NIC");
    assert!(!lro.is_empty() && lro.iter().all(|frame| checksum(frame).right));
    let gro = merged("openstack-gro", "UPLINK");
    assert!(!gro.is_empty() && gro.iter().all(|frame| checksum(frame).pseudo_header));
}

#[test]
fn a_sender_with_offload_shows_the_pseudo_header_on_all_it_sends() {
    for ipv6 in [false, true] {
        let mut scenario = story("upload").unwrap();
        scenario.ipv6 = ipv6;
        scenario.vlan = Some(7);
        let all = frames(&scenario, "CLIENT");
        let sent = all.iter().filter(|frame| frame[5] == 2);
        let sent: Vec<_> = sent.map(|frame| checksum(frame)).collect();
        let others = sent.iter().filter(|kind| !kind.pseudo_header).count();
        assert!(
            sent.len() > 100 && others == 0,
            "{others} of {} {ipv6}",
            sent.len()
        );
    }
}

#[test]
fn a_tso_frame_may_have_no_length() {
    let mut scenario = story("upload").unwrap();
    scenario.client.zero_total_length = true;
    let all = frames(&scenario, "CLIENT");
    let zero = all.iter().filter(|frame| frame[16..18] == [0, 0]).count();
    assert!(zero > 100);
    assert!(
        all.iter()
            .all(|frame| frame.len() > 1514 || frame[16..18] != [0, 0])
    );
}

#[test]
fn tls_records_begin_where_they_should() {
    let all = frames(&story("ipvs-gro-direct").unwrap(), "CLIENT");
    let first = |from_client: bool| {
        let data = all
            .iter()
            .filter(|frame| (frame[5] == 2) == from_client && frame.len() > 200);
        data.map(|frame| frame[66..69].to_vec()).next().unwrap()
    };
    assert_eq!(first(true), [0x16, 3, 1]);
    assert_eq!(first(false), [0x16, 3, 1]);
}

#[test]
fn a_tunnel_wraps_whole_frames() {
    let all = frames(&story("vxlan").unwrap(), "UNDERLAY");
    for frame in &all {
        assert_eq!(u16::from_be_bytes([frame[36], frame[37]]), 4789);
        let kind = checksum(&frame[50..]);
        assert!(kind.right || kind.pseudo_header);
    }
}

/// Odd but legal hosts get their bytes across all the same.
#[test]
fn plain_hosts_and_bad_roads() {
    let mut scenario = story("openstack-gro-fixed").unwrap();
    scenario.turns[1].bytes = 300_000;
    for (timestamps, sack, loss) in [
        (false, false, 0.02),
        (true, false, 0.02),
        (false, true, 0.05),
        (true, true, 0.2),
    ] {
        for host in [&mut scenario.client, &mut scenario.server] {
            host.timestamps = timestamps;
            host.sack = sack;
            host.tail_probe = false;
        }
        scenario.client.reader = Reader::Steady {
            bytes: 20_000,
            every: 5_000_000,
        };
        for link in scenario.links_mut() {
            link.toward.iter_mut().for_each(|lane| lane.loss = loss);
        }
        let outcome = run(&scenario);
        assert_eq!(outcome.truth.connections[0].toward[0].bytes, 300_000);
        assert!(outcome.truth.connections[0].closed);
    }
}

#[test]
fn a_fragmenter_cuts_what_a_jumbo_host_sends() {
    let mut scenario = story("jumbo").unwrap();
    scenario.server.dont_fragment = false;
    scenario
        .path
        .insert(1, Element::Hop(Hop::Fragmenter { mtu: 1500 }));
    let outcome = run(&scenario);
    assert!(outcome.truth.connections[0].closed);
    let hop = outcome.truth.hop("FAR", "NEAR").unwrap();
    assert!(hop.single.fragmented > 900, "{hop:?}");
}

#[test]
fn a_splitter_loses_parts_of_merged_frames_only() {
    let mut scenario = story("openstack-gro").unwrap();
    let splitter = Hop::Splitter {
        toward: Side::Client,
        loss: 0.1,
    };
    scenario.path[1] = Element::Hop(splitter);
    let truth = run(&scenario).truth;
    let hop = truth.hop("UPLINK", "TAP").unwrap();
    assert!(hop.merged.partly_lost > 10 && hop.merged.resplit > 10);
    assert_eq!(hop.single.lost, 0);
}
