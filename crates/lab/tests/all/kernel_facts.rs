//! What the GRO of the kernel that runs these tests does, case by case. The numbers are those of
//! Linux 6.18; they are facts about it, not about the engine. Skipped, with a count, where the lab
//! cannot be built.

use crate::facts::*;
use coalescope_lab::craft::{
    Encapsulation, Ipv4, Segment, Transport, Tunnel, Udp, flags, timestamps,
};
use coalescope_lab::packet::{Gso, VnetHeader};
use coalescope_lab::{Delivered, KernelGro, Options, internet_checksum};

#[test]
fn flags_of_tcp() {
    let set = |at: usize, flag: u16| {
        v4(5, move |i, s| {
            tcp(s).flags |= if i == at { flag } else { 0 }
        })
    };
    let all = |flag: u16| v4(3, move |_, s| tcp(s).flags |= flag);
    let empty = |flag: u16| {
        v4(5, move |i, s| {
            if i == 2 {
                tcp(s).flags |= flag;
                s.payload.clear();
            }
        })
    };
    let facts = vec![
        ("none", v4(8, |_, _| ()), "0-7"),
        ("PSH on the first", set(0, flags::PSH), "0 1-4"),
        ("PSH on the third", set(2, flags::PSH), "0-2 3-4"),
        ("FIN on the first", set(0, flags::FIN), "0 1-4"),
        ("FIN on the third", set(2, flags::FIN), "0-2 3-4"),
        ("FIN without data", empty(flags::FIN), "0-1 empty 3-4"),
        ("PSH without data", empty(flags::PSH), "0-1 empty 3-4"),
        ("pure ACK between", empty(0), "0-1 empty 3-4"),
        ("SYN on the third", set(2, flags::SYN), "0-1 2 3-4"),
        ("SYN without data", empty(flags::SYN), "0-1 empty 3-4"),
        ("RST on the third", set(2, flags::RST), "0-1 2 3-4"),
        ("RST without data", empty(flags::RST), "0-1 empty 3-4"),
        ("URG on the third", set(2, flags::URG), "0-1 2 3-4"),
        ("URG without data", empty(flags::URG), "0-1 empty 3-4"),
        ("ECE on the third", set(2, flags::ECE), "0-1 2 3-4"),
        ("ECE on all", all(flags::ECE), "0-2"),
        ("CWR on the first", set(0, flags::CWR), "0 1-4"),
        ("CWR on the third", set(2, flags::CWR), "0-1 2 3-4"),
        ("CWR on all", all(flags::CWR), "0 1 2"),
        (
            "CWR on the second and third",
            v4(5, |i, s| {
                tcp(s).flags |= if i == 1 || i == 2 { flags::CWR } else { 0 }
            }),
            "0 1 2 3-4",
        ),
        ("AE on the third", set(2, flags::AE), "0-1 2 3-4"),
        ("AE on all", all(flags::AE), "0-2"),
        (
            "AE, CWR and ECE on all",
            all(flags::AE | flags::CWR | flags::ECE),
            "0 1 2",
        ),
        ("PSH on all", all(flags::PSH), "0 1 2"),
        ("URG on all", all(flags::URG), "0 1 2"),
        ("no ACK on all", v4(3, |_, s| tcp(s).flags = 0), "0-2"),
        (
            "no ACK on the second",
            v4(3, |i, s| tcp(s).flags = if i == 1 { 0 } else { flags::ACK }),
            "0 1 2",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn fields_of_tcp() {
    let from = |at: usize, change: fn(&mut Segment)| {
        v4(4, move |i, s| {
            if i >= at {
                change(s);
            }
        })
    };
    let only = |at: usize, change: fn(&mut Segment)| {
        v4(4, move |i, s| {
            if i == at {
                change(s);
            }
        })
    };
    let facts = vec![
        ("window changes", from(2, |s| tcp(s).window += 1), "0-1 2-3"),
        (
            "window of one differs",
            only(1, |s| tcp(s).window += 1),
            "0 1 2-3",
        ),
        (
            "acknowledgement grows",
            from(2, |s| tcp(s).ack += 1),
            "0-1 2-3",
        ),
        (
            "urgent pointer without URG changes",
            from(2, |s| tcp(s).urgent = 9),
            "0-3",
        ),
        (
            "timestamp changes",
            from(2, |s| tcp(s).options = timestamps(2, 7)),
            "0-1 2-3",
        ),
        (
            "echo changes",
            from(2, |s| tcp(s).options = timestamps(1, 8)),
            "0-1 2-3",
        ),
        (
            "order of options changes",
            from(2, |s| tcp(s).options.rotate_left(2)),
            "0-1 2-3",
        ),
        (
            "no options at all",
            from(0, |s| tcp(s).options.clear()),
            "0-3",
        ),
        (
            "SACK block on all",
            from(0, |s| {
                tcp(s).options.extend([1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
            }),
            "0-3",
        ),
        (
            "unknown option on all",
            from(0, |s| tcp(s).options = vec![200, 4, 1, 2]),
            "0-3",
        ),
        (
            "bad checksum on the second",
            only(1, |s| tcp(s).checksum_error = 1),
            "1 0 2-3",
        ),
        (
            "bad checksum on the first",
            only(0, |s| tcp(s).checksum_error = 1),
            "0 1-3",
        ),
        (
            "bad checksum on all",
            from(0, |s| tcp(s).checksum_error = 1),
            "0 1 2 3",
        ),
        (
            "data offset below 5",
            only(1, |s| tcp(s).offset_error = -4),
            "1 0 2-3",
        ),
        (
            "data offset beyond the end",
            only(1, |s| (tcp(s).offset_error, s.payload) = (7, vec![0; 4])),
            "1 0 2-3",
        ),
        (
            "another source port",
            only(1, |s| tcp(s).source += 1),
            "0 1 2-3",
        ),
        (
            "another destination port",
            only(1, |s| tcp(s).destination += 1),
            "0 1 2-3",
        ),
        (
            "sequence number wraps",
            v4(4, |i, s| {
                tcp(s).seq = (u32::MAX - 149).wrapping_add(100 * i as u32);
            }),
            "0-3",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn sizes() {
    let sized =
        |sizes: &'static [usize]| v4(sizes.len(), move |i, s| s.payload = vec![0; sizes[i]]);
    let facts = vec![
        (
            "shorter one ends",
            sized(&[100, 100, 60, 100, 100]),
            "0-2 3-4",
        ),
        (
            "longer one begins anew",
            sized(&[100, 100, 120, 120]),
            "0-1 2-3",
        ),
        ("one byte ends", sized(&[100, 1, 100]), "0-1 2"),
        ("one byte, then longer", sized(&[1, 100, 100]), "0 1-2"),
        ("single bytes", sized(&[1; 20]), "0-19"),
        ("short, short", sized(&[100, 60, 60, 60]), "0-1 2-3"),
        ("64 of 1,448", sized(&[1448; 64]), "0-44 45-63"),
        ("64 of 1,460", sized(&[1460; 64]), "0-43 44-63"),
        (
            "64 of 8,948",
            sized(&[8948; 64]),
            "0-6 7-13 14-20 21-27 28-34 35-41 42-48 49-55 56-62 63",
        ),
        ("64 of 4,000", sized(&[4000; 64]), "0-15 16-31 32-47 48-63"),
        ("64 of 536", sized(&[536; 64]), "0-63"),
        ("64 of 1", sized(&[1; 64]), "0-63"),
        (
            "IP packet of 65,535: 7 x 8,948 and 2,847",
            sized(&[8948, 8948, 8948, 8948, 8948, 8948, 8948, 2847, 100]),
            "0-7 8",
        ),
        (
            "IP packet of 65,536: 7 x 8,948 and 2,848",
            sized(&[8948, 8948, 8948, 8948, 8948, 8948, 8948, 2848, 100]),
            "0-6 7-8",
        ),
        ("40,000 and 20,000", sized(&[40_000, 20_000, 100]), "0-1 2"),
        ("33,000 twice", sized(&[33_000, 33_000, 100]), "0 1-2"),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn sizes_over_ipv6() {
    let sized =
        |sizes: &'static [usize]| v6(sizes.len(), move |i, s| s.payload = vec![0; sizes[i]]);
    let facts = vec![
        ("64 of 1,428", sized(&[1428; 64]), "0-44 45-63"),
        (
            "64 of 8,928",
            sized(&[8928; 64]),
            "0-6 7-13 14-20 21-27 28-34 35-41 42-48 49-55 56-62 63",
        ),
        (
            "total of 65,535: 7 x 8,928 and 2,967",
            sized(&[8928, 8928, 8928, 8928, 8928, 8928, 8928, 2967, 100]),
            "0-7 8",
        ),
        (
            "total of 65,536: 7 x 8,928 and 2,968",
            sized(&[8928, 8928, 8928, 8928, 8928, 8928, 8928, 2968, 100]),
            "0-6 7-8",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn order_and_gaps() {
    let facts = vec![
        ("gap", v4(5, |_, _| ()).order([0, 1, 3, 4]), "0-1 3-4"),
        (
            "two swapped",
            v4(8, |_, _| ()).order([0, 1, 3, 2, 4, 5, 6, 7]),
            "0-1 3 2 4-7",
        ),
        (
            "a duplicate",
            v4(4, |_, _| ()).order([0, 1, 1, 2, 3]),
            "0-1 1-3",
        ),
        (
            "an old one again",
            v4(4, |_, _| ()).order([0, 1, 2, 0, 3]),
            "0-2 0 3",
        ),
        ("backwards", v4(4, |_, _| ()).order([3, 2, 1, 0]), "3 2 1 0"),
        (
            "overlap by one byte",
            v4(3, |i, s| tcp(s).seq -= u32::from(i == 1)),
            "0 1 2",
        ),
    ];
    assert_facts(Options::default(), facts);
}

/// Segments of `count` flows in turn.
fn flows(count: usize, rounds: usize) -> Batch {
    v4(count * rounds, move |i, s| of_flow(s, i % count, i / count))
}

fn of_flow(segment: &mut Segment, flow: usize, round: usize) {
    ip4(segment).id = 100 + round as u16;
    let header = tcp(segment);
    header.source = 5000 + flow as u16;
    header.seq = round as u32 * 100;
}

#[test]
fn several_flows() {
    let alternating = |flows: &'static [usize]| {
        v4(flows.len(), move |i, s| {
            of_flow(
                s,
                flows[i],
                flows[..i].iter().filter(|flow| **flow == flows[i]).count(),
            );
        })
    };
    let closing = v4(6, |i, s| {
        of_flow(s, i % 3, i / 3);
        tcp(s).flags |= if i == 4 { flags::PSH } else { 0 };
    });
    let facts = vec![
        (
            "three flows leave in order of arrival",
            flows(3, 2),
            "0,3 1,4 2,5",
        ),
        (
            "eight flows",
            flows(8, 2),
            "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15",
        ),
        (
            "nine flows of two",
            flows(9, 2),
            "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
        ),
        (
            "twelve flows of three",
            flows(12, 3),
            "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35",
        ),
        ("nine singles", flows(9, 1), "0 1 2 3 4 5 6 7 8"),
        (
            "a segment more does not make a flow younger",
            alternating(&[0, 1, 2, 0, 1]),
            "0,3 1,4 2",
        ),
        (
            "the oldest makes room",
            alternating(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 1, 0]),
            "0,8 1,10 2 3 4 5 6 7 9 11",
        ),
        (
            "one that is closed goes before those held",
            closing,
            "1,4 0,3 2,5",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn link_layer() {
    let only = |at: usize, change: fn(&mut Segment)| {
        v4(4, move |i, s| {
            if i == at {
                change(s);
            }
        })
    };
    let all = |change: fn(&mut Segment)| v4(4, move |_, s| change(s));
    let facts = vec![
        (
            "another source MAC",
            only(1, |s| s.source_mac[5] = 9),
            "0 1 2-3",
        ),
        (
            "another destination MAC",
            only(1, |s| s.destination_mac[5] = 9),
            "0 1 2-3",
        ),
        (
            "not our MAC on all",
            all(|s| s.destination_mac[5] = 9),
            "0-3",
        ),
        (
            "multicast MAC on all",
            all(|s| s.destination_mac[0] = 1),
            "0-3",
        ),
        (
            "10 bytes of padding on the second",
            only(1, |s| s.padding = 10),
            "0 1 2-3",
        ),
        (
            "10 bytes of padding on all",
            all(|s| s.padding = 10),
            "0 1 2 3",
        ),
        (
            "10 bytes of padding on the first",
            only(0, |s| s.padding = 10),
            "0 1-3",
        ),
        ("VLAN", all(|s| s.tags = vec![(0x8100, 5)]), "0 1 2 3"),
        (
            "QinQ",
            all(|s| s.tags = vec![(0x88a8, 5), (0x8100, 6)]),
            "0 1 2 3",
        ),
        ("PPPoE", all(|s| s.pppoe = Some(5)), "0 1 2 3"),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn ipv4() {
    let only = |at: usize, change: fn(&mut Ipv4)| {
        v4(4, move |i, s| {
            if i == at {
                change(ip4(s));
            }
        })
    };
    let all = |change: fn(&mut Ipv4)| v4(4, move |_, s| change(ip4(s)));
    let ids = |ids: [u16; 3], df: bool| {
        v4(3, move |i, s| {
            (ip4(s).id, ip4(s).dont_fragment) = (ids[i], df);
        })
    };
    let facts = vec![
        ("ID up, DF", ids([8, 9, 10], true), "0-2"),
        ("ID up, no DF", ids([8, 9, 10], false), "0-2"),
        ("ID the same, DF", ids([8, 8, 8], true), "0-2"),
        ("ID the same, no DF", ids([8, 8, 8], false), "0-2"),
        ("ID 0, DF", ids([0, 0, 0], true), "0-2"),
        ("ID 0, no DF", ids([0, 0, 0], false), "0-2"),
        ("ID up, then the same", ids([8, 9, 9], true), "0-1 2"),
        ("ID the same, then up", ids([8, 8, 9], true), "0-1 2"),
        (
            "ID up, then the same, no DF",
            ids([8, 9, 9], false),
            "0-1 2",
        ),
        (
            "ID the same, then up, no DF",
            ids([8, 8, 9], false),
            "0-1 2",
        ),
        ("ID wraps", ids([65_534, 65_535, 0], true), "0-2"),
        ("ID wraps, no DF", ids([65_534, 65_535, 0], false), "0-2"),
        ("ID skips", ids([8, 10, 11], true), "0 1-2"),
        ("ID down", ids([8, 7, 6], true), "0 1 2"),
        (
            "DF of one differs",
            only(1, |ip| ip.dont_fragment = false),
            "0 1 2-3",
        ),
        (
            "MF on the second",
            only(1, |ip| ip.more_fragments = true),
            "1 0 2-3",
        ),
        (
            "MF on the last",
            only(3, |ip| ip.more_fragments = true),
            "3 0-2",
        ),
        (
            "fragment offset on the second",
            only(1, |ip| ip.fragment_offset = 5),
            "1 0 2-3",
        ),
        (
            "reserved bit on the second",
            only(1, |ip| ip.reserved = true),
            "0 1 2-3",
        ),
        (
            "reserved bit on all",
            all(|ip| ip.reserved = true),
            "0 1 2 3",
        ),
        ("TTL of one differs", only(1, |ip| ip.ttl = 7), "0 1 2-3"),
        ("TOS of one differs", only(1, |ip| ip.tos = 0x10), "0 1 2-3"),
        ("ECN of one differs", only(1, |ip| ip.tos = 3), "0 1 2-3"),
        ("ECN the same on all", all(|ip| ip.tos = 3), "0-3"),
        (
            "options on the second",
            only(1, |ip| ip.options = vec![1; 4]),
            "1 0 2-3",
        ),
        (
            "options on all",
            all(|ip| ip.options = vec![1; 4]),
            "0 1 2 3",
        ),
        (
            "bad header checksum on the second",
            only(1, |ip| ip.checksum_error = 1),
            "1 0 2-3",
        ),
        (
            "bad header checksum on all",
            all(|ip| ip.checksum_error = 1),
            "0 1 2 3",
        ),
        (
            "total length too short by 4 on the second",
            only(1, |ip| ip.length_error = -4),
            "0 1 2-3",
        ),
        (
            "total length too long by 4 on the second",
            only(1, |ip| ip.length_error = 4),
            "0 1 2-3",
        ),
        (
            "another source address",
            only(1, |ip| ip.source[3] = 77),
            "0 1 2-3",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn ipv6() {
    let only = |at: usize, change: fn(&mut Segment)| {
        v6(4, move |i, s| {
            if i == at {
                change(s);
            }
        })
    };
    let all = |change: fn(&mut Segment)| v6(4, move |_, s| change(s));
    let extension = |kinds: [u8; 4]| {
        v6(4, move |i, s| {
            ip6(s)
                .extensions
                .push((60, vec![0, 1, 4, 0, 0, 0, kinds[i]]));
        })
    };
    let facts = vec![
        ("in order", v6(8, |_, _| ()), "0-7"),
        (
            "flow label of one differs",
            only(1, |s| ip6(s).flow_label = 7),
            "0 1 2-3",
        ),
        (
            "hop limit of one differs",
            only(1, |s| ip6(s).hop_limit = 7),
            "0 1 2-3",
        ),
        (
            "traffic class of one differs",
            only(1, |s| ip6(s).traffic_class = 0x20),
            "0 1 2-3",
        ),
        (
            "ECN of one differs",
            only(1, |s| ip6(s).traffic_class = 3),
            "0 1 2-3",
        ),
        ("destination options the same", extension([0; 4]), "0-3"),
        (
            "destination options of one differ",
            extension([0, 1, 0, 0]),
            "0 1 2-3",
        ),
        (
            "destination options on one",
            only(1, |s| {
                ip6(s).extensions = vec![(60, vec![0, 1, 4, 0, 0, 0, 0])];
            }),
            "0 1 2-3",
        ),
        (
            "hop-by-hop options on all",
            all(|s| ip6(s).extensions = vec![(0, vec![0, 1, 4, 0, 0, 0, 0])]),
            "0-3",
        ),
        (
            "routing header on all",
            all(|s| ip6(s).extensions = vec![(43, vec![0, 4, 0, 0, 0, 0, 0])]),
            "0-3",
        ),
        (
            "two extension headers on all",
            all(|s| {
                ip6(s).extensions = vec![
                    (0, vec![0, 1, 4, 0, 0, 0, 0]),
                    (60, vec![0, 1, 4, 0, 0, 0, 0]),
                ];
            }),
            "0-3",
        ),
        (
            "fragment header on the second",
            only(1, |s| {
                ip6(s).extensions = vec![(44, vec![0, 0, 0, 0, 0, 0, 1])];
            }),
            "1 0 2-3",
        ),
        (
            "fragment header on all",
            all(|s| ip6(s).extensions = vec![(44, vec![0, 0, 0, 0, 0, 0, 1])]),
            "0 1 2 3",
        ),
        (
            "payload length too short by 4 on the second",
            only(1, |s| ip6(s).length_error = -4),
            "0 1 2-3",
        ),
        (
            "payload length too long by 4 on the second",
            only(1, |s| ip6(s).length_error = 4),
            "0 1 2-3",
        ),
        (
            "padding on the second",
            only(1, |s| s.padding = 6),
            "0 1 2-3",
        ),
        (
            "bad checksum on the second",
            only(1, |s| tcp(s).checksum_error = 1),
            "1 0 2-3",
        ),
        (
            "another source address",
            only(1, |s| ip6(s).source[15] = 77),
            "0 1 2-3",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn udp_without_forwarding() {
    assert_facts(
        Options::default(),
        vec![("passes singly", udp4(3, |_, _| ()), "0 1 2")],
    );
}

#[test]
fn udp_with_forwarding() {
    let only = |at: usize, change: fn(&mut Segment)| {
        udp4(4, move |i, s| {
            if i == at {
                change(s);
            }
        })
    };
    let all = |change: fn(&mut Segment)| udp4(4, move |_, s| change(s));
    let sized =
        |sizes: &'static [usize]| udp4(sizes.len(), move |i, s| s.payload = vec![0; sizes[i]]);
    let facts = vec![
        ("equal", udp4(4, |_, _| ()), "0-3"),
        ("equal over IPv6", udp6(4, |_, _| ()), "0-3"),
        (
            "shorter one ends",
            sized(&[100, 100, 60, 100, 100]),
            "0-2 3-4",
        ),
        (
            "longer one begins anew",
            sized(&[100, 100, 120, 120]),
            "0-1 2-3",
        ),
        ("64 of 10", sized(&[10; 64]), "0-63"),
        ("without payload", sized(&[100, 0, 100]), "empty 0 2"),
        ("without payload, all", sized(&[0; 3]), "empty empty empty"),
        ("64 of 1,472", sized(&[1472; 64]), "0-43 44-63"),
        (
            "64 of 8,972",
            sized(&[8972; 64]),
            "0-6 7-13 14-20 21-27 28-34 35-41 42-48 49-55 56-62 63",
        ),
        (
            "IP packet of 65,535: 7 x 8,972 and 2,703",
            sized(&[8972, 8972, 8972, 8972, 8972, 8972, 8972, 2703, 100]),
            "0-7 8",
        ),
        (
            "IP packet of 65,536: 7 x 8,972 and 2,704",
            sized(&[8972, 8972, 8972, 8972, 8972, 8972, 8972, 2704, 100]),
            "0-6 7-8",
        ),
        (
            "no checksum on all",
            all(|s| udp_header(s).no_checksum = true),
            "0 1 2 3",
        ),
        (
            "no checksum on the second",
            only(1, |s| udp_header(s).no_checksum = true),
            "1 0 2-3",
        ),
        (
            "bad checksum on the second",
            only(1, |s| udp_header(s).checksum_error = 1),
            "1 0 2-3",
        ),
        (
            "UDP length too short by 4 on the second",
            only(1, |s| udp_header(s).length_error = -4),
            "1 0 2-3",
        ),
        (
            "UDP length too short by 4 on all",
            all(|s| udp_header(s).length_error = -4),
            "0 1 2 3",
        ),
        ("TTL of one differs", only(1, |s| ip4(s).ttl = 7), "0 1 2-3"),
        ("TOS of one differs", only(1, |s| ip4(s).tos = 7), "0 1 2-3"),
        (
            "DF of one differs",
            only(1, |s| ip4(s).dont_fragment = false),
            "0 1 2-3",
        ),
        ("ID skips", only(1, |s| ip4(s).id += 9), "0 1 2-3"),
        ("ID the same", all(|s| ip4(s).id = 9), "0-3"),
        (
            "another port",
            only(1, |s| udp_header(s).source += 1),
            "0 1 2-3",
        ),
        (
            "padding on the second",
            only(1, |s| s.padding = 6),
            "1 0 2-3",
        ),
        (
            "options on all",
            all(|s| ip4(s).options = vec![1; 4]),
            "0 1 2 3",
        ),
    ];
    assert_facts(
        Options {
            udp_forwarding: true,
            ..Options::default()
        },
        facts,
    );
}

fn gre(key: Option<u32>, sequence: Option<u32>, checksum: bool, ethernet: bool) -> Encapsulation {
    Encapsulation::Gre {
        key,
        sequence,
        checksum,
        ethernet,
    }
}

fn vxlan(no_checksum: bool) -> Encapsulation {
    let udp = Udp {
        source: 50_000,
        destination: 4789,
        no_checksum,
        ..Udp::default()
    };
    Encapsulation::Vxlan { udp, vni: 5 }
}

#[test]
fn tunnels_in_ip() {
    let ipip =
        |change: fn(usize, &mut Segment)| tunnelled(false, outer4(), Encapsulation::Ip, change);
    let facts = vec![
        ("IPIP", ipip(|_, _| ()), "0-3"),
        (
            "6in4",
            tunnelled(true, outer4(), Encapsulation::Ip, |_, _| ()),
            "0-3",
        ),
        (
            "4in6",
            tunnelled(false, outer6(), Encapsulation::Ip, |_, _| ()),
            "0-3",
        ),
        (
            "6in6",
            tunnelled(true, outer6(), Encapsulation::Ip, |_, _| ()),
            "0-3",
        ),
        (
            "IPIP twice",
            ipip(|_, s| s.tunnels.push(s.tunnels[0].clone())),
            "0 1 2 3",
        ),
        (
            "IPIP, outer TTL of one differs",
            ipip(|i, s| outer(s).ttl -= u8::from(i == 1)),
            "0 1 2-3",
        ),
        (
            "IPIP, outer TOS of one differs",
            ipip(|i, s| outer(s).tos = u8::from(i == 1)),
            "0 1 2-3",
        ),
        (
            "IPIP, outer DF of one differs",
            ipip(|i, s| outer(s).dont_fragment = i != 1),
            "0 1 2-3",
        ),
        (
            "IPIP, outer ID the same, DF",
            ipip(|_, s| outer(s).id = 9),
            "0-3",
        ),
        (
            "IPIP, outer ID the same, no DF",
            ipip(|_, s| (outer(s).id, outer(s).dont_fragment) = (9, false)),
            "0-3",
        ),
        (
            "IPIP, outer ID random, DF",
            ipip(|i, s| outer(s).id = [9, 5, 7, 2][i]),
            "0 1 2 3",
        ),
        (
            "IPIP, outer ID random, no DF",
            ipip(|i, s| (outer(s).id, outer(s).dont_fragment) = ([9, 5, 7, 2][i], false)),
            "0 1 2 3",
        ),
        (
            "IPIP, outer checksum of one bad",
            ipip(|i, s| outer(s).checksum_error = u16::from(i == 1)),
            "1 0 2-3",
        ),
        (
            "IPIP, inner TTL of one differs",
            ipip(|i, s| ip4(s).ttl -= u8::from(i == 1)),
            "0 1 2-3",
        ),
        ("IPIP, inner ID the same", ipip(|_, s| ip4(s).id = 9), "0-3"),
        (
            "IPIP, inner checksum of one bad",
            ipip(|i, s| ip4(s).checksum_error = u16::from(i == 1)),
            "1 0 2-3",
        ),
        (
            "IPIP, TCP checksum of one bad",
            ipip(|i, s| tcp(s).checksum_error = u16::from(i == 1)),
            "1 0 2-3",
        ),
        (
            "IPIP, other outer address",
            ipip(|i, s| outer(s).source[3] += u8::from(i == 1)),
            "0 1 2-3",
        ),
        (
            "IPIP to 65,535",
            ipip(|i, s| s.payload = vec![0; if i < 3 { 21_800 } else { 63 }]),
            "0-3",
        ),
        (
            "IPIP to 65,536",
            ipip(|i, s| s.payload = vec![0; if i < 3 { 21_800 } else { 64 }]),
            "0-2 3",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn tunnels_in_gre() {
    let facts = vec![
        (
            "GRE",
            tunnelled(false, outer4(), gre(None, None, false, false), |_, _| ()),
            "0-3",
        ),
        (
            "GRE, IPv6 inside",
            tunnelled(true, outer4(), gre(None, None, false, false), |_, _| ()),
            "0-3",
        ),
        (
            "GRE in IPv6",
            tunnelled(false, outer6(), gre(None, None, false, false), |_, _| ()),
            "0-3",
        ),
        (
            "GRE with key",
            tunnelled(false, outer4(), gre(Some(5), None, false, false), |_, _| ()),
            "0-3",
        ),
        (
            "GRE with sequence number",
            tunnelled(false, outer4(), gre(None, Some(5), false, false), |_, _| ()),
            "0 1 2 3",
        ),
        (
            "GRE with checksum",
            tunnelled(false, outer4(), gre(None, None, true, false), |_, _| ()),
            "0-3",
        ),
        (
            "GRE with Ethernet",
            tunnelled(false, outer4(), gre(None, None, false, true), |_, _| ()),
            "0-3",
        ),
    ];
    assert_facts(Options::default(), facts);
}

#[test]
fn tunnels_in_udp() {
    let geneve = Encapsulation::Geneve {
        udp: Udp {
            source: 50_000,
            destination: 6081,
            ..Udp::default()
        },
        vni: 5,
    };
    let facts = vec![
        (
            "VXLAN without checksum",
            tunnelled(false, outer4(), vxlan(true), |_, _| ()),
            "0-3",
        ),
        (
            "VXLAN with checksum",
            tunnelled(false, outer4(), vxlan(false), |_, _| ()),
            "0-3",
        ),
        (
            "VXLAN, IPv6 inside",
            tunnelled(true, outer4(), vxlan(true), |_, _| ()),
            "0-3",
        ),
        (
            "VXLAN in IPv6 without checksum",
            tunnelled(false, outer6(), vxlan(true), |_, _| ()),
            "0-3",
        ),
        (
            "VXLAN in IPv6 with checksum",
            tunnelled(false, outer6(), vxlan(false), |_, _| ()),
            "0-3",
        ),
        (
            "VXLAN, one with checksum",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                s.tunnels[0].encapsulation = vxlan(i != 1);
            }),
            "0 1 2-3",
        ),
        (
            "VXLAN, other VNI on one",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                if let Encapsulation::Vxlan { vni, .. } = &mut s.tunnels[0].encapsulation {
                    *vni += u32::from(i == 1);
                }
            }),
            "0 1 2-3",
        ),
        (
            "VXLAN, other source port on one",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                if let Encapsulation::Vxlan { udp, .. } = &mut s.tunnels[0].encapsulation {
                    udp.source += u16::from(i == 1);
                }
            }),
            "0 1 2-3",
        ),
        (
            "VXLAN, outer ID the same",
            tunnelled(false, outer4(), vxlan(true), |_, s| outer(s).id = 9),
            "0-3",
        ),
        (
            "VXLAN, outer ID random, DF",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                outer(s).id = [9, 5, 7, 2][i];
            }),
            "0 1 2 3",
        ),
        (
            "VXLAN, outer TTL of one differs",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                outer(s).ttl -= u8::from(i == 1);
            }),
            "0 1 2-3",
        ),
        (
            "Geneve",
            tunnelled(false, outer4(), geneve, |_, _| ()),
            "0 1 2 3",
        ),
        (
            "IPIP in VXLAN",
            tunnelled(false, outer4(), vxlan(true), |_, s| {
                s.tunnels.push(Tunnel {
                    outer: outer4(),
                    encapsulation: Encapsulation::Ip,
                });
            }),
            "0 1 2 3",
        ),
        (
            "UDP in VXLAN",
            tunnelled(false, outer4(), vxlan(true), |_, s| {
                s.transport = Transport::Udp(Udp {
                    source: 7,
                    destination: 443,
                    ..Udp::default()
                });
            }),
            "0 1 2 3",
        ),
        (
            "VXLAN with padding after it",
            tunnelled(false, outer4(), vxlan(true), |i, s| {
                s.padding = 6 * usize::from(i == 1);
            }),
            "0 1 2-3",
        ),
        (
            "fragments of VXLAN",
            tunnelled(false, outer4(), vxlan(true), |_, s| {
                outer(s).more_fragments = true;
            }),
            "0 1 2 3",
        ),
    ];
    assert_facts(
        Options {
            vxlan: true,
            ..Options::default()
        },
        facts,
    );
}

#[test]
fn vxlan_nobody_listens_to() {
    let plain = tunnelled(false, outer4(), vxlan(true), |_, _| ());
    assert_facts(Options::default(), vec![("VXLAN", plain, "0 1 2 3")]);
}

/// The only frame that comes out of a batch.
fn only(gro: &mut KernelGro, batch: &Batch) -> Delivered {
    let mut out = gro.run(&batch.frames).expect("the batch runs");
    assert_eq!(out.len(), 1, "{out:?}");
    out.remove(0)
}

/// One's complement sum of the pseudo-header of TCP over IPv4.
fn pseudo_sum(frame: &[u8]) -> u16 {
    let length = (frame.len() - 34) as u16;
    !internet_checksum(&[&frame[26..34], &[0, 6], &length.to_be_bytes()])
}

#[test]
fn headers_of_a_merged_frame() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let one = only(
        &mut gro,
        &v4(3, |i, s| {
            tcp(s).flags |= if i == 2 { flags::PSH } else { 0 }
        }),
    );
    let frame = &one.frame;
    assert_eq!(one.vnet.gso(), Gso::TcpV4);
    assert!(one.vnet.needs_checksum() && !one.vnet.ecn());
    assert_eq!(
        (one.vnet.gso_size, one.vnet.csum_start, one.vnet.csum_offset),
        (100, 34, 16)
    );
    assert_eq!(
        frame[16..20],
        [1, 96, 0, 100],
        "total length of all, ID of the first"
    );
    assert_eq!(
        internet_checksum(&[&frame[14..34]]),
        0,
        "the header checksum is right"
    );
    assert_eq!(frame[47], 0x18, "PSH of the last");
    assert_eq!(
        frame[50..52],
        pseudo_sum(frame).to_be_bytes(),
        "the checksum field has the pseudo-header"
    );
}

#[test]
fn the_hint_of_the_header_length_covers_what_is_linear() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let small = only(&mut gro, &v4(3, |_, _| ()));
    assert_eq!(small.vnet.hdr_len, 166, "a whole first segment");
}

#[test]
fn marks_of_single_frames() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let out = gro
        .run(&v4(2, |i, s| tcp(s).checksum_error = u16::from(i == 1)).frames)
        .unwrap();
    let valid: Vec<_> = out.iter().map(|one| one.vnet.data_valid()).collect();
    assert_eq!(
        valid,
        [false, true],
        "the bad one first; the other was verified"
    );
    let tagged = gro
        .run(&v4(1, |_, s| s.tags = vec![(0x88a8, 5)]).frames)
        .unwrap();
    assert_eq!(tagged[0].vnet, VnetHeader::default(), "not looked into");
}

#[test]
fn headers_inside_of_a_tunnel() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let one = only(
        &mut gro,
        &tunnelled(false, outer4(), Encapsulation::Ip, |_, _| ()),
    );
    assert_eq!((one.vnet.gso(), one.vnet.csum_start), (Gso::TcpV4, 54));
    assert_eq!(
        one.frame[16..18],
        (20 + 20 + 32 + 400u16).to_be_bytes(),
        "outer total length"
    );
    assert_eq!(
        one.frame[36..38],
        (20 + 32 + 400u16).to_be_bytes(),
        "inner total length"
    );
}

#[test]
fn cwr_of_the_held_frame() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let ece = only(&mut gro, &v4(3, |_, s| tcp(s).flags |= flags::ECE));
    assert!(!ece.vnet.ecn(), "ECE alone is no ECN segmentation");
    let out = gro
        .run(
            &v4(3, |i, s| {
                tcp(s).flags |= if i == 0 { flags::CWR } else { 0 }
            })
            .frames,
        )
        .unwrap();
    assert!(
        out.iter().all(|one| !one.vnet.ecn()),
        "CWR never heads a merged frame here"
    );
}

#[test]
fn odd_ethertypes_keep_their_place() {
    let Some(mut gro) = kernel(Options::default()) else {
        return;
    };
    let mut frames = v4(1, |_, s| tcp(s).flags = flags::ACK | flags::PSH).frames;
    let unknown = [&frames[0][..12], &[0x88, 0xb5], &[7; 60]].concat();
    frames.insert(0, unknown.clone());
    frames.push(unknown);
    let out = gro.run(&frames).unwrap();
    assert!(out.iter().map(|one| &one.frame).eq(&frames));
}

#[test]
fn chained_instead_of_merged() {
    let facts = vec![
        ("TCP", v4(4, |_, _| ()), "0-3"),
        (
            "TCP, a flag of one differs",
            v4(4, |i, s| {
                tcp(s).flags |= if i == 1 { flags::PSH } else { 0 }
            }),
            "0 1 2-3",
        ),
        ("UDP", udp4(4, |_, _| ()), "0-3"),
        (
            "UDP, no checksum on all",
            udp4(4, |_, s| udp_header(s).no_checksum = true),
            "0 1 2 3",
        ),
        (
            "64 of UDP",
            udp4(64, |_, s| s.payload = vec![0; 10]),
            "0-63",
        ),
        ("64 of TCP", v4(64, |_, s| s.payload = vec![0; 10]), "0-63"),
    ];
    assert_facts(
        Options {
            fraglist: true,
            ..Options::default()
        },
        facts,
    );
}
