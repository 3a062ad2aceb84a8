//! A frame that is what the last one of its flow was, only further on: most are.

use super::head::{be16, be32, hash, head_sum, version};
use super::{Head, PlainRules, PlainTemplates, agrees, is_ip_sound};
use crate::gso::IdRun;
use crate::held::Held;
use crate::profile::IpId;
use crate::table::Table;

/// The held frame of which a frame is a mere continuation, whatever its TCP checksum; and, where that
/// is looked at, the sum of what it covers besides the payload.
#[inline(always)]
pub(super) fn alike<'t, const LINK: usize, const CHECKS: bool>(
    table: &'t mut Table,
    rules: &PlainRules,
    templates: &PlainTemplates,
    seed: u64,
    frame: &[u8],
) -> Option<(u32, &'t mut Held, u64)> {
    let head = frame.first_chunk()?;
    match version::<LINK>(head) {
        4 => alike_ip::<LINK, 20, CHECKS>(table, rules, templates, seed, head, frame),
        6 => alike_ip::<LINK, 40, CHECKS>(table, rules, templates, seed, head, frame),
        _ => None,
    }
}

/// The IP header is `IP` bytes long: 20 for IPv4, 40 for IPv6.
#[inline(always)]
fn alike_ip<'t, const LINK: usize, const IP: usize, const CHECKS: bool>(
    table: &'t mut Table,
    rules: &PlainRules,
    templates: &PlainTemplates,
    seed: u64,
    head: &Head,
    frame: &[u8],
) -> Option<(u32, &'t mut Held, u64)> {
    // Where frames of a flow come one after the other, its ports and place in the sequence find it.
    let is_next = |last: &Held| {
        let ports = LINK + IP..LINK + IP + 4;
        last.next_seq == be32(head, LINK + IP + 4) && last.header[ports.clone()] == head[ports]
    };
    if !table.slots.get(table.last as usize).is_some_and(is_next) {
        table.last = table.chain(hash::<LINK, IP>(head, seed));
    }
    let slot = table.last;
    let held = table.slots.get_mut(slot as usize)?;
    if !is_alike::<LINK, IP, CHECKS>(rules, templates, held, head, frame) {
        return None;
    }
    let sum = match CHECKS && rules.check_tcp {
        true => head_sum::<LINK, IP>(head, held.header_len.into(), frame.len()),
        false => 0,
    };
    Some((slot, held, sum))
}

/// Whether a frame is what the last one that joined was, only further on: nearly all are.
#[inline(always)]
fn is_alike<const LINK: usize, const IP: usize, const CHECKS: bool>(
    rules: &PlainRules,
    templates: &PlainTemplates,
    held: &Held,
    head: &Head,
    frame: &[u8],
) -> bool {
    let id = be16(head, LINK + 4) ^ held.next_id;
    held.payload_len <= held.alike_until
        && held.next_seq == be32(head, LINK + IP + 4)
        && (IP == 40 || id & held.id_mask == 0)
        && frame.len() == held.alike_len as usize
        && templates
            .get(held.template)
            .is_some_and(|template| agrees::<IP>(&template.same, held, head))
        && (!CHECKS || is_ip_sound::<LINK, IP>(rules, head))
}

/// A frame that is a mere continuation joins.
#[inline(always)]
pub(super) fn grow(held: &mut Held) {
    let size = held.segment_size;
    held.next_seq = held.next_seq.wrapping_add(size);
    held.next_id = held.next_id.wrapping_add(held.id_step);
    held.payload_len += size;
    held.segments += 1;
    held.frames += 1;
}

/// Notes what more segments like the last would look like, and how many fit.
#[inline(always)]
pub(super) fn expect<const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    held: &mut Held,
    head: &Head,
) {
    let limit = if IP == 20 { rules.len_v4 } else { rules.len_v6 };
    let headers = u32::from(held.header_len) - u32::from(held.link_len);
    let by_size = limit.saturating_sub(headers + held.segment_size);
    // The last that the number of segments allows is left to the usual way, which sends it up.
    let more = u64::from(rules.segments.saturating_sub(held.segments + 1));
    let before = u64::from(held.payload_len.saturating_sub(held.segment_size));
    let by_count = more * u64::from(held.segment_size) + before;
    held.alike_until = by_count.min(by_size.into()) as u32;
    held.alike_len = u32::from(held.header_len) + held.segment_size;
    let df = head[LINK + 6] & 0x40 != 0;
    let ignored = rules.id == IpId::Ignored || (rules.id == IpId::IncreasingWithoutDf && df);
    held.id_mask = if ignored { 0 } else { u16::MAX };
    held.id_step = u16::from(held.ids[1].run == IdRun::Increasing);
    held.next_id = be16(head, LINK + 4).wrapping_add(held.id_step);
}
