//! Captures of all formats, built by hand, sound and damaged.

use coalescope_capture::file::{Direction, OpenError, Source, WarningKind};
use coalescope_wire::LinkType;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{Cursor, Read, Write};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    Little,
    Big,
}
use Order::{Big, Little};

impl Order {
    fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Little => value.to_le_bytes(),
            Big => value.to_be_bytes(),
        }
    }
    fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Little => value.to_le_bytes(),
            Big => value.to_be_bytes(),
        }
    }
    fn u32s(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.u32(value)).collect()
    }
    fn i64(self, value: i64) -> [u8; 8] {
        match self {
            Little => value.to_le_bytes(),
            Big => value.to_be_bytes(),
        }
    }
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

fn pcap_header(order: Order, magic: u32, link: u32) -> Vec<u8> {
    let version = [order.u16(2), order.u16(4)].concat();
    let rest = order.u32s(&[0, 0, 65_535, link]);
    [order.u32(magic).to_vec(), version, rest].concat()
}

fn record(order: Order, sec: u32, part: u32, data: &[u8], original: u32) -> Vec<u8> {
    let head = order.u32s(&[sec, part, data.len() as u32, original]);
    [head, data.to_vec()].concat()
}

fn small_pcap(order: Order, magic: u32) -> Vec<u8> {
    [
        pcap_header(order, magic, 1),
        record(order, 1, 2, b"first", 5),
        record(order, 3, 4, b"", 0),
        record(order, 5, 6, b"third", 1_500),
    ]
    .concat()
}

fn padded(data: &[u8]) -> Vec<u8> {
    let mut all = data.to_vec();
    all.resize(data.len().next_multiple_of(4), 0);
    all
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let body = padded(body);
    let length = body.len() as u32 + 12;
    let head = order.u32s(&[kind, length]);
    [head, body, order.u32(length).to_vec()].concat()
}

fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let len = order.u16(value.len() as u16);
    [order.u16(code).to_vec(), len.to_vec(), padded(value)].concat()
}

fn section(order: Order) -> Vec<u8> {
    let version = [order.u16(1), order.u16(0)].concat();
    let mark = order.u32(0x1a2b_3c4d).to_vec();
    let body = [mark, version, order.i64(-1).to_vec()].concat();
    block(order, 0x0a0d_0d0a, &body)
}

fn interface(order: Order, link: u16, snap_len: u32, options: &[Vec<u8>]) -> Vec<u8> {
    let fixed = [order.u16(link), order.u16(0)].concat();
    let snap_len = order.u32(snap_len).to_vec();
    block(order, 1, &[fixed, snap_len, options.concat()].concat())
}

fn packet(
    order: Order,
    id: u32,
    time: u64,
    data: &[u8],
    original: u32,
    options: &[Vec<u8>],
) -> Vec<u8> {
    let (high, low) = ((time >> 32) as u32, time as u32);
    let head = order.u32s(&[id, high, low, data.len() as u32, original]);
    block(order, 6, &[head, padded(data), options.concat()].concat())
}

/// A packet of interface 0 at time 0.
fn plain_packet(order: Order, data: &[u8]) -> Vec<u8> {
    packet(order, 0, 0, data, data.len() as u32, &[])
}

fn small_pcapng(order: Order) -> Vec<u8> {
    let named = [option(order, 2, b"eth0"), option(order, 0, b"")];
    let inbound = [option(order, 2, &order.u32(1))];
    [
        section(order),
        interface(order, 1, 0, &named),
        packet(order, 0, 1_000_002, b"first", 5, &[]),
        block(order, 5, &[0; 12]),
        packet(order, 0, 3_000_004, b"", 0, &inbound),
        block(order, 4, &[0; 4]),
        packet(order, 0, 5_000_006, b"third", 1_500, &[]),
    ]
    .concat()
}

/// A section with one Ethernet interface.
fn start(order: Order) -> Vec<u8> {
    [section(order), interface(order, 1, 0, &[])].concat()
}

/// What a frame held, without the borrow.
#[derive(Debug, PartialEq, Clone)]
struct Seen {
    number: u64,
    time_ns: i64,
    interface: u32,
    link: LinkType,
    original_len: u32,
    data: Vec<u8>,
    direction: Direction,
}

fn open(bytes: &[u8]) -> Result<Source, OpenError> {
    let size = Some(bytes.len() as u64);
    Source::from_reader("test", Box::new(Cursor::new(bytes.to_vec())), size)
}

fn drain(source: &mut Source) -> Vec<Seen> {
    let mut all = Vec::new();
    while let Some(frame) = source.next() {
        all.push(Seen {
            number: frame.number,
            time_ns: frame.time_ns,
            interface: frame.interface,
            link: frame.link,
            original_len: frame.original_len,
            data: frame.data.to_vec(),
            direction: frame.direction,
        });
    }
    assert!(source.next().is_none(), "the end is the end");
    all
}

fn read(bytes: &[u8]) -> (Vec<Seen>, Source) {
    let mut source = open(bytes).expect("a capture");
    let frames = drain(&mut source);
    (frames, source)
}

fn kinds(source: &Source) -> Vec<&WarningKind> {
    let warnings = source.warnings().iter();
    warnings.map(|warning| &warning.kind).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn assert_small(frames: &[Seen], unit: i64) {
    let all = frames.iter();
    let seen: Vec<_> = all
        .map(|f| (f.number, &f.data[..], f.original_len))
        .collect();
    assert_eq!(
        seen,
        [(1, &b"first"[..], 5), (2, b"", 0), (3, b"third", 1_500)]
    );
    let times: Vec<_> = frames.iter().map(|f| f.time_ns).collect();
    let second = 1_000_000_000;
    assert_eq!(
        times,
        [
            second + 2 * unit,
            3 * second + 4 * unit,
            5 * second + 6 * unit
        ]
    );
    assert!(frames.iter().all(|f| f.link == LinkType::Ethernet));
    assert!(frames.iter().all(|f| f.interface == 0));
}

#[test]
fn pcap_in_both_orders_and_units() {
    for order in [Little, Big] {
        for (magic, unit) in [(MICRO, 1_000), (NANO, 1)] {
            let bytes = small_pcap(order, magic);
            let (frames, source) = read(&bytes);
            assert_small(&frames, unit);
            assert!(source.warnings().is_empty());
            assert_eq!(source.unreadable_bytes(), 0);
            assert_eq!(source.consumed_bytes(), bytes.len() as u64);
            assert_eq!(source.interfaces()[0].snap_len, 65_535);
        }
    }
}

#[test]
fn pcap_of_the_modified_libpcap() {
    let mut bytes = pcap_header(Little, 0xa1b2_cd34, 1);
    bytes.extend(Little.u32s(&[1, 2, 3, 3, 7, 0x0800_0000]));
    bytes.extend(b"abc");
    let (frames, source) = read(&bytes);
    assert_eq!(frames[0].data, b"abc");
    assert!(source.warnings().is_empty());
}

#[test]
fn link_types_leave_out_the_bits_above() {
    let (_, source) = read(&pcap_header(Big, MICRO, 0x5400_0071));
    assert_eq!(source.interfaces()[0].link, LinkType::LinuxSll);
    assert_eq!(source.interfaces()[0].link_number, 113);
}

#[test]
fn pcapng_in_both_orders() {
    for order in [Little, Big] {
        let (frames, source) = read(&small_pcapng(order));
        assert_small(&frames, 1_000);
        let ways: Vec<_> = frames.iter().map(|f| f.direction).collect();
        let (unknown, inbound) = (Direction::Unknown, Direction::Inbound);
        assert_eq!(ways, [unknown, inbound, unknown]);
        assert_eq!(source.interfaces()[0].name.as_deref(), Some("eth0"));
        assert!(source.warnings().is_empty());
    }
}

#[test]
fn sections_have_their_own_order_and_interfaces() {
    let bytes = [
        small_pcapng(Big),
        small_pcapng(Little),
        section(Big),
        interface(Big, 113, 0, &[]),
        interface(Big, 276, 0, &[]),
        packet(Big, 1, 0, b"x", 1, &[]),
        packet(Big, 0, 0, b"x", 1, &[]),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    let seen: Vec<_> = frames.iter().map(|f| f.interface).collect();
    assert_eq!(seen, [0, 0, 0, 1, 1, 1, 3, 2]);
    assert_eq!(frames[7].number, 8);
    assert_eq!(frames[6].link, LinkType::LinuxSll2);
    let sections: Vec<_> = source.interfaces().iter().map(|i| i.section).collect();
    assert_eq!(sections, [0, 1, 2, 2]);
}

#[test]
fn times_by_resolution_and_offset() {
    let cases: [(u8, u64, i64, i64); 6] = [
        (6, 1_500_000, 0, 1_500_000_000),
        (9, 1_500_000_000, 0, 1_500_000_000),
        (3, 1_500, 0, 1_500_000_000),
        (0x80 | 20, 3 << 19, 0, 1_500_000_000),
        (9, 5_000_000_007, -2, 3_000_000_007),
        (9, 1 << 40, 100, (1 << 40) + 100_000_000_000),
    ];
    for order in [Little, Big] {
        for (resolution, ticks, offset, expected) in cases {
            let options = [
                option(order, 9, &[resolution]),
                option(order, 14, &order.i64(offset)),
            ];
            let described = interface(order, 1, 0, &options);
            let packet = packet(order, 0, ticks, b"x", 1, &[]);
            let (frames, source) = read(&[section(order), described, packet].concat());
            assert_eq!(frames[0].time_ns, expected, "{resolution} {offset}");
            assert!(source.warnings().is_empty());
        }
    }
}

#[test]
fn times_out_of_range_are_set_to_the_nearest() {
    let late = packet(Big, 0, u64::MAX, b"x", 1, &[]);
    let (frames, source) = read(&[start(Big), late].concat());
    assert_eq!(frames[0].time_ns, (1 << 62) - 1);
    assert_eq!(kinds(&source), [&WarningKind::TimeOutOfRange]);
}

#[test]
fn directions() {
    let cases = [
        (0, Direction::Unknown),
        (1, Direction::Inbound),
        (2, Direction::Outbound),
        (3, Direction::Unknown),
        (0x1fd, Direction::Inbound),
    ];
    for (flags, expected) in cases {
        let comment = option(Little, 1, b"a comment");
        let options = [comment, option(Little, 2, &Little.u32(flags))];
        let packet = packet(Little, 0, 0, b"xyz", 3, &options);
        let (frames, _) = read(&[start(Little), packet].concat());
        assert_eq!(frames[0].direction, expected, "{flags}");
    }
}

#[test]
fn simple_packets_are_cut_by_the_snap_length() {
    let simple = |original: u32, data: &[u8]| {
        let body = [&Little.u32(original)[..], data].concat();
        block(Little, 3, &body)
    };
    let bytes = [
        section(Little),
        interface(Little, 1, 6, &[]),
        interface(Little, 113, 0, &[]),
        packet(Little, 1, 9, b"timed", 5, &[]),
        simple(100, b"123456"),
        simple(5, b"12345"),
        simple(100, b"1"),
        section(Little),
        simple(1, b"1"),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    let seen: Vec<_> = frames
        .iter()
        .map(|f| (&f.data[..], f.original_len))
        .collect();
    assert_eq!(seen, [(&b"timed"[..], 5), (b"123456", 100), (b"12345", 5)]);
    assert_eq!(frames[1].link, LinkType::Ethernet);
    assert_eq!(frames[1].time_ns, 9_000);
    assert_eq!(
        kinds(&source),
        [
            &WarningKind::NoTime,
            &WarningKind::PacketBlock,
            &WarningKind::UnknownInterface { id: 0 }
        ]
    );
    assert_eq!(source.warnings()[0].count, 2);
}

#[test]
fn obsolete_packet_blocks() {
    for order in [Little, Big] {
        let ids = [order.u16(1), order.u16(9)].concat();
        let rest = order.u32s(&[0, 7, 3, 60]);
        let outbound = option(order, 2, &order.u32(2));
        let old = block(order, 2, &[ids, rest, padded(b"old"), outbound].concat());
        let raw = interface(order, 101, 0, &[]);
        let (frames, _) = read(&[start(order), raw, old].concat());
        let frame = &frames[0];
        assert_eq!((frame.interface, frame.link), (1, LinkType::Raw));
        assert_eq!((frame.time_ns, frame.original_len), (7_000, 60));
        assert_eq!(frame.data, b"old");
        assert_eq!(frame.direction, Direction::Outbound);
    }
}

#[test]
fn frames_are_numbered_as_in_wireshark() {
    let bytes = [
        start(Little),
        block(Little, 0xbad, &[0; 8]),
        block(Little, 0x4000_0bad, &[0; 8]),
        block(Little, 9, b"A=B\n"),
        block(Little, 10, &[0; 8]),
        plain_packet(Little, b"x"),
    ]
    .concat();
    assert_eq!(read(&bytes).0[0].number, 4);
}

#[test]
fn a_packet_of_no_interface_is_left_out_and_counted() {
    let lost = packet(Little, 7, 0, b"x", 1, &[]);
    let bytes = [
        start(Little),
        lost.clone(),
        lost,
        plain_packet(Little, b"y"),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    assert_eq!((frames.len(), frames[0].number), (1, 3));
    assert_eq!(source.warnings().len(), 1);
    assert_eq!(
        source.warnings()[0].to_string(),
        "a packet of interface 7 was left out, its section does not describe it (2 times, first \
         at frame 1, byte 48)"
    );
    assert_eq!(source.unreadable_bytes(), 0);
}

#[test]
fn damage_inside_a_block_leaves_out_the_block_only() {
    let lying_option = [vec![0, 2, 0, 99]];
    let mut lying = packet(Big, 0, 0, b"abcd", 4, &[]);
    lying[20..24].copy_from_slice(&Big.u32(5));
    let bytes = [
        section(Big),
        interface(Big, 1, 0, &lying_option),
        block(Big, 1, &[0; 4]),
        lying,
        block(Big, 6, &[0; 4]),
        packet(Big, 1, 0, b"no", 2, &[]),
        packet(Big, 0, 0, b"yes", 3, &lying_option),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].number, &frames[0].data[..]), (4, &b"yes"[..]));
    assert_eq!(
        kinds(&source),
        [
            &WarningKind::BlockOptions,
            &WarningKind::InterfaceBlock,
            &WarningKind::PacketBlock,
            &WarningKind::UnknownInterface { id: 1 }
        ]
    );
    assert_eq!(source.unreadable_bytes(), 0);
}

#[test]
fn more_captured_than_there_was() {
    let records = [record(Big, 0, 0, b"abcd", 2), record(Big, 0, 0, b"ab", 1)].concat();
    let packets = [
        packet(Big, 0, 0, b"abcd", 2, &[]),
        packet(Big, 0, 0, b"ab", 1, &[]),
    ]
    .concat();
    let files = [[pcap_header(Big, MICRO, 1), records], [start(Big), packets]];
    for bytes in files {
        let (frames, source) = read(&bytes.concat());
        assert_eq!((frames[0].original_len, frames[0].data.len()), (4, 4));
        assert_eq!(kinds(&source), [&WarningKind::CapturedOverOriginal]);
        assert_eq!(source.warnings()[0].count, 2);
    }
}

#[test]
fn an_absurd_captured_length_ends_reading() {
    let good = record(Little, 0, 0, b"good", 4);
    let header = pcap_header(Little, MICRO, 1);
    let mut bytes = [header, good.clone(), good.clone(), good].concat();
    bytes[24 + 20 + 8..24 + 20 + 12].copy_from_slice(&Little.u32(262_145));
    for size in [Some(bytes.len() as u64), None] {
        let reader = Box::new(Cursor::new(bytes.clone()));
        let mut source = Source::from_reader("t", reader, size).unwrap();
        assert_eq!(drain(&mut source).len(), 1);
        assert_eq!(source.unreadable_bytes(), 40);
        assert_eq!(
            source.warnings()[0].to_string(),
            "a record says it holds 262145 bytes, the most is 262144 (frame 2, byte 44); reading \
             ended there, 40 bytes were left out"
        );
    }
}

#[test]
fn the_longest_record_is_read() {
    let data = vec![7; 262_144];
    let bytes = [
        pcap_header(Little, MICRO, 1),
        record(Little, 0, 0, &data, 262_144),
        record(Little, 0, 0, &data, 300_000),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    assert!(frames.len() == 2 && frames.iter().all(|f| f.data == data));
    assert!(source.warnings().is_empty());
}

#[test]
fn insane_block_lengths_end_reading() {
    let good = small_pcapng(Little);
    for length in [0, 4, 8, 11, 13, 30, u32::MAX, u32::MAX - 3] {
        for kind in [6, 0x1234, 1, 0x0a0d_0d0a] {
            let mut bad = Little.u32s(&[kind, length, 0x1a2b_3c4d]);
            bad.extend([0; 100]);
            let (frames, source) = read(&[good.clone(), bad.clone()].concat());
            assert_eq!(frames.len(), 3, "{kind} {length}");
            assert_eq!(source.unreadable_bytes(), 112, "{kind} {length}");
            assert_eq!(source.warnings().len(), 1);
            assert_eq!(source.warnings()[0].offset, good.len() as u64);
        }
    }
}

#[test]
fn lengths_around_a_block_must_agree() {
    let good = small_pcapng(Big);
    for kind in [6, 0x1234] {
        let mut bad = block(Big, kind, &[0; 40]);
        bad[48..].copy_from_slice(&Big.u32(48));
        let (frames, source) = read(&[good.clone(), bad, good.clone()].concat());
        assert_eq!(frames.len(), 3);
        let left_out = 52 + good.len() as u64;
        assert_eq!(source.unreadable_bytes(), left_out);
        assert_eq!(
            kinds(&source),
            [&WarningKind::LengthsDiffer {
                leading: 52,
                trailing: 48,
                left_out
            }]
        );
    }
}

#[test]
fn a_section_header_of_no_order_or_version() {
    let mut bad = section(Little);
    bad[8] = 0;
    let (frames, source) = read(&[small_pcapng(Little), bad].concat());
    assert_eq!(frames.len(), 3);
    let left_out = 28;
    assert_eq!(kinds(&source), [&WarningKind::SectionHeader { left_out }]);
    let mut newer = small_pcapng(Big);
    newer[13] = 2;
    let (frames, source) = read(&newer);
    assert_eq!(frames.len(), 3);
    let major = 2;
    assert_eq!(kinds(&source), [&WarningKind::SectionVersion { major }]);
}

#[test]
fn large_blocks_are_passed_over() {
    let body = vec![0; 17 << 20];
    let bytes = [
        small_pcapng(Little),
        block(Little, 0x1234, &body),
        block(Little, 6, &body),
        plain_packet(Little, &vec![1; 1 << 20]),
    ]
    .concat();
    let (frames, source) = read(&bytes);
    assert_eq!((frames.len(), frames[3].number), (4, 5));
    assert_eq!(frames[3].data.len(), 1 << 20);
    let length = (17 << 20) + 12;
    assert_eq!(kinds(&source), [&WarningKind::HugePacketBlock { length }]);
}

#[test]
fn more_interfaces_than_are_kept() {
    let one = interface(Little, 1, 0, &[option(Little, 2, &[b'n'; 2_000])]);
    let mut bytes = section(Little);
    for _ in 0..70_000 {
        bytes.extend(&one);
    }
    bytes.extend(packet(Little, 65_535, 0, b"in", 2, &[]));
    bytes.extend(packet(Little, 65_536, 0, b"out", 3, &[]));
    bytes.extend(section(Little));
    bytes.extend(one);
    bytes.extend(packet(Little, 0, 0, b"shared", 6, &[]));
    let (frames, source) = read(&bytes);
    let seen: Vec<_> = frames.iter().map(|f| (f.number, f.interface)).collect();
    assert_eq!(seen, [(1, 65_535), (3, 65_536)]);
    assert_eq!(source.interfaces().len(), 65_537);
    assert_eq!(source.interfaces()[65_536].name, None);
    assert_eq!(source.warnings()[0].kind, WarningKind::TooManyInterfaces);
    assert_eq!(source.warnings()[0].count, 70_001 - 65_536);
}

/// Every cut keeps the frames before it and accounts for every byte. `ends` are those of the
/// file header and of each record or block.
fn check_cuts(bytes: &[u8], first: usize, ends: &[usize]) {
    for cut in 0..bytes.len() {
        let mut source = match open(&bytes[..cut]) {
            Ok(source) => source,
            Err(error) => {
                assert!(cut < first, "{cut}: {error}");
                assert!(error.to_string().contains("test"), "{error}");
                continue;
            }
        };
        let frames = drain(&mut source).len();
        let mut whole = ends.iter().filter(|end| **end <= cut);
        assert!(frames <= whole.clone().count());
        let whole = whole.next_back().copied().unwrap_or(0);
        assert_eq!(source.unreadable_bytes(), (cut - whole) as u64, "{cut}");
        assert_eq!(source.warnings().is_empty(), cut == whole, "{cut}");
    }
}

#[test]
fn a_pcap_cut_anywhere() {
    for order in [Little, Big] {
        check_cuts(&small_pcap(order, NANO), 24, &[24, 45, 61, 82]);
    }
}

#[test]
fn a_pcapng_cut_anywhere() {
    for order in [Little, Big] {
        let bytes = small_pcapng(order);
        let mut ends = vec![0];
        while ends[ends.len() - 1] < bytes.len() {
            let at = ends[ends.len() - 1];
            let raw: [u8; 4] = bytes[at + 4..at + 8].try_into().unwrap();
            let length = match order {
                Little => u32::from_le_bytes(raw),
                Big => u32::from_be_bytes(raw),
            };
            ends.push(at + length as usize);
        }
        check_cuts(&bytes, 12, &ends[1..]);
    }
}

#[test]
fn what_is_no_capture_is_told() {
    let message = |bytes: &[u8]| open(bytes).err().unwrap().to_string();
    assert!(matches!(open(b""), Err(OpenError::Empty { .. })));
    assert!(message(b"").starts_with("test is empty: expected a capture"));
    assert!(message(b"GET / HTTP/1.1").contains("47 45 54 20 2f 20 48 54 (\"GET / HT\")"));
    assert!(message(&[0xfd, b'7', b'z', b'X', b'Z', 0]).contains("xz -dc"));
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n";
    for pointer in [&pointer[..], &gzip(pointer)] {
        assert!(message(pointer).contains("pointer of Git LFS"));
    }
    assert!(message(&gzip(b"plain text")).contains("unpacked, it begins with"));
    assert!(matches!(open(&gzip(b"")), Err(OpenError::Empty { .. })));
    let no_gzip = open(&[0x1f, 0x8b, 9, 9, 9]);
    assert!(matches!(no_gzip, Err(OpenError::Read { .. })));
    let cut = open(&pcap_header(Big, MICRO, 1)[..20]);
    assert!(matches!(cut, Err(OpenError::Cut { .. })));
    let gone = Source::open(std::path::Path::new("/no/such/file"));
    assert!(matches!(gone, Err(OpenError::Open { .. })));
    let folder = Source::open(std::path::Path::new("/"));
    assert!(matches!(folder, Err(OpenError::Read { .. })));
}

/// Gives its bytes in small pieces, with an interruption before each.
struct Pipe {
    bytes: Cursor<Vec<u8>>,
    piece: usize,
    interrupt: bool,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let count = self.piece.min(into.len());
        self.bytes.read(&mut into[..count])
    }
}

#[test]
fn pieces_of_any_size_make_the_same_frames() {
    let (pcap, pcapng) = (small_pcap(Big, MICRO), small_pcapng(Little));
    for bytes in [gzip(&pcap), zstd(&pcapng), pcap, pcapng] {
        let expected = read(&bytes).0;
        for piece in [1, 2, 3, 7, 16, 50] {
            let pipe = Pipe {
                bytes: Cursor::new(bytes.clone()),
                piece,
                interrupt: false,
            };
            let mut source = Source::from_reader("pipe", Box::new(pipe), None).unwrap();
            assert_eq!(drain(&mut source), expected);
            assert_eq!(source.size_bytes(), None);
            assert_eq!(source.consumed_bytes(), bytes.len() as u64);
            assert!(source.warnings().is_empty(), "{:?}", source.warnings());
        }
    }
}

#[test]
fn a_live_pipe_gives_what_is_complete() {
    let files = [(small_pcap(Little, MICRO), 45), (small_pcapng(Little), 108)];
    for (bytes, cut) in files {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&bytes[..cut]).unwrap();
        let mut source = Source::from_reader("pipe", Box::new(reader), None).unwrap();
        let first = source.next().map(|f| f.data.to_vec());
        assert_eq!(first, Some(b"first".to_vec()));
        writer.write_all(&bytes[cut..]).unwrap();
        drop(writer);
        assert_eq!(drain(&mut source).len(), 2);
    }
}

struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(std::io::Error::other("the disk is on fire")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_read_error_keeps_what_came_before() {
    let bytes = small_pcap(Little, MICRO);
    let cases = [(80, Some(1_000), 939), (80, None, 19), (82, None, 0)];
    for (cut, size, left_out) in cases {
        let reader = Broken(Cursor::new(bytes[..cut].to_vec()));
        let mut source = Source::from_reader("t", Box::new(reader), size).unwrap();
        assert_eq!(drain(&mut source).len(), if cut == 82 { 3 } else { 2 });
        let why = "the disk is on fire".to_owned();
        assert_eq!(kinds(&source), [&WarningKind::ReadFailed { why, left_out }]);
        assert_eq!(source.unreadable_bytes(), left_out);
    }
}

#[test]
fn packed_files_of_one_part_and_many() {
    let plain = small_pcapng(Big);
    let (one, two) = plain.split_at(77);
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let packed = [
        gzip(&plain),
        [gzip(one), gzip(b""), gzip(two)].concat(),
        zstd(&plain),
        [zstd(one), skippable, zstd(two)].concat(),
    ];
    for bytes in packed {
        let (frames, source) = read(&bytes);
        assert_small(&frames, 1_000);
        assert!(source.warnings().is_empty(), "{:?}", source.warnings());
        assert_eq!(source.consumed_bytes(), bytes.len() as u64);
        assert_eq!(source.size_bytes(), Some(bytes.len() as u64));
    }
}

/// Too large for one block of a packer, and not of one byte only.
fn long_pcap() -> Vec<u8> {
    let mut bytes = pcap_header(Little, MICRO, 1);
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 30) as u8
    };
    for number in 0..4_000 {
        let data: Vec<u8> = (0..200).map(|_| noise()).collect();
        bytes.extend(record(Little, number, 0, &data, 1_500));
    }
    bytes
}

#[test]
fn a_packed_file_cut_or_damaged_keeps_what_came_before() {
    let plain = long_pcap();
    let whole = read(&plain).0;
    for packed in [gzip(&plain), zstd(&plain)] {
        let half = packed.len() / 2;
        let (frames, source) = read(&packed[..half]);
        let count = frames.len();
        assert!(count > 1_000 && count < 3_000, "{count}");
        assert_eq!(frames, whole[..count]);
        assert!(matches!(
            kinds(&source)[..],
            [WarningKind::ReadFailed { .. }]
        ));
        let mut damaged = packed.clone();
        damaged[half..half + 40].fill(0xff);
        let (frames, source) = read(&damaged);
        assert!(frames.len() > 1_000, "{}", frames.len());
        assert_eq!(frames[..1_000], whole[..1_000]);
        assert!(!source.warnings().is_empty());
    }
}

#[test]
fn packed_bytes_behind_damage_are_counted() {
    let plain = small_pcap(Little, MICRO);
    for packed in [gzip(&plain), zstd(&plain)] {
        let (frames, source) = read(&[&packed[..], &[b'?'; 1_000]].concat());
        assert_eq!(frames.len(), 3);
        assert!(matches!(
            kinds(&source)[..],
            [WarningKind::ReadFailed { .. }]
        ));
        let left_out = source.unreadable_bytes();
        assert!((980..=1_000).contains(&left_out), "{left_out}");
        assert_eq!(source.consumed_bytes(), packed.len() as u64 + 1_000);
    }
}

#[test]
fn checksums_of_packed_files_are_compared() {
    let plain = small_pcap(Little, MICRO);
    let mut gzipped = gzip(&plain);
    let end = gzipped.len();
    gzipped[end - 8] ^= 1;
    // One raw block, the last, in a zstd frame of one segment that announces a checksum.
    let size = plain.len() as u32;
    let header = [0x28, 0xb5, 0x2f, 0xfd, 0x24, size as u8];
    let block = &(size << 3 | 1).to_le_bytes()[..3];
    let zstandard = [&header, block, &plain, b"oops"].concat();
    for packed in [gzipped, zstandard] {
        let (frames, source) = read(&packed);
        assert_eq!(frames.len(), 3);
        let text = source.warnings()[0].to_string();
        assert!(text.contains("checksum"), "{text}");
    }
}

/// What a header of a format announces.
fn beginnings() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(vec![]),
        Just(pcap_header(Little, MICRO, 1)),
        Just(pcap_header(Big, NANO, 1)),
        Just(start(Little)),
        Just(start(Big)),
        Just(vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
        Just(vec![0x28, 0xb5, 0x2f, 0xfd]),
    ]
}

fn account(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(mut source) = open(bytes) else {
        return Ok(());
    };
    let frames = drain(&mut source);
    let data: usize = frames.iter().map(|f| f.data.len()).sum();
    if !bytes.starts_with(&[0x1f]) && !bytes.starts_with(&[0x28]) {
        prop_assert!(data as u64 + source.unreadable_bytes() <= bytes.len() as u64);
    }
    prop_assert!(source.warnings().len() < 20);
    for frame in &frames {
        prop_assert!(frame.data.len() as u64 <= u64::from(frame.original_len));
        prop_assert!((frame.interface as usize) < source.interfaces().len());
    }
    prop_assert!(source.warnings().iter().all(|w| !w.to_string().is_empty()));
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        first in beginnings(),
        rest in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        account(&[first, rest].concat())?;
    }

    #[test]
    fn any_change_is_read_without_a_panic(
        big: bool,
        ng: bool,
        at: prop::sample::Index,
        value: u8,
        more in 0_usize..3,
    ) {
        let order = if big { Big } else { Little };
        let mut bytes = if ng { small_pcapng(order) } else { small_pcap(order, MICRO) };
        let index = at.index(bytes.len());
        let end = (index + more + 1).min(bytes.len());
        bytes[index..end].fill(value);
        account(&bytes)?;
        account(&gzip(&bytes))?;
    }

    #[test]
    fn any_change_of_a_packed_file_is_read_without_a_panic(
        zst: bool,
        at: prop::sample::Index,
        value: u8,
    ) {
        let plain = small_pcapng(Big);
        let mut bytes = if zst { zstd(&plain) } else { gzip(&plain) };
        let index = at.index(bytes.len());
        bytes[index] = value;
        account(&bytes)?;
    }
}
