//! A load balancer that tunnels to its servers, which answer their clients directly (IPVS' tunnelling, LVS-TUN): one direction of a
//! connection comes in a tunnel, the other one does not. What is said of the connection is what is said without the tunnel.

mod common;

use coalescope_capture::facts::{Hop, Trace};
use coalescope_capture::{Options, trace_parts};
use coalescope_knowledge::judge;
use coalescope_simulate::{run, stories, story};
use common::{input, make_classic, records, traced, word};

/// Lengths of a record's own header and Ethernet's.
const RECORD: usize = 16;
const ETHERNET: usize = 14;
/// IPv4's number of a datagram in a datagram (RFC 2003).
const IP_IN_IP: u8 = 4;

/// A frame as it looks on the way to a server, from the balancer's address to the server's.
fn wrapped(record: &[u8]) -> Vec<u8> {
    let at = RECORD + ETHERNET;
    let inner = u16::from_be_bytes([record[at + 2], record[at + 3]]);
    // As in front of a card that cuts: what is too long for the field leaves that 0.
    let total = inner.checked_add(20).unwrap_or(0);
    let mut outer = vec![0x45, 0];
    outer.extend(total.to_be_bytes());
    outer.extend([0, 0, 0x40, 0, 64, IP_IN_IP, 0, 0]);
    outer.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    let longer = |at: usize| (word(record, at) + 20).to_le_bytes();
    [
        &record[..8],
        &longer(8),
        &longer(12),
        &record[RECORD..at],
        &outer,
        &record[at..],
    ]
    .concat()
}

/// A capture in which the frames from the address of the first one come in a tunnel, or those to that address.
fn with_tunnel(bytes: &[u8], is_toward_server: bool) -> Vec<u8> {
    let source = |record: &[u8]| record[RECORD + ETHERNET + 12..][..4].to_vec();
    let all = records(bytes);
    let client = source(&all[0]);
    let all = all.iter().map(|record| {
        let is_ipv4 = record[RECORD + 12..][..2] == [8, 0];
        if is_ipv4 && (source(record) == client) == is_toward_server {
            wrapped(record)
        } else {
            record.clone()
        }
    });
    [&bytes[..24], &all.collect::<Vec<_>>().concat()].concat()
}

fn traced_all(points: &[(String, Vec<u8>)]) -> Trace {
    traced(
        points
            .iter()
            .map(|(name, bytes)| input(name, bytes.clone())),
    )
}

/// The captures of all stories over IPv4.
fn told() -> impl Iterator<Item = (&'static str, Vec<(String, Vec<u8>)>)> {
    stories().iter().filter_map(|named| {
        let mut scenario = story(named.name).expect("a story");
        make_classic(&mut scenario);
        let points = run(&scenario).points.into_iter();
        let points = points.map(|point| (point.name, point.bytes)).collect();
        (!scenario.ipv6).then_some((named.name, points))
    })
}

/// What is said of the path and of the connections.
fn said(trace: &Trace) -> Vec<String> {
    let counts = |hop: &Hop| {
        format!(
            "{} -> {}: {:?} {:?}",
            hop.from, hop.to, hop.merged, hop.single
        )
    };
    let findings = judge(trace).findings.into_iter();
    let findings = findings.map(|finding| format!("{:?} {}", finding.id, finding.title));
    trace.hops.iter().map(counts).chain(findings).collect()
}

#[test]
fn a_tunnel_in_one_direction_changes_nothing_that_is_said() {
    let mut tried = 0;
    for (name, points) in told() {
        let plain = said(&traced_all(&points));
        for place in 0..points.len() {
            for is_toward_server in [true, false] {
                let mut some = points.clone();
                some[place].1 = with_tunnel(&points[place].1, is_toward_server);
                let about = format!("{name} at {place}, {is_toward_server}");
                assert_eq!(said(&traced_all(&some)), plain, "{about}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "{tried} captures");
}

/// How often a connection of the first point was seen, by any way of following it.
fn connections(points: &[(String, Vec<u8>)]) -> usize {
    let (name, bytes) = &points[0];
    let options = Options {
        threads: 3,
        ..Options::default()
    };
    let shared = trace_parts(input(name, bytes.clone()), &options, &mut |_| {});
    let shared = shared.expect("a thread for each part");
    let alone = traced_all(&points[..1]).points[0].connections.len();
    // Where frames are copies of others, the parts do not say.
    let shared = shared.map_or(alone, |trace| trace.points[0].connections.len());
    assert_eq!(shared, alone, "{name}");
    alone
}

#[test]
fn both_directions_are_one_connection_wherever_the_capture_begins() {
    for (name, mut points) in told() {
        let bytes = points[0].1.clone();
        for from in [0, 1, 2, 3, 7, 20] {
            let begin = |bytes: &[u8]| [&bytes[..24], &records(bytes)[from..].concat()].concat();
            points[0].1 = begin(&bytes);
            let plain = connections(&points);
            points[0].1 = begin(&with_tunnel(&bytes, true));
            assert_eq!(connections(&points), plain, "{name} from {from}");
        }
    }
}

/// A capture on all interfaces of the tunnel's end.
#[test]
fn what_is_seen_in_a_tunnel_and_outside_of_one_is_two_connections() {
    for (name, mut points) in told() {
        let bytes = points[0].1.clone();
        let plain = connections(&points);
        let is_ipv4 = |record: &[u8]| record[RECORD + 12..][..2] == [8, 0];
        let both = records(&bytes).into_iter().map(|record| {
            let other = if is_ipv4(&record) {
                wrapped(&record)
            } else {
                Vec::new()
            };
            [record, other].concat()
        });
        points[0].1 = [&bytes[..24], &both.collect::<Vec<_>>().concat()].concat();
        assert_eq!(connections(&points), 2 * plain, "{name}");
    }
}
