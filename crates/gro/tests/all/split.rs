//! Splitting, against segments built anew from the same description.
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::num::NonZeroU16;

use crate::split_stack::{Layer, Step, TIMESTAMPS, build, tcp, v4, v6};
use coalescope_wire::LinkType;
use gro::{Gso, GsoKind, IdRun, SegmentChecksum, SplitError, SplitSettings, Splitter};
use proptest::collection::vec;
use proptest::prelude::*;

const FIN: u16 = 0x001;
const PSH: u16 = 0x008;
const ACK: u16 = 0x010;
const URG: u16 = 0x020;
const CWR: u16 = 0x080;

fn gso(kind: GsoKind, segment_size: u16) -> Gso {
    Gso {
        kind,
        segment_size,
        segments: 0,
        outer_id: IdRun::Increasing,
        id: IdRun::Increasing,
        accurate_ecn: false,
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251) as u8).collect()
}

fn split(frame: &[u8], gso: Gso, settings: SplitSettings) -> Result<Vec<Vec<u8>>, SplitError> {
    let mut splitter = Splitter::new(frame, gso, settings)?;
    let mut frames = Vec::new();
    let mut left = splitter.remaining();
    while let Some(segment) = splitter.next_segment() {
        let mut frame = Vec::new();
        segment.copy_to(&mut frame);
        assert_eq!(frame.len(), segment.frame_len());
        left -= usize::from(segment.segments());
        frames.push(frame);
    }
    assert_eq!((left, splitter.remaining()), (0, 0));
    assert!(splitter.next_segment().is_none());
    Ok(frames)
}

/// The segments that a stack over a payload must give.
fn expected(layers: &[Layer], payload: &[u8], gso: Gso, pseudo_only: bool) -> Vec<Vec<u8>> {
    let size = usize::from(gso.segment_size);
    let count = payload.len().div_ceil(size).max(1);
    let run = |run: IdRun, i: usize| if run == IdRun::Fixed { 0 } else { i as u16 };
    let segment = |i: usize| {
        let payload = &payload[i * size..payload.len().min((i + 1) * size)];
        let not_last = if i + 1 < count { FIN | PSH } else { 0 };
        let not_first = if i > 0 && !gso.accurate_ecn { CWR } else { 0 };
        let step = Step {
            ids: [run(gso.outer_id, i), run(gso.id, i)],
            offset: (i * size) as u32,
            clear: not_last | not_first,
            pseudo_only,
        };
        build(layers, payload, step)
    };
    (0..count).map(segment).collect()
}

#[track_caller]
fn check(layers: &[Layer], payload_len: usize, gso: Gso) {
    let payload = bytes(payload_len);
    let frame = build(layers, &payload, Step::default());
    for checksum in [SegmentChecksum::Complete, SegmentChecksum::PseudoHeader] {
        let settings = SplitSettings {
            checksum,
            ..SplitSettings::default()
        };
        let expected = expected(
            layers,
            &payload,
            gso,
            checksum == SegmentChecksum::PseudoHeader,
        );
        let got = split(&frame, gso, settings).unwrap();
        assert_eq!(got.len(), expected.len(), "{layers:?}");
        for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(got, expected, "segment {index}, {checksum:?}, {layers:?}");
        }
    }
}

/// By hand: Ethernet, IPv4 and TCP without options over "abcd", cut after "ab".
#[test]
fn two_segments_byte_by_byte() {
    let frame = [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..],
        &[
            0x45, 0, 0, 44, 0xff, 0xff, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ],
        &[
            0, 80, 0x10, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0x50, 0x19, 1, 0, 0, 0, 0, 0,
        ],
        b"abcd",
    ]
    .concat();
    let got = split(&frame, gso(GsoKind::TcpV4, 2), SplitSettings::default()).unwrap();
    let first = [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..],
        // 42 bytes; 0x4500 + 42 + 0xffff + 0x4000 + 0x4006 + 0x0a00 + 1 + 0x0a00 + 2 = 0x1d934
        &[
            0x45, 0, 0, 42, 0xff, 0xff, 0x40, 0, 64, 6, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2,
        ],
        // FIN and PSH wait for the last. Pseudo-header 0x141f, header 0x6161, payload 0x6162.
        &[
            0, 80, 0x10, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0x29, 0x1d, 0, 0,
        ],
        b"ab",
    ]
    .concat();
    let second = [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..],
        // The identification wraps.
        &[
            0x45, 0, 0, 42, 0, 0, 0x40, 0, 64, 6, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2,
        ],
        // So does the sequence number. 0x141f, 0x616b, 0x6364.
        &[
            0, 80, 0x10, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x19, 1, 0, 0x27, 0x11, 0, 0,
        ],
        b"cd",
    ]
    .concat();
    assert_eq!(got, [first, second]);
}

#[test]
fn tcp_over_both_ip_versions() {
    for len in [0, 1, 99, 100, 101, 200, 250, 1000] {
        check(
            &[Layer::Ethernet, v4(7), tcp(1, ACK)],
            len,
            gso(GsoKind::TcpV4, 100),
        );
        check(
            &[Layer::Ethernet, v6(), tcp(1, ACK)],
            len,
            gso(GsoKind::TcpV6, 100),
        );
    }
}

#[test]
fn fin_and_psh_close_the_last_and_cwr_opens_the_first() {
    let layers = [
        Layer::Ethernet,
        v4(7),
        tcp(u32::MAX - 50, ACK | FIN | PSH | CWR | URG),
    ];
    check(&layers, 250, gso(GsoKind::TcpV4, 100));
    let accurate_ecn = Gso {
        accurate_ecn: true,
        ..gso(GsoKind::TcpV4, 100)
    };
    check(&layers, 250, accurate_ecn);
    let payload = bytes(250);
    let got = split(
        &build(&layers, &payload, Step::default()),
        accurate_ecn,
        SplitSettings::default(),
    );
    let flags: Vec<u8> = got.unwrap().iter().map(|frame| frame[47]).collect();
    assert_eq!(flags, [0xb0, 0xb0, 0xb9]);
}

#[test]
fn udp_datagrams() {
    for checksum in [true, false] {
        let udp = Layer::Udp { checksum };
        check(
            &[Layer::Ethernet, v4(7), udp.clone()],
            1201,
            gso(GsoKind::Udp, 400),
        );
        check(&[Layer::Ethernet, v6(), udp], 1201, gso(GsoKind::Udp, 400));
    }
}

#[test]
fn tags_sessions_labels_options_and_extensions() {
    let kind = gso(GsoKind::TcpV4, 100);
    check(
        &[Layer::Ethernet, Layer::Vlan(5), v4(7), tcp(1, ACK)],
        300,
        kind,
    );
    check(
        &[
            Layer::Ethernet,
            Layer::Vlan(5),
            Layer::Vlan(6),
            v4(7),
            tcp(1, ACK),
        ],
        300,
        kind,
    );
    check(
        &[Layer::Ethernet, Layer::Pppoe(9), v4(7), tcp(1, ACK)],
        350,
        kind,
    );
    check(
        &[Layer::Ethernet, Layer::Mpls(16), v4(7), tcp(1, ACK)],
        350,
        kind,
    );
    let options = Layer::Ipv4 {
        id: 1,
        dont_fragment: false,
        options: 8,
    };
    check(&[Layer::Ethernet, options, tcp(1, ACK)], 350, kind);
    let extended = Layer::Ipv6 {
        destination_options: true,
    };
    check(
        &[Layer::Ethernet, extended, tcp(1, ACK)],
        350,
        gso(GsoKind::TcpV6, 100),
    );
}

/// All tunnels, each over and under both IP versions, identifications running as they may.
#[test]
fn tunnels() {
    let between: [Vec<Layer>; 9] = [
        vec![],
        vec![Layer::Gre {
            key: None,
            checksum: false,
        }],
        vec![Layer::Gre {
            key: Some(4),
            checksum: true,
        }],
        vec![
            Layer::Gre {
                key: Some(4),
                checksum: true,
            },
            Layer::Ethernet,
        ],
        vec![Layer::Vxlan { checksum: false }, Layer::Ethernet],
        vec![
            Layer::Vxlan { checksum: true },
            Layer::Ethernet,
            Layer::Vlan(3),
        ],
        vec![
            Layer::Geneve {
                checksum: true,
                options: 8,
            },
            Layer::Ethernet,
        ],
        vec![Layer::Geneve {
            checksum: true,
            options: 0,
        }],
        vec![
            Layer::Vxlan { checksum: true },
            Layer::Ethernet,
            Layer::Pppoe(2),
        ],
    ];
    for between in between {
        for outer in [v4(0xfffe), v6()] {
            for (inner, kind) in [(v4(9), GsoKind::TcpV4), (v6(), GsoKind::TcpV6)] {
                let layers = [&[Layer::Ethernet, outer.clone()][..], &between, &[inner]].concat();
                tunnel(&layers, kind);
            }
        }
    }
}

fn tunnel(layers: &[Layer], kind: GsoKind) {
    for outer_id in [IdRun::Increasing, IdRun::Fixed] {
        for id in [IdRun::Increasing, IdRun::Fixed] {
            let gso = |kind| Gso {
                outer_id,
                id,
                ..gso(kind, 100)
            };
            check(&[layers, &[tcp(1, ACK | PSH)]].concat(), 1001, gso(kind));
            for checksum in [true, false] {
                check(
                    &[layers, &[Layer::Udp { checksum }]].concat(),
                    1001,
                    gso(GsoKind::Udp),
                );
            }
        }
    }
}

/// More than 65,535 bytes: IPv6 with the jumbo payload option, which goes, IPv4 with length 0.
#[test]
fn big_tcp() {
    check(
        &[Layer::Ethernet, v6(), tcp(1, ACK)],
        180_000,
        gso(GsoKind::TcpV6, 1440),
    );
    check(
        &[Layer::Ethernet, v4(9), tcp(1, ACK)],
        180_000,
        gso(GsoKind::TcpV4, 1448),
    );
}

#[test]
fn a_length_of_zero_without_the_jumbo_option_is_the_frames() {
    let layers = [Layer::Ethernet, v6(), tcp(1, ACK)];
    let payload = bytes(500);
    let mut frame = build(&layers, &payload, Step::default());
    frame[18..20].fill(0);
    let kind = gso(GsoKind::TcpV6, 100);
    let got = split(&frame, kind, SplitSettings::default()).unwrap();
    assert_eq!(got, expected(&layers, &payload, kind, false));
}

#[test]
fn the_stored_checksums_do_not_matter() {
    let layers = [Layer::Ethernet, v4(7), tcp(1, ACK)];
    let payload = bytes(300);
    let mut frame = build(&layers, &payload, Step::default());
    frame[24..26].fill(0x55);
    frame[50..52].fill(0xaa);
    let kind = gso(GsoKind::TcpV4, 100);
    let got = split(&frame, kind, SplitSettings::default()).unwrap();
    assert_eq!(got, expected(&layers, &payload, kind, false));
}

#[test]
fn ethernet_padding_is_left_out() {
    let layers = [Layer::Ethernet, v4(7), tcp(1, ACK)];
    let payload = bytes(3);
    let mut frame = build(&layers, &payload, Step::default());
    frame.resize(frame.len() + 9, 0xee);
    let kind = gso(GsoKind::TcpV4, 2);
    let got = split(&frame, kind, SplitSettings::default()).unwrap();
    assert_eq!(got, expected(&layers, &payload, kind, false));
}

/// wireguard-go's handleVirtioRead cases, as `tests/vectors.md` section 2 has them:
/// 200 bytes, segments of 100, no link header.
#[test]
fn the_four_packets_of_a_tun_device() {
    let raw = SplitSettings {
        link: LinkType::Raw,
        ..SplitSettings::default()
    };
    let plain = Layer::Tcp(crate::split_stack::Tcp {
        seq: 1,
        flags: ACK,
        options: vec![],
    });
    let udp = Layer::Udp { checksum: true };
    let cases = [
        ([v4(0), plain.clone()], GsoKind::TcpV4, 140),
        ([v6(), plain], GsoKind::TcpV6, 160),
        ([v4(0), udp.clone()], GsoKind::Udp, 128),
        ([v6(), udp], GsoKind::Udp, 148),
    ];
    for (layers, kind, len) in cases {
        let payload = bytes(200);
        let frame = build(
            &layers,
            &payload,
            Step {
                pseudo_only: true,
                ..Step::default()
            },
        );
        let got = split(&frame, gso(kind, 100), raw).unwrap();
        assert_eq!(got, expected(&layers, &payload, gso(kind, 100), false));
        assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [len, len]);
    }
}

/// What a device does with a chunk: copies the outer headers, counts identifications on, and
/// splits TCP or UDP as if there were no tunnel.
fn device(chunk: &[u8], layers: &[Layer], payload: &[u8], gso: Gso, at: usize) -> Vec<Vec<u8>> {
    let size = usize::from(gso.segment_size);
    let header = &chunk[..chunk.len() - payload.len()];
    let all = expected(layers, payload, gso, false);
    for (i, segment) in all.iter().enumerate() {
        let payload = &payload[i * size..payload.len().min((i + 1) * size)];
        // Up to the innermost transport header, and but for identifications and their checksums,
        // the chunk's header is the segment's.
        let outer = header.len() - 32;
        let same = |byte: usize| {
            let in_ip = byte.wrapping_sub(at);
            matches!(in_ip, 4 | 5 | 10 | 11) || header[byte] == segment[byte]
        };
        assert!((0..outer).all(same), "segment {i} of {layers:?}");
        assert!(segment.ends_with(payload));
    }
    all
}

#[test]
fn chunks_for_a_device_that_does_not_know_tunnels() {
    let layers = [
        Layer::Ethernet,
        v4(100),
        Layer::Vxlan { checksum: true },
        Layer::Ethernet,
        v6(),
        tcp(1, ACK | FIN | PSH | CWR),
    ];
    let payload = bytes(1050);
    let frame = build(&layers, &payload, Step::default());
    let chunk = NonZeroU16::new(4);
    let settings = SplitSettings {
        chunk,
        ..SplitSettings::default()
    };
    let gso = gso(GsoKind::TcpV6, 100);
    let got = split(&frame, gso, settings).unwrap();
    let headers = frame.len() - payload.len();
    let lens: Vec<usize> = got.iter().map(|chunk| chunk.len() - headers).collect();
    assert_eq!(lens, [400, 400, 200, 50]);
    let tcp = headers - 32;
    let mut before = 0;
    for (i, chunk) in got.iter().enumerate() {
        let len = lens[i];
        let step = Step {
            ids: [(before / 100) as u16, 0],
            offset: before as u32,
            clear: if i < 3 { FIN | PSH } else { 0 } | if i > 0 { CWR } else { 0 },
            pseudo_only: true,
        };
        // The transport header is the chunk's, all others are one segment's.
        let whole = build(&layers, &payload[before..before + len], step);
        assert_eq!(chunk[tcp..], whole[tcp..], "chunk {i}");
        let one = build(&layers, &payload[before..before + len.min(100)], step);
        assert_eq!(chunk[..tcp], one[..tcp], "chunk {i}");
        device(chunk, &layers, &payload[before..before + len], gso, 14);
        before += len;
    }
}

#[test]
fn a_udp_chunk_says_its_own_length() {
    let layers = [Layer::Ethernet, v4(1), Layer::Udp { checksum: true }];
    let payload = bytes(140_000);
    // No merged UDP frame is so long, but one with a length of 0 may come.
    let mut frame = build(&layers, &payload, Step::default());
    frame[38..40].fill(0);
    let settings = SplitSettings {
        chunk: NonZeroU16::new(u16::MAX),
        ..SplitSettings::default()
    };
    let got = split(&frame, gso(GsoKind::Udp, 1000), settings).unwrap();
    let lens: Vec<usize> = got.iter().map(|chunk| chunk.len() - 42).collect();
    assert_eq!(lens, [65_000, 65_000, 10_000]);
    assert_eq!(got[0][38..40], 65_008_u16.to_be_bytes());
    assert_eq!(got[0][16..18], 1028_u16.to_be_bytes());
}

#[track_caller]
fn refused(layers: &[Layer], kind: GsoKind, change: impl Fn(&mut Vec<u8>)) -> SplitError {
    let mut frame = build(layers, &bytes(300), Step::default());
    change(&mut frame);
    split(&frame, gso(kind, 100), SplitSettings::default()).unwrap_err()
}

#[test]
fn frames_that_cannot_be_cut_say_why() {
    use SplitError as E;
    let plain = [Layer::Ethernet, v4(1), tcp(1, ACK)];
    let refused_v4 = |change: fn(&mut Vec<u8>)| refused(&plain, GsoKind::TcpV4, change);
    assert!(matches!(refused_v4(|f| f.truncate(40)), E::Headers(_)));
    assert_eq!(
        refused_v4(|f| f.truncate(f.len() - 3)),
        E::Truncated { missing: 3 }
    );
    assert_eq!(refused_v4(|f| f[20] = 0x20), E::Fragment { offset: 14 });
    let other = refused(&plain, GsoKind::TcpV6, |_| ());
    assert_eq!(
        other,
        E::Kind {
            expected: GsoKind::TcpV6,
            offset: 14
        }
    );
    let routing = Layer::Ipv6 {
        destination_options: true,
    };
    let change = |f: &mut Vec<u8>| {
        f[20] = 43;
        f[57] = 1;
    };
    let got = refused(
        &[Layer::Ethernet, routing, tcp(1, ACK)],
        GsoKind::TcpV6,
        change,
    );
    assert_eq!(got, E::Routing { offset: 54 });
    let nested = [Layer::Ethernet, v4(1), v4(2), v4(3), tcp(1, ACK)];
    assert_eq!(
        refused(&nested, GsoKind::TcpV4, |_| ()),
        E::NestedTunnel { offset: 54 }
    );
    let gre = [
        Layer::Ethernet,
        v4(1),
        Layer::Gre {
            key: Some(1),
            checksum: false,
        },
        v4(3),
        tcp(1, ACK),
    ];
    let sequenced = |f: &mut Vec<u8>| f[34] = 0x10;
    assert_eq!(
        refused(&gre, GsoKind::TcpV4, sequenced),
        E::Gre { offset: 34 }
    );
    let long = [
        Layer::Ethernet,
        v6(),
        Layer::Geneve {
            checksum: true,
            options: 248,
        },
        v6(),
        tcp(1, ACK),
    ];
    assert!(matches!(
        refused(&long, GsoKind::TcpV6, |_| ()),
        E::HeadersTooLong { .. }
    ));
}

#[test]
fn sizes_that_no_segment_can_have() {
    let layers = [Layer::Ethernet, v4(1), tcp(1, ACK)];
    let frame = build(&layers, &bytes(100_000), Step::default());
    let got = |size| split(&frame, gso(GsoKind::TcpV4, size), SplitSettings::default());
    assert_eq!(got(0), Err(SplitError::NoSegmentSize));
    assert_eq!(got(65_500), Err(SplitError::SegmentTooLong { len: 65_552 }));
    assert_eq!(got(65_483).unwrap().len(), 2);
    for error in [got(0), got(65_500)].map(Result::unwrap_err) {
        assert!(error.to_string().contains("; give "), "{error}");
    }
}

#[test]
fn a_chunk_without_checksum_in_a_tunnel_with_one() {
    let layers = [
        Layer::Ethernet,
        v4(1),
        Layer::Vxlan { checksum: true },
        Layer::Ethernet,
        v4(2),
        Layer::Udp { checksum: false },
    ];
    let frame = build(&layers, &bytes(300), Step::default());
    let settings = SplitSettings {
        chunk: NonZeroU16::new(2),
        ..SplitSettings::default()
    };
    let got = split(&frame, gso(GsoKind::Udp, 100), settings);
    assert_eq!(got, Err(SplitError::ChunkChecksum));
}

fn any_link() -> impl Strategy<Value = Vec<Layer>> {
    prop_oneof![
        Just(vec![Layer::Ethernet]),
        any::<u16>().prop_map(|tci| vec![Layer::Ethernet, Layer::Vlan(tci)]),
        any::<u16>().prop_map(|session| vec![Layer::Ethernet, Layer::Pppoe(session)]),
    ]
}

fn any_ip() -> impl Strategy<Value = Layer> {
    prop_oneof![
        (any::<u16>(), any::<bool>(), 0..3_usize).prop_map(|(id, dont_fragment, words)| {
            Layer::Ipv4 {
                id,
                dont_fragment,
                options: words * 4,
            }
        }),
        any::<bool>().prop_map(|destination_options| Layer::Ipv6 {
            destination_options
        }),
    ]
}

fn any_tunnel() -> impl Strategy<Value = Vec<Layer>> {
    prop_oneof![
        Just(vec![]),
        any_ip().prop_map(|ip| vec![ip]),
        (any_ip(), any::<Option<u32>>(), any::<bool>())
            .prop_map(|(ip, key, checksum)| vec![ip, Layer::Gre { key, checksum }]),
        (any_ip(), any::<bool>()).prop_map(|(ip, checksum)| vec![
            ip,
            Layer::Vxlan { checksum },
            Layer::Ethernet
        ]),
        (any_ip(), any::<bool>(), 0..4_usize).prop_map(|(ip, checksum, words)| {
            vec![
                ip,
                Layer::Geneve {
                    checksum,
                    options: words * 4,
                },
                Layer::Ethernet,
            ]
        }),
    ]
}

fn any_transport() -> impl Strategy<Value = Layer> {
    prop_oneof![
        any::<bool>().prop_map(|checksum| Layer::Udp { checksum }),
        (any::<u32>(), 0..0x1000_u16, any::<bool>()).prop_map(|(seq, flags, stamped)| {
            let options = if stamped { TIMESTAMPS.to_vec() } else { vec![] };
            Layer::Tcp(crate::split_stack::Tcp {
                seq,
                flags,
                options,
            })
        }),
    ]
}

prop_compose! {
    fn any_layers()(
        link in any_link(), tunnel in any_tunnel(), ip in any_ip(), transport in any_transport()
    ) -> Vec<Layer> {
        [&link[..], &tunnel, &[ip, transport]].concat()
    }
}

fn kind_of(layers: &[Layer]) -> GsoKind {
    match (&layers[layers.len() - 2], &layers[layers.len() - 1]) {
        (_, Layer::Udp { .. }) => GsoKind::Udp,
        (Layer::Ipv4 { .. }, _) => GsoKind::TcpV4,
        _ => GsoKind::TcpV6,
    }
}

fn any_run() -> impl Strategy<Value = IdRun> {
    prop_oneof![Just(IdRun::Increasing), Just(IdRun::Fixed)]
}

proptest! {
    #[test]
    fn any_stack_gives_the_segments_it_was_made_of(
        layers in any_layers(),
        payload in vec(any::<u8>(), 0..3000),
        segment_size in 1..1500_u16,
        outer_id in any_run(),
        id in any_run(),
        accurate_ecn: bool,
        pseudo_only: bool,
    ) {
        let kind = kind_of(&layers);
        let gso = Gso { kind, segment_size, segments: 0, outer_id, id, accurate_ecn };
        let checksum = match pseudo_only {
            true => SegmentChecksum::PseudoHeader,
            false => SegmentChecksum::Complete,
        };
        let settings = SplitSettings { checksum, ..SplitSettings::default() };
        let frame = build(&layers, &payload, Step::default());
        let got = split(&frame, gso, settings).unwrap();
        prop_assert_eq!(got, expected(&layers, &payload, gso, pseudo_only));
    }

    #[test]
    fn any_change_of_a_frame_keeps_every_byte_or_is_refused(
        layers in any_layers(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        segment_size in 0..200_u16,
        chunk in 0..5_u16,
    ) {
        let mut frame = build(&layers, &bytes(500), Step::default());
        for (at, value) in changes {
            let at = at.index(frame.len());
            frame[at] = value;
        }
        frame.truncate(frame.len() - cut.index(frame.len()) / 4);
        let gso = gso(kind_of(&layers), segment_size);
        let settings = SplitSettings { chunk: NonZeroU16::new(chunk), ..SplitSettings::default() };
        if let Ok(mut splitter) = Splitter::new(&frame, gso, settings) {
            let mut payload = Vec::new();
            while let Some(segment) = splitter.next_segment() {
                payload.extend_from_slice(segment.payload);
            }
            let found = frame.windows(payload.len().max(1)).any(|window| window == payload);
            prop_assert!(payload.is_empty() || found);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in vec(any::<u8>(), 0..300),
        link in 0..300_u16,
        segment_size: u16,
        chunk: u16,
    ) {
        for kind in [GsoKind::TcpV4, GsoKind::TcpV6, GsoKind::Udp] {
            let settings = SplitSettings {
                link: LinkType::from_dlt(link),
                chunk: NonZeroU16::new(chunk),
                ..SplitSettings::default()
            };
            if let Ok(mut splitter) = Splitter::new(&bytes, gso(kind, segment_size), settings) {
                while splitter.next_segment().is_some() {}
            }
        }
    }
}
