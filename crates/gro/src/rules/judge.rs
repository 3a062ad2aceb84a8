//! Whether a frame joins a held one of its flow, by the rules of a profile.

use coalescope_wire::{Flags, Tcp};

use crate::bytes::flags_at;
use crate::frame::held::{Held, NO_IPV4};
use crate::frame::seen::{Layer4, Seen};
use crate::frame::template::{MAX_HEADER, Template, rule_at};
use crate::profile::{Field, Limits, Options, Order, Profile, PureAck, SegmentSize, TcpRules};
use crate::reason::Reason;
use crate::rules::identification::identifications;
use crate::rules::join::Join;

/// Decides whether and how a frame joins a held one of its flow.
///
/// # Errors
///
/// The first rule that forbids joining.
pub(crate) fn judge(
    profile: &Profile,
    template: &Template,
    held: &Held,
    seen: &Seen,
    frame: &[u8],
    header: &[u8; MAX_HEADER],
) -> Result<Join, Reason> {
    if let Some(reason) = seen.alone {
        return Err(reason);
    }
    if usize::from(held.header_len) != seen.header_len {
        return Err(Reason::HeaderLength);
    }
    if let Layer4::Tcp(tcp) = seen.layer4 {
        flags(&profile.tcp, tcp.flags.0)?;
    }
    if let Some((at, bits)) = template.difference(&held.header, header) {
        return Err(rule_at(&seen.headers, at, bits));
    }
    congestion(profile, seen, header)?;
    let join = match seen.layer4 {
        Layer4::Tcp(tcp) => tcp_joins(&profile.tcp, held, seen, &tcp, header)?,
        Layer4::Udp => udp_joins(held, seen)?,
    };
    if matches!(join, Join::Behind | Join::InFront) {
        identifications(profile, held, frame, join)?;
        size(&profile.limits, profile.list, held, seen)?;
    }
    Ok(join)
}

/// Whether a datagram that must stay alone would have been chained otherwise. In a list all
/// checksums are in the same state, and that of a datagram which will not merge was not verified:
/// only then Linux lets it pass without touching what is held (`udp_gro_receive_segment`).
pub(crate) fn would_list(
    profile: &Profile,
    template: &Template,
    held: &Held,
    seen: &Seen,
    frame: &[u8],
    header: &[u8; MAX_HEADER],
) -> bool {
    if !profile.list || matches!(seen.layer4, Layer4::Tcp(_)) {
        return false;
    }
    let mut seen = seen.clone();
    seen.alone = None;
    // The IP length may be wrong; the UDP length is that of the bytes present.
    seen.payload_len = frame.len().saturating_sub(seen.header_len) as u32;
    let mut header = *header;
    for ids in held.ids.iter().filter(|ids| ids.ip != NO_IPV4) {
        if let Some(bits) = header.get_mut(usize::from(ids.ip) + 6) {
            // The reserved bit is not compared, either.
            *bits &= 0x7f;
        }
    }
    // Linux checks the size last, when it has already decided.
    matches!(
        judge(profile, template, held, &seen, frame, &header),
        Ok(_) | Err(Reason::SizeLimit)
    )
}

fn flags(rules: &TcpRules, flags: u16) -> Result<(), Reason> {
    if flags & rules.never_join != 0 {
        return Err(Reason::FlagForbids);
    }
    if flags & rules.required != rules.required {
        return Err(Reason::FlagMissing);
    }
    Ok(())
}

/// Refuses ECN 11 in the innermost IPv4 header, if the profile does.
pub(crate) fn congestion(
    profile: &Profile,
    seen: &Seen,
    header: &[u8; MAX_HEADER],
) -> Result<(), Reason> {
    let refused = seen.version == 4
        && profile
            .ipv4
            .is_some_and(|rules| rules.refuse_congestion_experienced);
    if refused && header.get(seen.ip + 1).is_some_and(|tos| tos & 3 == 3) {
        return Err(Reason::CongestionExperienced);
    }
    Ok(())
}

/// Whether a frame is of the flow of a held one. The outer UDP headers of a tunnel must have a checksum in both or in
/// neither (Linux `udp_gro_receive`), which no mask can express.
pub(crate) fn same_flow(
    template: &Template,
    held: &[u8; MAX_HEADER],
    header: &[u8; MAX_HEADER],
    seen: &Seen,
) -> bool {
    let none = |header: &[u8; MAX_HEADER], at: usize| header.get(at + 6..at + 8) == Some(&[0; 2]);
    template.same_flow(held, header)
        && seen
            .outer_udp()
            .all(|at| none(held, at) == none(header, at))
}

fn tcp_joins(
    rules: &TcpRules,
    held: &Held,
    seen: &Seen,
    tcp: &Tcp,
    header: &[u8; MAX_HEADER],
) -> Result<Join, Reason> {
    options(rules.options, &held.header, header, seen)?;
    if seen.payload_len == 0 {
        return pure_ack(rules, held, tcp);
    }
    if rules.ack == Field::Rising && held_ack(held).wrapping_sub(tcp.ack).cast_signed() > 0 {
        return Err(Reason::AckBack);
    }
    place(rules, held, seen, tcp)
}

/// The acknowledgment number of the held headers.
fn held_ack(held: &Held) -> u32 {
    u32_at(&held.header, usize::from(held.layer4) + 8)
}

fn held_window(held: &Held) -> u32 {
    u32_at(&held.header, usize::from(held.layer4) + 12) & 0xffff
}

fn u32_at(header: &[u8; MAX_HEADER], at: usize) -> u32 {
    match header.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Checks options that were not compared byte for byte.
fn options(
    rule: Options,
    held: &[u8; MAX_HEADER],
    header: &[u8; MAX_HEADER],
    seen: &Seen,
) -> Result<(), Reason> {
    if rule == Options::Equal || seen.header_len == seen.layer4_at + 20 {
        return Ok(());
    }
    if !has_timestamps(held, seen) || !has_timestamps(header, seen) {
        return Err(Reason::Options);
    }
    let value = seen.layer4_at + 24;
    if u32_at(header, value)
        .wrapping_sub(u32_at(held, value))
        .cast_signed()
        < 0
    {
        return Err(Reason::TimestampBack);
    }
    match rule {
        Options::TimestampsWithEcho => echo(header, seen),
        _ => Ok(()),
    }
}

/// The timestamp's echo must not be zero.
fn echo(header: &[u8; MAX_HEADER], seen: &Seen) -> Result<(), Reason> {
    match u32_at(header, seen.layer4_at + 28) {
        0 => Err(Reason::NoTimestampEcho),
        _ => Ok(()),
    }
}

/// Whether the options are NOP NOP timestamps and nothing else (RFC 7323 appendix A).
pub(crate) fn has_timestamps(header: &[u8; MAX_HEADER], seen: &Seen) -> bool {
    let at = seen.layer4_at + 20;
    seen.header_len == at + 12 && header.get(at..at + 4) == Some(&[1, 1, 8, 10])
}

/// Judges a segment without payload. A duplicate ACK must not vanish, since the sender counts duplicate ACKs (RFC 5681
/// section 2).
fn pure_ack(rules: &TcpRules, held: &Held, tcp: &Tcp) -> Result<Join, Reason> {
    let ahead = tcp.ack.wrapping_sub(held_ack(held)).cast_signed();
    let same_window = held_window(held) == u32::from(tcp.window);
    let in_order = tcp.seq == held.next.seq();
    match rules.pure_ack {
        PureAck::Pass => Err(Reason::NoPayload),
        PureAck::Absorb if ahead < 0 => Ok(Join::Vanish),
        _ if !in_order => Err(gap(held, tcp.seq)),
        _ if ahead == 0 && same_window => Err(Reason::DuplicateAck),
        PureAck::AbsorbWindowUpdate if ahead != 0 => Err(Reason::NoPayload),
        PureAck::Absorb | PureAck::AbsorbWindowUpdate => Ok(Join::Absorb),
    }
}

fn gap(held: &Held, seq: u32) -> Reason {
    match seq.wrapping_sub(held.next.seq()).cast_signed() {
        1.. => Reason::SequenceGap,
        _ => Reason::SequenceBack,
    }
}

fn place(rules: &TcpRules, held: &Held, seen: &Seen, tcp: &Tcp) -> Result<Join, Reason> {
    if tcp.seq == held.next.seq() {
        return behind(rules.segment_size, held, seen.payload_len);
    }
    let ends_at = tcp.seq.wrapping_add(seen.payload_len);
    if rules.order == Order::Beside && ends_at == held.seq() {
        return in_front(rules, held, seen.payload_len, tcp.flags);
    }
    Err(gap(held, tcp.seq))
}

fn behind(rule: SegmentSize, held: &Held, payload_len: u32) -> Result<Join, Reason> {
    match held.tail {
        Some(reason) => Err(reason),
        None if rule == SegmentSize::AtMostFirst && payload_len > held.segment_size => {
            Err(Reason::LargerSegment)
        }
        None => Ok(Join::Behind),
    }
}

/// A segment that joins in front must not end a merge, since only the last one may, and only the last one may be
/// smaller.
fn in_front(rules: &TcpRules, held: &Held, payload_len: u32, flags: Flags) -> Result<Join, Reason> {
    if flags.has(rules.closing) {
        return Err(Reason::ClosingFlag);
    }
    if rules.segment_size == SegmentSize::AtMostFirst {
        if payload_len < held.segment_size {
            return Err(Reason::SmallerInFront);
        }
        if payload_len > held.segment_size && held.segments > 1 {
            return Err(Reason::LargerSegment);
        }
    }
    Ok(Join::InFront)
}

fn udp_joins(held: &Held, seen: &Seen) -> Result<Join, Reason> {
    behind(SegmentSize::AtMostFirst, held, seen.payload_len)
}

fn size(limits: &Limits, list: bool, held: &Held, seen: &Seen) -> Result<(), Reason> {
    // A jumbo payload header has to fit behind the IPv6 header, and extension headers may hold one.
    let direct = held.layer4 == held.ip + 40;
    let big = seen.version == 6 && held.is_tcp && !held.tunneled && direct;
    let limit = if big {
        limits.ip_len_big
    } else {
        limits.ip_len
    };
    // Linux `skb_gro_receive_list` counts a chained segment's headers, too.
    let headers = if list {
        held.header_len - u16::from(held.link_len)
    } else {
        0
    };
    let added = seen.payload_len.saturating_add(headers.into());
    if held.network_len().saturating_add(added) > limit {
        return Err(Reason::SizeLimit);
    }
    Ok(())
}

/// Whether a frame may be held, to be joined by others.
///
/// # Errors
///
/// Why it passes instead.
pub(crate) fn may_start(
    profile: &Profile,
    seen: &Seen,
    header: &[u8; MAX_HEADER],
) -> Result<(), Reason> {
    if let Some(reason) = seen.alone {
        return Err(reason);
    }
    congestion(profile, seen, header)?;
    if matches!(seen.layer4, Layer4::Udp) {
        return Ok(());
    }
    let rules = &profile.tcp;
    if seen.payload_len == 0 && rules.pure_ack != PureAck::Absorb {
        return Err(Reason::NoPayload);
    }
    let flags = flags_at(header, seen.layer4_at);
    if flags & rules.never_start != 0 {
        return Err(Reason::ClosingFlag);
    }
    if flags & rules.required != rules.required {
        return Err(Reason::FlagMissing);
    }
    let bare = seen.header_len == seen.layer4_at + 20;
    let strict = matches!(
        rules.options,
        Options::TimestampsOnly | Options::TimestampsWithEcho
    );
    if strict && !bare && !has_timestamps(header, seen) {
        return Err(Reason::Options);
    }
    if rules.options == Options::TimestampsWithEcho && !bare {
        echo(header, seen)?;
    }
    Ok(())
}
