//! A frame that is a mere continuation of the last one of its flow: most frames are.

use super::head::{be16, bytes, hash, head_sum, is_v4, is_v6, place};
use super::rules::{ALL, IPV4_HEADERS, NOTHING};
use super::{Head, PlainRules, PlainTemplates, is_ip_sound};
use crate::frame::held::Held;
use crate::frame::template::{USUAL, agree_in};
use crate::gso::IdRun;
use crate::merge::table::Table;
use crate::profile::IpId;

/// The held frame that a frame merely continues, whatever its TCP checksum; and, where that is verified, the sum of the
/// bytes that it covers besides the payload.
#[inline(always)]
pub(crate) fn alike<'t, const LINK: usize, const CHECKS: u8>(
    table: &'t mut Table,
    rules: &PlainRules,
    templates: &PlainTemplates,
    seed: &u64,
    frame: &[u8],
) -> Option<(u32, &'t mut Held, u64)> {
    let head = frame.first_chunk()?;
    if is_v4::<LINK>(head) {
        return alike_ip::<LINK, 20, CHECKS>(table, rules, templates, seed, head, frame);
    }
    if is_v6::<LINK>(head) {
        return alike_ip::<LINK, 40, CHECKS>(table, rules, templates, seed, head, frame);
    }
    None
}

/// The IP header is `IP` bytes long: 20 for IPv4, 40 for IPv6.
#[inline(always)]
fn alike_ip<'t, const LINK: usize, const IP: usize, const CHECKS: u8>(
    table: &'t mut Table,
    rules: &PlainRules,
    templates: &PlainTemplates,
    seed: &u64,
    head: &Head,
    frame: &[u8],
) -> Option<(u32, &'t mut Held, u64)> {
    let hash = || hash::<LINK, IP>(head, *seed);
    let slot = table.waiting(place::<LINK, IP>(head), hash)?;
    let held = table.slots.get_mut(slot as usize)?;
    if !is_alike::<LINK, IP, CHECKS>(rules, templates, held, head, frame) {
        return None;
    }
    let sum = match CHECKS == ALL && rules.check_tcp {
        true => head_sum::<LINK, IP>(head, held.header_len.into(), frame.len()),
        false => 0,
    };
    Some((slot, held, sum))
}

/// Whether a frame is a mere continuation of the last one that joined: nearly all are.
#[inline(always)]
fn is_alike<const LINK: usize, const IP: usize, const CHECKS: u8>(
    rules: &PlainRules,
    templates: &PlainTemplates,
    held: &Held,
    head: &Head,
    frame: &[u8],
) -> bool {
    let id = be16(head, LINK + 4) ^ held.next_id;
    frame.len() == held.alike_len as usize
        && (IP == 40 || id & held.id_mask == 0)
        && agree_in::<USUAL>(templates.same(held.template), &held.header, head)
        && match CHECKS {
            NOTHING => true,
            IPV4_HEADERS => IP == 40 || varying_sum(head, LINK) == held.varying_sum,
            _ => is_ip_sound::<LINK, IP>(rules, head),
        }
}

/// The sum of the only words that differ between the IPv4 headers of frames that are alike: identification and
/// checksum. If this sum equals that of a frame whose header checksum is right, this frame's is right too. The byte
/// order does not matter (RFC 1071 section 2).
#[inline(always)]
fn varying_sum(head: &Head, ip: usize) -> u16 {
    let word = |at| u16::from_ne_bytes(bytes(head, ip + at));
    let (sum, carry) = word(4).overflowing_add(word(10));
    sum + u16::from(carry)
}

/// Lets a mere continuation join.
#[inline(always)]
pub(crate) fn grow(held: &mut Held) {
    let size = held.segment_size;
    held.next = held.next.further(size);
    held.next_id = held.next_id.wrapping_add(held.id_step);
    held.payload_len += size;
    held.segments += 1;
    let (room, full) = held.alike_room.overflowing_sub(size);
    held.alike_room = room;
    if full {
        held.alike_len = 0;
    }
}

/// Notes how more segments like the last would look, and how many fit.
#[inline(always)]
pub(crate) fn expect<const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    held: &mut Held,
    head: &Head,
) {
    let limit = if IP == 20 { rules.len_v4 } else { rules.len_v6 };
    let headers = u32::from(held.header_len) - u32::from(held.link_len);
    let by_size = limit.saturating_sub(headers + held.segment_size);
    // The last segment that the limit allows is left to the usual path, which sends the frame up.
    let more = u64::from(rules.segments.saturating_sub(held.segments + 1));
    let before = u64::from(held.payload_len.saturating_sub(held.segment_size));
    let by_count = more * u64::from(held.segment_size) + before;
    let until = by_count.min(by_size.into()) as u32;
    let (room, full) = until.overflowing_sub(held.payload_len);
    held.alike_room = room;
    held.alike_len = if full || usize::from(held.header_len) > USUAL {
        0
    } else {
        u32::from(held.header_len) + held.segment_size
    };
    let df = head[LINK + 6] & 0x40 != 0;
    let ignored = rules.id == IpId::Ignored || (rules.id == IpId::IncreasingWithoutDf && df);
    held.id_mask = if ignored { 0 } else { u16::MAX };
    held.id_step = u16::from(held.ids[1].run == IdRun::Increasing);
    held.next_id = be16(head, LINK + 4).wrapping_add(held.id_step);
    held.varying_sum = varying_sum(head, LINK);
}
