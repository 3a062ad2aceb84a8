//! How a slot changes when a frame is held in it, or joins it.

use coalescope_wire::checksum::fold;

use crate::bytes::flags_at;
use crate::frame::held::{Held, NO_IPV4, Place, id_at, identifications};
use crate::frame::seen::{Layer4, Seen};
use crate::frame::sums::payload_sum;
use crate::frame::template::MAX_HEADER;
use crate::gso::IdRun;
use crate::profile::{Field, IpId, Options, Profile, PureAck, SegmentSize};
use crate::reason::Reason;
use crate::rules::join::Join;

/// The first bytes of a frame, padded with zeros.
pub(crate) fn header_of(frame: &[u8], len: usize) -> [u8; MAX_HEADER] {
    let mut header = [0; MAX_HEADER];
    let len = len.min(MAX_HEADER).min(frame.len());
    header[..len].copy_from_slice(&frame[..len]);
    header
}

/// Fills a slot with a frame that nothing has joined.
pub(crate) fn hold(held: &mut Held, seen: &Seen, header: &[u8; MAX_HEADER], frame: &[u8]) {
    held.header = *header;
    held.header_len = seen.header_len as u16;
    held.ip = seen.ip as u16;
    held.layer4 = seen.layer4_at as u16;
    held.version = seen.version;
    held.tunneled = seen.tunneled;
    held.is_tcp = matches!(seen.layer4, Layer4::Tcp(_));
    held.next = match seen.layer4 {
        Layer4::Tcp(tcp) => Place::at(tcp.seq).further(seen.payload_len),
        Layer4::Udp => Place::default(),
    };
    held.segment_size = seen.payload_len;
    held.payload_len = 0;
    held.segments = u32::from(seen.payload_len > 0);
    held.empty = 1 - held.segments;
    held.closed = None;
    held.alike_len = 0;
    held.ids = identifications(&seen.headers, frame);
    held.headers = seen.headers;
}

/// Bytes in front of the first header that is not the link's.
pub(crate) fn link_len(seen: &Seen) -> u8 {
    seen.headers
        .as_slice()
        .first()
        .map_or(0, |first| match first.kind {
            coalescope_wire::HeaderKind::Ethernet => 14,
            _ => 0,
        })
}

/// Why a frame that starts a merge is its last segment, too.
pub(crate) fn start_tail(
    profile: &Profile,
    header: &[u8; MAX_HEADER],
    seen: &Seen,
) -> Option<Reason> {
    let is_tcp = matches!(seen.layer4, Layer4::Tcp(_));
    let closes = is_tcp && flags_at(header, seen.layer4_at) & profile.tcp.closing != 0;
    closes.then_some(Reason::ClosingFlag)
}

/// Applies to the held headers what a segment changes. The payload's length is added last.
pub(crate) fn update(profile: &Profile, held: &mut Held, frame: &[u8], seen: &Seen, join: Join) {
    if join == Join::InFront {
        in_front(held, frame, seen);
    } else if join == Join::Behind {
        settle_identifications(profile, held, frame);
    }
    if let Layer4::Tcp(tcp) = seen.layer4 {
        carry(profile, held, frame, tcp.flags.0, join);
    }
    minimum(profile, held, frame);
    let largest = profile.tcp.segment_size == SegmentSize::Any || join == Join::InFront;
    if largest {
        held.segment_size = held.segment_size.max(seen.payload_len);
    }
    held.segments += u32::from(seen.payload_len > 0);
    held.payload_len += seen.payload_len;
}

/// Takes the headers of the new first segment, with the flags and other kept fields of the old ones.
fn in_front(held: &mut Held, frame: &[u8], seen: &Seen) {
    let at = usize::from(held.layer4);
    let carried = held.header[at + 13];
    let header = header_of(frame, seen.header_len);
    held.header = header;
    held.header[at + 13] |= carried;
    for ids in &mut held.ids {
        ids.first = id_at(frame, ids.ip);
    }
    if held.segments == 1 && held.segment_size < seen.payload_len {
        held.tail = Some(Reason::ShorterSegment);
    }
}

/// Settles with the second segment how identifications run.
pub(crate) fn settle_identifications(profile: &Profile, held: &mut Held, frame: &[u8]) {
    let rule = profile.ipv4.map(|rules| rules.id);
    if held.segments != 1 || !rule.is_some_and(IpId::knows_fixed) {
        return;
    }
    for ids in &mut held.ids {
        if ids.ip != NO_IPV4 && id_at(frame, ids.ip) == ids.first {
            ids.run = IdRun::Fixed;
        }
    }
}

/// Takes over flags, and the latest acknowledgment, window and timestamps.
fn carry(profile: &Profile, held: &mut Held, frame: &[u8], flags: u16, join: Join) {
    let rules = &profile.tcp;
    let at = usize::from(held.layer4);
    held.header[at + 13] |= (flags & rules.carried) as u8;
    if join == Join::InFront {
        return;
    }
    let smaller = join == Join::Absorb && keeps_window(profile, held, frame);
    if rules.window == Field::Latest && !smaller {
        copy(held, frame, at + 14, 2);
    }
    if matches!(rules.ack, Field::Latest | Field::Rising) {
        copy(held, frame, at + 8, 4);
    }
    let timestamps = usize::from(held.header_len) == at + 32;
    match rules.options {
        Options::Timestamps | Options::TimestampsOnly if timestamps => {
            copy(held, frame, at + 24, 8);
        }
        Options::TimestampsWithEcho if timestamps => copy(held, frame, at + 28, 4),
        _ => {}
    }
}

/// Whether FreeBSD keeps the held window: an acknowledgment of the same bytes with a smaller window changes nothing.
fn keeps_window(profile: &Profile, held: &Held, frame: &[u8]) -> bool {
    let at = usize::from(held.layer4);
    let bytes = |from: usize, len: usize| {
        (
            held.header.get(from..from + len),
            frame.get(from..from + len),
        )
    };
    let (old_ack, new_ack) = bytes(at + 8, 4);
    let (old_window, new_window) = bytes(at + 14, 2);
    profile.tcp.pure_ack == PureAck::Absorb && old_ack == new_ack && new_window < old_window
}

fn copy(held: &mut Held, frame: &[u8], at: usize, len: usize) {
    if let (Some(to), Some(from)) = (held.header.get_mut(at..at + len), frame.get(at..at + len)) {
        to.copy_from_slice(from);
    }
}

/// Keeps the smallest TTL or hop limit, where the profile wants it.
fn minimum(profile: &Profile, held: &mut Held, frame: &[u8]) {
    let (rule, at) = match held.version {
        4 => (profile.ipv4.map(|rules| rules.ttl), 8),
        _ => (profile.ipv6.map(|rules| rules.hop_limit), 7),
    };
    let at = usize::from(held.ip) + at;
    if rule == Some(Field::Minimum)
        && let Some(&new) = frame.get(at)
    {
        held.header[at] = held.header[at].min(new);
    }
}

/// Why the frame that has just joined is the last that may, if it is.
pub(crate) fn ends(
    profile: &Profile,
    held: &Held,
    frame: &[u8],
    seen: &Seen,
    join: Join,
) -> Option<Reason> {
    if join != Join::Behind {
        return None;
    }
    let limit = match (seen.layer4, &profile.udp) {
        (Layer4::Udp, Some(udp)) => udp.max_segments,
        _ => profile.limits.segments,
    };
    let is_tcp = held.is_tcp;
    let sized = !is_tcp || profile.tcp.segment_size == SegmentSize::AtMostFirst;
    if is_tcp && flags_at(frame, seen.layer4_at) & profile.tcp.closing != 0 {
        Some(Reason::ClosingFlag)
    } else if sized && seen.payload_len < held.segment_size {
        Some(Reason::ShorterSegment)
    } else {
        (held.segments >= u32::from(limit)).then_some(Reason::SegmentLimit)
    }
}

/// Adds the sum of a segment's payload. Behind an odd number of bytes its words are swapped.
pub(crate) fn add_sum(held: &mut Held, frame: &[u8], payload_len: u32, join: Join) {
    if payload_len == 0 {
        return;
    }
    let mut added = payload_sum(held, frame, payload_len);
    let mut sum = fold(held.sum);
    match join {
        Join::InFront if payload_len % 2 == 1 => sum = sum.swap_bytes(),
        Join::InFront => {}
        _ if held.payload_len % 2 == 1 => added = added.swap_bytes(),
        _ => {}
    }
    held.sum = u64::from(sum) + u64::from(added);
}
