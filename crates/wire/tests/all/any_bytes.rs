//! What holds of a walk through any bytes. The fuzz target `walk` takes this file as well.

use coalescope_wire::checksum::tcp_checksum_state;
use coalescope_wire::{Packet, Transport, walk_quoted};

/// Every link type of the registry that the walk knows, and one that it does not.
pub(crate) const LINKS: [u16; 12] = [1, 0, 9, 50, 51, 101, 108, 113, 228, 229, 276, 127];

/// No offset that a caller could trip over, and whatever a caller may ask next.
pub(crate) fn check(frame: &[u8], packet: &Packet) {
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
