//! The first frame of a flow: whether it is plain, and how it is held.

use super::{Engine, Incoming};
use crate::frame::held::{Held, Identifications};
use crate::frame::sums::payload_sum;
use crate::frame::template::{PLAIN_HEADER, USUAL};
use crate::gso::IdRun;
use crate::merge::plain::{Head, PlainRules, be16, expect, is_fragment, is_whole, number, place};
use crate::out::decision::{Action, Decision};
use crate::payload::store::{Outlet, Store};
use crate::profile::Mismatch;
use crate::reason::Reason;

/// A frame that is the first of its flow.
pub(super) struct First<'a> {
    head: &'a Head,
    hash: u64,
    payload_len: u32,
    words: u8,
}

impl<S: Store> Engine<S> {
    #[inline(always)]
    pub(super) fn start_plain<const LINK: usize, const IP: usize>(
        &mut self,
        first: &First<'_>,
        refused: Option<Reason>,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let bucket = self.room(first.hash, out);
        let Some((slot, held)) = bucket.and_then(|bucket| self.table.open(bucket, first.hash))
        else {
            return self.push_any(incoming, out);
        };
        hold::<LINK, IP>(held, first);
        let closes = self.rules.closes(first.head[LINK + IP + 13]);
        held.tail = closes.then_some(Reason::ClosingFlag);
        held.frame = self.counters.frames_in;
        held.since = incoming.now;
        held.unverified = self.rules.lazy && self.rules.check_tcp;
        if !closes && !held.unverified {
            expect::<LINK, IP>(&self.rules, held, first.head);
        }
        if self.rules.sums {
            held.sum = payload_sum(held, incoming.frame, first.payload_len).into();
        }
        let payload = usize::from(held.header_len)..incoming.frame.len();
        self.store
            .start(slot, incoming.frame, payload, incoming.token);
        self.counters.hold(refused);
        Decision {
            action: Action::Held,
            frame: held.frame,
            reason: refused,
        }
    }
}

impl<S: Store> Engine<S> {
    /// Takes in a frame that continues a held one in which there is no room.
    #[inline(never)]
    pub(super) fn push_beside<const LINK: usize, const IP: usize>(
        &mut self,
        full: u32,
        head: &Head,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let held = &self.table.slots[full as usize];
        let (hash, older) = (held.hash, held.chain);
        let flushes = self.profile.mismatch == Mismatch::FlushAndStart;
        let first = first::<LINK, IP>(&self.rules, head, hash, incoming.frame);
        let Some(first) = first.filter(|_| flushes || !self.is_held(hash, older)) else {
            return self.push_any(incoming, out);
        };
        match flushes {
            true => self.end(full, Reason::SizeLimit, out),
            false => self.table.outdate(hash),
        }
        self.start_plain::<LINK, IP>(&first, Some(Reason::SizeLimit), incoming, out)
    }

    /// Whether a frame of a flow is held in the rest of a chain, from a slot on.
    fn is_held(&self, hash: u64, mut slot: u32) -> bool {
        while let Some(held) = self.table.slots.get(slot as usize) {
            if held.hash == hash {
                return true;
            }
            slot = held.chain;
        }
        false
    }
}

/// Checks whether a frame of a flow that is not held is plain, and may be held.
#[inline(always)]
pub(super) fn first<'a, const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    head: &'a Head,
    hash: u64,
    frame: &[u8],
) -> Option<First<'a>> {
    let words = head[LINK + IP + 12] >> 4;
    let header_len = LINK + IP + usize::from(words) * 4;
    let payload_len = frame.len().checked_sub(header_len)?;
    let is_tcp = match IP {
        20 => {
            let df = !rules.needs_df || head[LINK + 6] & 0x40 != 0;
            head[LINK] == 0x45 && head[LINK + 9] == 6 && !is_fragment(head, LINK) && df
        }
        _ => head[LINK] >> 4 == 6 && head[LINK + 6] == 6,
    };
    let fits = is_whole::<LINK, IP>(head, frame.len() - LINK) && words >= 5 && payload_len > 0;
    let flags = rules.starts(head[LINK + IP + 13]) && head[LINK + IP + 12] & 0x0f == 0;
    (is_tcp && fits && flags).then_some(First {
        head,
        hash,
        payload_len: payload_len as u32,
        words,
    })
}

/// Fills a slot with the first frame of a flow.
#[inline(always)]
fn hold<const LINK: usize, const IP: usize>(held: &mut Held, first: &First<'_>) {
    let version = if IP == 20 { 4 } else { 6 };
    held.header_len = (LINK + IP) as u16 + u16::from(first.words) * 4;
    held.header[..USUAL].copy_from_slice(&first.head[..USUAL]);
    if usize::from(held.header_len) > USUAL {
        held.header[USUAL..PLAIN_HEADER].copy_from_slice(&first.head[USUAL..]);
    }
    held.ip = LINK as u16;
    held.layer4 = (LINK + IP) as u16;
    held.version = version;
    held.tunneled = false;
    held.is_tcp = true;
    held.plain = true;
    held.link_len = LINK as u8;
    held.template = number(version, first.words);
    held.next = place::<LINK, IP>(first.head).further(first.payload_len);
    held.segment_size = first.payload_len;
    held.payload_len = first.payload_len;
    held.segments = 1;
    held.empty = 0;
    held.closed = None;
    held.alike_len = 0;
    held.sum = 0;
    held.ids[0] = Identifications::NONE;
    held.ids[1] = match IP {
        20 => Identifications {
            ip: LINK as u8,
            first: be16(first.head, LINK + 4),
            run: IdRun::Increasing,
        },
        _ => Identifications::NONE,
    };
}
