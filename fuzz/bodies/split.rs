//! Any bytes as a merged frame, cut as any description of it says: all payload comes out in order,
//! in segments that are frames.
//!
//! Six bytes say how (kind and link, segment size, identifications and checksums, chunk); the rest
//! is the frame.

use std::num::NonZeroU16;

use coalescope_wire::walk;
use gro::{
    Gso, GsoKind, IdRun, LinkType, MAX_SEGMENT_HEADER, Profile, SegmentChecksum, SplitSettings,
    Splitter, could_have_built_on,
};

pub(super) fn run(data: &[u8]) {
    let [kind, low, high, bits, chunk, _, frame @ ..] = data else {
        return;
    };
    let segment_size = u16::from_le_bytes([*low, *high]);
    let settings = SplitSettings {
        link: match kind >> 4 & 3 {
            0 | 1 => LinkType::Ethernet,
            2 => LinkType::Raw,
            _ => LinkType::LinuxSll,
        },
        checksum: match bits & 4 {
            0 => SegmentChecksum::Complete,
            _ => SegmentChecksum::PseudoHeader,
        },
        chunk: NonZeroU16::new((*chunk).into()),
        ..SplitSettings::default()
    };
    for profile in [Profile::linux_gro_udp(), Profile::freebsd_lro()] {
        let _ = could_have_built_on(settings.link, frame, Some(segment_size), &profile);
    }
    check(frame, gso(*kind, *bits, segment_size), settings);
}

fn gso(kind: u8, bits: u8, segment_size: u16) -> Gso {
    let run = |fixed: bool| match fixed {
        true => IdRun::Fixed,
        false => IdRun::Increasing,
    };
    Gso {
        kind: match kind & 3 {
            0 => GsoKind::TcpV4,
            1 => GsoKind::TcpV6,
            _ => GsoKind::Udp,
        },
        segment_size,
        segments: 0,
        outer_id: run(bits & 1 != 0),
        id: run(bits & 2 != 0),
        accurate_ecn: bits & 8 != 0,
    }
}

fn check(frame: &[u8], gso: Gso, settings: SplitSettings) {
    let Ok(mut splitter) = Splitter::new(frame, gso, settings) else {
        return;
    };
    let mut payload: Vec<u8> = Vec::new();
    let mut left = splitter.remaining();
    while let Some(segment) = splitter.next_segment() {
        payload.extend(segment.payload);
        assert!(segment.header().len() <= MAX_SEGMENT_HEADER);
        let most = usize::from(gso.segment_size) * usize::from(segment.segments());
        assert!(segment.payload.len() <= most);
        left -= usize::from(segment.segments());
        let mut bytes = Vec::new();
        segment.copy_to(&mut bytes);
        assert_eq!(bytes.len(), segment.frame_len());
        // What a datagram carries may look like a tunnel, and be none.
        if settings.chunk.is_none() && gso.kind != GsoKind::Udp {
            assert!(walk(settings.link, &bytes, bytes.len() as u32).is_ok());
        }
    }
    assert_eq!(left, 0);
    // Padding may follow the payload in the frame.
    let whole = frame
        .windows(payload.len().max(1))
        .any(|window| window == payload);
    assert!(payload.is_empty() || whole);
}
