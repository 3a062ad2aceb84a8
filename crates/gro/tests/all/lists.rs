//! Datagrams chained as they came (`rx-gro-list`), and one among them that Linux lets pass.

use crate::build::{Streams, udp};
use gro::{CopyingCoalescer, Profile, Settings};

const ETHERNET: usize = 14;

/// A datagram with an identification; with the reserved bit it must stay alone (`inet_gro_receive`).
fn datagram(streams: &mut Streams, id: u16, reserved_bit: bool) -> Vec<u8> {
    let mut bytes = streams.build(&udp().len(100).id(id)).bytes;
    if reserved_bit {
        bytes[ETHERNET + 6] |= 0x80;
        bytes[ETHERNET + 10..ETHERNET + 12].fill(0);
        let checksum = !crate::build::ones_sum(&bytes[ETHERNET..ETHERNET + 20]);
        bytes[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    bytes
}

/// Identification and payload bytes of what comes out.
fn run(ids: [(u16, bool); 3]) -> Vec<(u16, usize)> {
    let mut engine = CopyingCoalescer::new(&Profile::linux_gro_list(), Settings::default());
    let mut out = Vec::new();
    let mut take = gro::OutgoingBytes::each(|frame| {
        let id = u16::from_be_bytes([frame.bytes[ETHERNET + 4], frame.bytes[ETHERNET + 5]]);
        out.push((id, frame.bytes.len() - ETHERNET - 28));
    });
    let mut streams = Streams::default();
    for (id, reserved_bit) in ids {
        let bytes = datagram(&mut streams, id, reserved_bit);
        engine.push(&bytes, 0, &mut take);
    }
    engine.flush(&mut take);
    out
}

#[test]
fn what_passes_ends_no_chain() {
    assert_eq!(
        run([(7, false), (8, true), (8, false)]),
        [(8, 100), (7, 200)]
    );
}

/// Linux 6.18 decides at the second frame whether identifications are fixed, in the comparison, and keeps
/// to it though that frame then passes. Found by the differential test, seed 777007878.
#[test]
fn what_passes_settles_how_identifications_run() {
    let fixed = [(7, 100), (7, 100), (8, 100)];
    assert_eq!(run([(7, false), (7, true), (8, false)]), fixed);
    let chained = [(7, 100), (7, 200)];
    assert_eq!(run([(7, false), (7, true), (7, false)]), chained);
}
