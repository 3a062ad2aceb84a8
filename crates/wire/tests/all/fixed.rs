//! The reading at fixed places says what the general walk says, wherever it says anything.

use coalescope_wire::{ConstantFields, FixedTcp, Flags, LinkType, Transport, fixed_tcp, walk};
use proptest::collection::vec;
use proptest::prelude::*;

/// Ethernet, IPv4, TCP with timestamps, and twenty bytes of payload.
fn stamped() -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0, 0, 72, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0]);
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x1f, 0x90, 0xc0, 0x01]);
    frame.extend([
        1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0x18, 0x12, 0x34, 0xab, 0xcd, 0, 0,
    ]);
    frame.extend([1, 1, 8, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    frame.extend([0x55; 20]);
    frame
}

/// The same with some SACK blocks, and no payload.
fn sacked(blocks: u8) -> Vec<u8> {
    let mut frame = stamped()[..66].to_vec();
    let option = 4 + 8 * blocks;
    frame[17] = 52 + option;
    frame[46] = (52 - 20 + option) << 2;
    frame.extend([1, 1, 5, option - 2]);
    frame.extend(1..=8 * blocks);
    frame
}

fn compare(frame: &[u8]) -> bool {
    let Some(fixed) = fixed_tcp(frame) else {
        return false;
    };
    let packet = walk(LinkType::Ethernet, frame, frame.len() as u32).expect("it was read");
    let Transport::Tcp(tcp) = packet.transport else {
        unreachable!("no TCP: {packet:?}");
    };
    let number = |a: [u8; 16]| u64::from(u32::from_be_bytes([a[0], a[1], a[2], a[3]]));
    let addresses = number(packet.ip.source.0) << 32 | number(packet.ip.destination.0);
    let ports = u32::from(tcp.source_port) << 16 | u32::from(tcp.destination_port);
    assert_eq!((fixed.addresses(), fixed.ports()), (addresses, ports));
    let numbers = (fixed.id(), fixed.seq(), fixed.ack());
    assert_eq!(fixed.ttl(), packet.ip.ttl);
    assert_eq!(numbers, (packet.ip.id, tcp.seq, tcp.ack));
    assert_eq!((fixed.flags(), fixed.window()), (tcp.flags, tcp.window));
    let lengths = (fixed.header_len(), fixed.payload_len());
    assert_eq!(lengths, (tcp.header_len, tcp.payload_len));
    assert_eq!(fixed.checksum(), tcp.checksum);
    let options = fixed.options();
    assert_eq!(options, tcp.options(frame));
    let expected = (options.timestamps, options.sack_count > 0);
    assert_eq!((fixed.timestamps(), fixed.has_sack()), expected);
    let after = tcp.offset + usize::from(tcp.header_len);
    assert_eq!(fixed.after_headers(), &frame[after..]);
    true
}

#[test]
fn the_commonest_frames_are_read() {
    let mut frame = stamped();
    assert!(compare(&frame));
    let fixed = fixed_tcp(&frame).unwrap();
    assert_eq!(
        (fixed.payload_len(), fixed.flags()),
        (20, Flags(Flags::ACK | Flags::PSH))
    );
    frame[46] = 0x50;
    assert!(compare(&frame));
    assert!(compare(&frame[..54]));
}

#[test]
fn sack_is_read_as_by_the_walk() {
    for blocks in 1..=3 {
        let frame = sacked(blocks);
        assert!(compare(&frame), "{blocks}");
        assert!(fixed_tcp(&frame).unwrap().has_sack());
        assert!(fixed_tcp(&frame[..frame.len() - 1]).is_none());
        for (at, value) in [(66, 0), (68, 4), (69, 11), (46, 0xc0)] {
            let mut other = frame.clone();
            other[at] = value;
            assert!(fixed_tcp(&other).is_none(), "byte {at} is {value:#x}");
        }
    }
}

#[test]
fn what_is_unusual_is_left_to_the_walk() {
    let changes = [
        (12, 0x86),
        (14, 0x46),
        (20, 0x20),
        (21, 1),
        (23, 17),
        (46, 0x60),
        (54, 0),
        (17, 51),
    ];
    for (at, value) in changes {
        let mut frame = stamped();
        frame[at] = value;
        assert!(fixed_tcp(&frame).is_none(), "byte {at} is {value:#x}");
    }
    assert!(fixed_tcp(&stamped()[..65]).is_none());
}

/// All that a view says.
fn fields(fixed: &FixedTcp<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
    let numbers = (fixed.id(), fixed.ttl(), fixed.seq(), fixed.ack());
    let rest = (
        fixed.flags(),
        fixed.window(),
        fixed.checksum(),
        fixed.options(),
    );
    let lengths = (fixed.header_len(), fixed.payload_len());
    let after = fixed.after_headers().to_vec();
    (
        fixed.addresses(),
        fixed.ports(),
        numbers,
        rest,
        lengths,
        after,
    )
}

/// The other direction, with another TTL.
fn answer() -> Vec<u8> {
    let mut frame = stamped();
    let (source, destination) = (frame[26..30].to_vec(), frame[30..34].to_vec());
    frame[26..34].copy_from_slice(&[destination, source].concat());
    let ports = frame[34..38].to_vec();
    frame[34..38].copy_from_slice(&[&ports[2..], &ports[..2]].concat());
    frame[22] = 57;
    frame
}

#[test]
fn frames_of_both_directions_are_known_by_one_of_them() {
    let first = stamped();
    let these = ConstantFields::of(&fixed_tcp(&first).unwrap()).unwrap();
    let both = [these, these.answered()];
    for (frame, is_of_these) in [(stamped(), true), (answer(), false)] {
        let (view, is_first) = ConstantFields::view(&both, &frame).unwrap();
        assert_eq!(is_first, is_of_these);
        assert_eq!(fields(&view), fields(&fixed_tcp(&frame).unwrap()));
    }
    let mut syn = stamped();
    syn[47] |= Flags::SYN as u8;
    assert!(ConstantFields::of(&fixed_tcp(&syn).unwrap()).is_none());
    assert!(ConstantFields::view(&both, &syn).is_none());
    assert!(ConstantFields::of(&fixed_tcp(&sacked(1)).unwrap()).is_none());
    assert!(ConstantFields::view(&both, &stamped()[..65]).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn it_agrees_with_the_walk(
        blocks in 0..=3u8,
        changes in vec((0..100usize, any::<u8>()), 0..4),
        cut in 40..=100usize,
    ) {
        let mut frame = if blocks == 0 { stamped() } else { sacked(blocks) };
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        compare(&frame[..cut.min(frame.len())]);
    }

    /// What is taken for a frame like another is what it would be by itself.
    #[test]
    fn constant_fields_are_enough(
        changes in vec((0..86_usize, any::<u8>()), 0..3),
        length in 0..87_usize,
        is_answer in any::<bool>(),
    ) {
        let first = stamped();
        let these = ConstantFields::of(&fixed_tcp(&first).unwrap()).unwrap();
        let mut frame = if is_answer { answer() } else { stamped() };
        frame.truncate(length.max(60));
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let both = [these, these.answered()];
        let alone = fixed_tcp(&frame);
        if let Some((view, is_of_these)) = ConstantFields::view(&both, &frame) {
            let alone = alone.unwrap();
            prop_assert_eq!(fields(&view), fields(&alone));
            let fields = if is_of_these { stamped() } else { answer() };
            let ends = fixed_tcp(&fields).unwrap();
            let ends = (ends.addresses(), ends.ports());
            prop_assert_eq!((alone.addresses(), alone.ports()), ends);
        }
    }
}
