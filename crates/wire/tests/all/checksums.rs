//! Checksums against a naive sum and against `etherparse`.

use crate::build::{IPV4, ethernet, found, ipv4, ipv4_fragment, tcp, udp};
use coalescope_wire::checksum::{
    ChecksumState, copy_and_sum, fold, pseudo_header_v4, pseudo_header_v6, sum, tcp_checksum_state,
    udp_checksum_holds, update, update32,
};
use coalescope_wire::{LinkType, walk};
use etherparse::PacketBuilder;
use proptest::collection::vec;
use proptest::prelude::*;

/// RFC 1071 section 4.1, word by word.
fn naive(bytes: &[u8]) -> u16 {
    let mut total: u32 = 0;
    for word in bytes.chunks(2) {
        total += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[test]
fn every_length_is_summed_to_its_last_byte() {
    let bytes: Vec<u8> = (0..700_u32).map(|i| (i * 151 + 7) as u8).collect();
    for len in 0..bytes.len() {
        assert_eq!(
            fold(sum(&bytes[..len])),
            naive(&bytes[..len]),
            "{len} bytes"
        );
    }
}

/// Words of all ones carry most; four megabytes fill the lanes several times.
#[test]
fn no_carry_is_lost_in_large_sums() {
    let ones = vec![0xff; (4 << 20) + 3];
    // Each word is 65,535, which is zero modulo itself; three bytes are left over.
    assert_eq!(fold(sum(&ones)), naive(&ones));
    let mixed: Vec<u8> = (0..(5 << 20) + 1_u32).map(|i| (i >> 3) as u8).collect();
    assert_eq!(fold(sum(&mixed)), naive(&mixed));
    let mut copy = vec![0; mixed.len()];
    assert_eq!(fold(copy_and_sum(&mixed, &mut copy)), naive(&mixed));
    assert!(copy == mixed);
}

#[test]
fn every_length_is_copied_to_its_last_byte_and_no_further() {
    let bytes: Vec<u8> = (0..700_u32).map(|i| (i * 151 + 7) as u8).collect();
    for len in 0..bytes.len() {
        let mut room = [0xa5; 704];
        let copy = copy_and_sum(&bytes[..len], &mut room[1..=len]);
        assert_eq!(fold(copy), naive(&bytes[..len]), "{len} bytes");
        assert_eq!(room[1..=len], bytes[..len], "{len} bytes");
        assert!(room[0] == 0xa5 && room[len + 1..].iter().all(|&byte| byte == 0xa5));
    }
}

#[test]
#[should_panic(expected = "one length")]
fn copying_into_less_room_is_refused() {
    let _ = copy_and_sum(&[1; 1500], &mut [0; 1499]);
}

#[test]
#[should_panic(expected = "one length")]
fn copying_few_bytes_into_more_room_is_refused() {
    let _ = copy_and_sum(&[1; 15], &mut [0; 16]);
}

proptest! {
    #[test]
    fn sum_equals_the_naive_one(bytes in vec(any::<u8>(), 0..2000)) {
        prop_assert_eq!(fold(sum(&bytes)), naive(&bytes));
    }

    #[test]
    fn sum_does_not_depend_on_alignment(bytes in vec(any::<u8>(), 64..2000), skip in 0_usize..64) {
        prop_assert_eq!(fold(sum(&bytes[skip..])), naive(&bytes[skip..]));
    }

    #[test]
    fn update32_equals_a_new_sum(words in vec(any::<[u8; 4]>(), 1..20), new: [u8; 4]) {
        let before = !fold(sum(&words.concat()));
        let mut changed = words.clone();
        let old = std::mem::replace(&mut changed[0], new);
        let after = !fold(sum(&changed.concat()));
        let updated = update32(before, u32::from_be_bytes(old), u32::from_be_bytes(new));
        prop_assert!(updated == after || changed.concat().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn fold_equals_the_remainder(value: u64) {
        let expected = match value % 0xffff {
            0 if value != 0 => 0xffff,
            rest => rest as u16,
        };
        prop_assert_eq!(fold(value), expected);
    }

    #[test]
    fn sums_add(left in vec(any::<[u8; 2]>(), 0..50), right in vec(any::<u8>(), 0..100)) {
        let left = left.concat();
        let whole = [&left[..], &right].concat();
        prop_assert_eq!(fold(sum(&left) + sum(&right)), fold(sum(&whole)));
    }

    #[test]
    fn update_equals_a_new_sum(mut words in vec(any::<[u8; 2]>(), 2..40), new: [u8; 2]) {
        let before = !fold(sum(&words.concat()));
        let old = std::mem::replace(&mut words[0], new);
        let after = !fold(sum(&words.concat()));
        let updated = update(before, u16::from_be_bytes(old), u16::from_be_bytes(new));
        // Equation 3 may give the other zero only where all words are zero.
        prop_assert!(updated == after || words.concat().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn pseudo_headers_equal_their_bytes(source: [u8; 16], destination: [u8; 16], len: u32) {
        let [a, b, c, d, ..] = source;
        let [e, f, g, h, ..] = destination;
        let short = len & 0xffff;
        let bytes = [&source[..4], &destination[..4], &[0, 6], &(short as u16).to_be_bytes()];
        let partial = pseudo_header_v4([a, b, c, d], [e, f, g, h], 6, short);
        prop_assert_eq!(fold(partial), naive(&bytes.concat()));
        let bytes = [&source[..], &destination, &len.to_be_bytes(), &[0, 0, 0, 6]];
        prop_assert_eq!(
            fold(pseudo_header_v6(source, destination, 6, len)),
            naive(&bytes.concat())
        );
    }

    #[test]
    fn states_of_etherparse_packets(
        six: bool,
        source: [u8; 16],
        destination: [u8; 16],
        payload in vec(any::<u8>(), 0..1000),
    ) {
        let frame = segment(six, source, destination, &payload);
        let packet = found(&frame);
        prop_assert_eq!(tcp_checksum_state(&frame, &packet), ChecksumState::Valid);

        // One sum in 65,535 is right by chance, so these only exclude what cannot be.
        let mut wrong = frame.clone();
        wrong[packet.ip.payload_offset + 4] ^= 0x10;
        prop_assert_ne!(tcp_checksum_state(&wrong, &found(&wrong)), ChecksumState::Valid);
        let partial = partial(&frame);
        prop_assert_ne!(tcp_checksum_state(&partial, &found(&partial)), ChecksumState::Wrong);
    }
}

/// Against etherparse: a datagram holds as it is, and not with a bit changed, without its last byte, or unsummed.
#[test]
fn sums_of_datagrams_hold_for_the_whole_alone() {
    for six in [false, true] {
        for length in [0, 1, 100, 8_191] {
            let frame = datagram(six, &vec![7; length]);
            let holds = |frame: &[u8]| {
                let packet = walk(LinkType::Ethernet, frame, 42 + 8_191 + 20);
                packet.is_ok_and(|packet| udp_checksum_holds(frame, &packet))
            };
            assert!(holds(&frame), "{six} {length}");
            let at = found(&frame).ip.payload_offset;
            let mut wrong = frame.clone();
            wrong[at] ^= 0x10;
            assert!(!holds(&wrong), "{six} {length}");
            assert!(!holds(&frame[..frame.len() - 1]), "{six} {length}");
            let mut unsummed = frame.clone();
            unsummed[at + 6..at + 8].fill(0);
            assert!(!holds(&unsummed), "{six} {length}");
        }
    }
    let segment = segment(false, [10; 16], [11; 16], &[7; 100]);
    assert!(!udp_checksum_holds(&segment, &found(&segment)));
}

fn datagram(six: bool, payload: &[u8]) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let builder = match six {
        true => link.ipv6([10; 16], [11; 16], 64),
        false => link.ipv4([10; 4], [11; 4], 64),
    };
    let mut frame = Vec::new();
    builder
        .udp(1_000, 2_000)
        .write(&mut frame, payload)
        .expect("it fits");
    frame
}

#[test]
fn states_of_one_segment() {
    for six in [false, true] {
        let frame = segment(six, [10; 16], [11; 16], &[7; 100]);
        let mut wrong = frame.clone();
        *wrong.last_mut().unwrap() ^= 1;
        for (frame, expected) in [
            (partial(&frame), ChecksumState::PseudoHeaderOnly),
            (wrong, ChecksumState::Wrong),
            (frame, ChecksumState::Valid),
        ] {
            assert_eq!(tcp_checksum_state(&frame, &found(&frame)), expected);
        }
    }
}

fn segment(six: bool, source: [u8; 16], destination: [u8; 16], payload: &[u8]) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([1; 6], [2; 6]);
    let ip = if six {
        link.ipv6(source, destination, 64)
    } else {
        let four = |address: [u8; 16]| [address[0], address[1], address[2], address[3]];
        link.ipv4(four(source), four(destination), 64)
    };
    let mut frame = Vec::new();
    let tcp = ip.tcp(1, 2, 3, 4);
    tcp.write(&mut frame, payload).expect("a packet that fits");
    frame
}

/// The frame as a sender's stack hands it to the card: only the pseudo-header summed.
fn partial(frame: &[u8]) -> Vec<u8> {
    let ip = found(frame).ip;
    let sums = sum(&ip.source.0) + sum(&ip.destination.0);
    let stored = fold(sums + 6 + u64::from(ip.payload_len)).to_be_bytes();
    let mut partial = frame.to_vec();
    partial[ip.payload_offset + 16..ip.payload_offset + 18].copy_from_slice(&stored);
    partial
}

#[test]
fn missing_bytes() {
    let frame = segment(false, [10; 16], [11; 16], &[7; 100]);
    let len = frame.len() as u32;
    let packet = walk(LinkType::Ethernet, &frame[..100], len).unwrap();
    let state = tcp_checksum_state(&frame[..100], &packet);
    assert_eq!(state, ChecksumState::NotCaptured);
    // What the pseudo-header's sum says does not need the payload.
    let partial = partial(&frame);
    let packet = walk(LinkType::Ethernet, &partial[..100], len).unwrap();
    let state = tcp_checksum_state(&partial[..100], &packet);
    assert_eq!(state, ChecksumState::PseudoHeaderOnly);
}

/// What Windows stores for a large send: addresses and protocol summed, but no length.
#[test]
fn partial_sum_without_length() {
    let mut frame = ethernet(IPV4, &ipv4(6, &tcp(2000)));
    frame[16..18].fill(0);
    let stored = fold(sum(&frame[26..34]) + 6).to_be_bytes();
    frame[50..52].copy_from_slice(&stored);
    let state = tcp_checksum_state(&frame, &found(&frame));
    assert_eq!(state, ChecksumState::PseudoHeaderOnly);
}

#[test]
fn what_has_no_checksum_to_judge() {
    for packet in [
        ipv4(17, &udp(53, &[0; 4])),
        ipv4_fragment(6, 0x2000, &tcp(40)),
    ] {
        let frame = ethernet(IPV4, &packet);
        let state = tcp_checksum_state(&frame, &found(&frame));
        assert_eq!(state, ChecksumState::NotCaptured);
    }
}
