//! The walk on any bytes: no panic, and no offset that a caller could trip over.
//!
//! The first byte chooses the link type, the second how much the snap length cut off; the rest
//! is the frame.

#[path = "../../crates/wire/tests/all/any_bytes.rs"]
mod any_bytes;

use any_bytes::{LINKS, check};
use coalescope_wire::{LinkType, TcpOptions, walk, walk_quoted};

pub(super) fn run(data: &[u8]) {
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
}
