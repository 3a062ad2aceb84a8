//! The short path of a plain frame through the engine (`plain`).

use coalescope_wire::checksum::fold;

use super::start::first;
use super::{Engine, Incoming};
use crate::frame::held::Held;
use crate::frame::template::{PLAIN_HEADER, USUAL, agree_in};
use crate::gso::IdRun;
use crate::merge::plain::{
    ALL, Head, PlainRules, alike, be16, expect, grow, hash, is_ip_sound, is_whole, place,
    pseudo_sum, segment_is_sound, version,
};
use crate::out::decision::{Action, Decision};
use crate::payload::store::{Outlet, Store};
use crate::reason::Reason;
use crate::rules::change::add_sum;
use crate::rules::identification::{Step, follows};
use crate::rules::join::Join;

impl<S: Store> Engine<S> {
    /// Takes a frame in whose IP header starts at `LINK`, if the frame is plain. `CHECKS` is [`PlainRules::checks`]: a
    /// check at run time would cost registers for each frame.
    #[inline(always)]
    pub(crate) fn push_behind<const LINK: usize, const CHECKS: u8>(
        &mut self,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let Incoming { frame, token, now } = incoming;
        let Self { table, rules, .. } = self;
        let alike = alike::<LINK, CHECKS>(table, rules, &self.plain, &self.settings.seed, frame);
        let Some((slot, held, head_sum)) = alike else {
            return self.push_unlike::<LINK>(frame, token, now, out);
        };
        let payload = usize::from(held.header_len)..frame.len();
        if CHECKS == ALL && rules.check_tcp {
            let is_right = |sum| fold(head_sum + sum) == 0xffff;
            let store = &mut self.store;
            if let Err(token) = store.append_if(slot, frame, payload, token, out, is_right) {
                return self.push_unlike::<LINK>(frame, token, now, out);
            }
        } else {
            self.store.append(slot, frame, payload, token, out);
        }
        if CHECKS == ALL && rules.sums {
            add_sum(held, frame, held.segment_size, Join::Behind);
        }
        grow(held);
        let number = held.frame;
        self.counters.merge();
        self.count(out);
        Decision {
            action: Action::Merged,
            frame: number,
            reason: None,
        }
    }

    /// Takes in a frame that is no mere continuation. Not inlined, so that its variables take no registers from the
    /// path of the others.
    #[inline(never)]
    fn push_unlike<const LINK: usize>(
        &mut self,
        frame: &[u8],
        token: S::Token,
        now: u64,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let incoming = Incoming { frame, token, now };
        let head = frame.first_chunk();
        let decision = match head.map(|head| (version::<LINK>(head), head)) {
            Some((4, head)) => self.push_plain::<LINK, 20>(head, incoming, out),
            Some((6, head)) => self.push_plain::<LINK, 40>(head, incoming, out),
            _ => self.push_any(incoming, out),
        };
        self.count(out);
        decision
    }

    #[inline(always)]
    fn push_plain<const LINK: usize, const IP: usize>(
        &mut self,
        head: &Head,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let hash = hash::<LINK, IP>(head, self.settings.seed);
        let mut slot = self.table.chain(hash);
        while let Some(held) = self.table.slots.get(slot as usize) {
            if self.continues::<LINK, IP>(held, head, incoming.frame) {
                if !self.has_room::<LINK, IP>(held, incoming.frame) {
                    return self.push_beside::<LINK, IP>(slot, head, incoming, out);
                }
                let unsure = held.unverified && self.rules.check_tcp;
                if unsure && !self.is_held_sound::<LINK, IP>(slot, out) {
                    self.end(slot, Reason::Checksum, out);
                    return self.push_any(incoming, out);
                }
                return self.join_plain::<LINK, IP>(slot, head, incoming, out);
            }
            // The newest frame of the flow counts first, and this frame may join in front of it.
            if held.hash == hash {
                return self.push_any(incoming, out);
            }
            slot = held.chain;
        }
        self.push_first::<LINK, IP>(head, hash, incoming, out)
    }

    /// Takes in a frame of a flow of which nothing is held.
    #[inline(always)]
    fn push_first<const LINK: usize, const IP: usize>(
        &mut self,
        head: &Head,
        hash: u64,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let check_tcp = self.rules.check_tcp && !self.rules.lazy;
        match first::<LINK, IP>(&self.rules, head, hash, incoming.frame) {
            Some(first) if is_sound::<LINK, IP>(&self.rules, head, incoming.frame, check_tcp) => {
                self.start_plain::<LINK, IP>(&first, None, incoming, out)
            }
            _ => self.push_any(incoming, out),
        }
    }

    /// Whether a frame joins behind a held one, if there is room: all other rules allow it.
    #[inline(always)]
    fn continues<const LINK: usize, const IP: usize>(
        &self,
        held: &Held,
        head: &Head,
        frame: &[u8],
    ) -> bool {
        let rules = &self.rules;
        let payload_len = (frame.len() as u32).wrapping_sub(held.header_len.into());
        held.next.seq() == place::<LINK, IP>(head).seq()
            && held.plain
            && self
                .plain
                .get(held.template)
                .is_some_and(|template| agrees(&template.equal, held, head))
            && payload_len.wrapping_sub(1) < held.segment_size.max(rules.size_floor)
            && is_whole::<LINK, IP>(head, frame.len() - LINK)
            && rules.joins(head[LINK + IP + 13])
            && head[LINK + IP + 12] & 1 == 0
            && held.tail.is_none()
            && (IP == 40 || self.id_follows::<LINK>(held, head))
            && is_sound::<LINK, IP>(rules, head, frame, rules.check_tcp)
    }

    /// Whether the merged packet stays short enough when the frame joins.
    #[inline(always)]
    fn has_room<const LINK: usize, const IP: usize>(&self, held: &Held, frame: &[u8]) -> bool {
        let limit = match IP {
            20 => self.rules.len_v4,
            _ => self.rules.len_v6,
        };
        let network_len = frame.len() - LINK;
        u64::from(held.payload_len) + network_len as u64 <= u64::from(limit)
    }

    #[inline(always)]
    fn id_follows<const LINK: usize>(&self, held: &Held, head: &Head) -> bool {
        let df = head[LINK + 6] & 0x40 != 0;
        let step = Step::Behind {
            count: held.segments as u16,
        };
        follows(
            self.rules.id,
            &held.ids[1],
            be16(head, LINK + 4),
            df,
            step,
            false,
        )
    }

    /// Verifies the checksum of a held frame that nothing has joined yet.
    #[inline(always)]
    fn is_held_sound<const LINK: usize, const IP: usize>(
        &mut self,
        slot: u32,
        out: &impl Outlet<S>,
    ) -> bool {
        let held = &mut self.table.slots[slot as usize];
        held.unverified = false;
        // Bytes behind the segment are padding.
        let segment = LINK + IP..usize::from(held.header_len) + held.payload_len as usize;
        let Some(head) = held.header.first_chunk() else {
            return true;
        };
        let pseudo = pseudo_sum::<LINK, IP>(head, segment.len());
        let is_right = |sum| fold(pseudo + sum) == 0xffff;
        self.store.is_first_right(slot, segment, out, is_right)
    }

    #[inline(always)]
    fn join_plain<const LINK: usize, const IP: usize>(
        &mut self,
        slot: u32,
        head: &Head,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let held = &mut self.table.slots[slot as usize];
        let rules = &self.rules;
        let flags = head[LINK + IP + 13];
        let payload = usize::from(held.header_len)..incoming.frame.len();
        let payload_len = payload.len() as u32;
        if rules.sums {
            add_sum(held, incoming.frame, payload_len, Join::Behind);
        }
        let same_id = be16(head, LINK + 4) == held.ids[1].first;
        if IP == 20 && held.segments == 1 && same_id && rules.id.knows_fixed() {
            held.ids[1].run = IdRun::Fixed;
        }
        held.next = place::<LINK, IP>(head).further(payload_len);
        held.payload_len += payload_len;
        held.segments += 1;
        // Written only when it changes: the next frame's comparison reads these bytes in wider
        // words, and would have to wait for a narrow store.
        let carried = flags & rules.carried;
        if held.header[LINK + IP + 13] & carried != carried {
            held.header[LINK + IP + 13] |= carried;
        }
        let frame = held.frame;
        let shorter = payload_len != held.segment_size;
        let reason = if rules.closes(flags) || shorter || held.segments >= rules.segments {
            ends(rules, held, flags, payload_len)
        } else {
            None
        };
        held.alike_len = 0;
        if reason.is_none() && !shorter {
            expect::<LINK, IP>(rules, held, head);
        }
        self.store
            .append(slot, incoming.frame, payload, incoming.token, out);
        if let Some(reason) = reason {
            self.tail_or_end(slot, reason, out);
        }
        self.counters.merge();
        Decision {
            action: Action::Merged,
            frame,
            reason,
        }
    }
}

/// Whether the headers of a frame agree with held ones in all bits of a mask.
#[inline(always)]
fn agrees(mask: &[u8], held: &Held, head: &Head) -> bool {
    match usize::from(held.header_len) <= USUAL {
        true => agree_in::<USUAL>(mask, &held.header, head),
        false => agree_in::<PLAIN_HEADER>(mask, &held.header, head),
    }
}

/// Whether the required checksums are right; TCP's only if `check_tcp`.
#[inline(always)]
fn is_sound<const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    head: &Head,
    frame: &[u8],
    check_tcp: bool,
) -> bool {
    is_ip_sound::<LINK, IP>(rules, head)
        && (!check_tcp || segment_is_sound::<LINK, IP>(head, frame))
}

/// Why the segment that has just joined is the last that may.
#[cold]
fn ends(rules: &PlainRules, held: &mut Held, flags: u8, payload_len: u32) -> Option<Reason> {
    let shorter = payload_len < held.segment_size && !rules.any_size;
    held.segment_size = held.segment_size.max(payload_len);
    if rules.closes(flags) {
        Some(Reason::ClosingFlag)
    } else if shorter {
        Some(Reason::ShorterSegment)
    } else {
        (held.segments >= rules.segments).then_some(Reason::SegmentLimit)
    }
}
