//! The walk on any bytes: no panic, and no offset that a caller could trip over.
//!
//! The first byte chooses the link type, the second how much the snap length cut off; the rest
//! is the frame.
#![no_main]

use coalescope_wire::checksum::tcp_checksum_state;
use coalescope_wire::{LinkType, Packet, TcpOptions, Transport, walk, walk_quoted};
use libfuzzer_sys::fuzz_target;

/// Every link type of the registry that the walk knows, and one that it does not.
const LINKS: [u16; 12] = [1, 0, 9, 50, 51, 101, 108, 113, 228, 229, 276, 127];

fuzz_target!(|data: &[u8]| {
    let [link, cut, frame @ ..] = data else {
        return;
    };
    let link = LinkType::from_dlt(LINKS[usize::from(*link) % LINKS.len()]);
    // Up to 65,280 bytes: lengths of 16 bits must be able to run over.
    let wire_len = frame.len() as u32 + u32::from(*cut) * 256;

    let _ = walk_quoted(frame);
    let _ = TcpOptions::parse(frame, usize::from(*cut));
    if let Ok(packet) = walk(link, frame, wire_len) {
        check(frame, &packet);
    }
});

fn check(frame: &[u8], packet: &Packet) {
    assert!(packet.ip.offset < packet.ip.payload_offset);
    assert!(packet.ip.payload_offset <= frame.len());
    let _ = tcp_checksum_state(frame, packet);
    match packet.transport {
        Transport::Tcp(tcp) => {
            assert!(tcp.offset + 20 <= frame.len());
            assert!((20..=60).contains(&tcp.header_len));
            assert_eq!(
                tcp.payload_len + u32::from(tcp.header_len),
                packet.ip.payload_len
            );
            let _ = tcp.options(frame);
        }
        Transport::Udp(udp) => {
            assert!(udp.offset + 8 <= frame.len());
            assert!(udp.payload_len + 8 <= packet.ip.payload_len);
        }
        Transport::TooBig(error) => {
            let _ = walk_quoted(&frame[error.quoted_offset..]);
        }
        Transport::LaterFragment | Transport::Other => {}
    }
}
