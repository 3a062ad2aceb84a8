//! The engine: frames in, decisions and frames out. No implementation is special to it by name.

mod batch;
mod emit;
mod prefetch;
mod room;
mod short;
mod start;

use alloc::vec::Vec;

use coalescope_wire::LinkType;

use crate::frame::held::NONE;
use crate::frame::inspect::{Inspection, flow_of, inspect};
use crate::frame::seen::{Layer4, Seen};
use crate::frame::template::{MAX_HEADER, Template};
use crate::merge::plain::{ALL, PlainRules, PlainTemplates};
use crate::merge::table::Table;
use crate::out::decision::{Action, Counters, Decision};
use crate::payload::store::{Outlet, Store};
use crate::profile::{Bystanders, Mismatch, Profile};
use crate::reason::Reason;
use crate::rules::change::{
    add_sum, ends, header_of, hold, link_len, settle_identifications, start_tail, update,
};
use crate::rules::join::Join;
use crate::rules::judge::{judge, may_start, same_flow, would_list};
use crate::settings::{Settings, Verification};

pub(crate) use batch::PushAll;
pub(crate) use prefetch::PushFar;

/// Merges frames by a profile's rules. The store keeps the payload.
#[derive(Clone, Debug)]
pub(crate) struct Engine<S> {
    pub(crate) profile: Profile,
    pub(crate) settings: Settings,
    pub(crate) table: Table,
    pub(crate) plain: PlainTemplates,
    pub(crate) rules: PlainRules,
    /// Link type of plain frames, if there is a short path for them.
    pub(crate) short: Option<LinkType>,
    /// Masks of held frames that are not plain, by slot.
    templates: Vec<Template>,
    pub(crate) store: S,
    pub(crate) counters: Counters,
    /// Frames until the budget of this poll is used up; practically endless where there is no budget.
    until_flush: u32,
}

/// `Held::frames` of a slot that only keeps a passing frame for the end of its batch.
const PASSED: u32 = 0;

/// A frame on its way through the engine.
pub(crate) struct Incoming<'a, T> {
    pub(crate) frame: &'a [u8],
    pub(crate) token: T,
    pub(crate) now: u64,
}

impl<S: Store> Engine<S> {
    pub(crate) fn new(profile: &Profile, settings: Settings, store: impl Fn(usize) -> S) -> Self {
        let table = Table::new(profile.table);
        let plain = PlainTemplates::new(profile, settings.link);
        Self {
            profile: *profile,
            settings,
            store: store(table.slots.len()),
            table,
            short: (plain.len() > 0).then_some(settings.link),
            plain,
            rules: PlainRules::new(profile, &settings),
            templates: Vec::new(),
            counters: Counters::default(),
            until_flush: budget(profile),
        }
    }

    /// Takes a frame in.
    #[inline]
    pub(crate) fn push(
        &mut self,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        match self.short {
            Some(LinkType::Ethernet) => self.push_behind::<14, ALL>(incoming, out),
            Some(_) => self.push_behind::<0, ALL>(incoming, out),
            None => self.push_counted(incoming, out),
        }
    }

    /// Takes a frame in by the general path, and counts it.
    fn push_counted(
        &mut self,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let decision = self.push_any(incoming, out);
        self.count(out);
        decision
    }

    /// Counts a frame, and ends the poll if its budget is used up.
    #[inline(always)]
    pub(crate) fn count(&mut self, out: &mut impl Outlet<S>) {
        self.until_flush -= 1;
        if self.until_flush == 0 {
            self.end_of_budget(out);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_of_budget(&mut self, out: &mut impl Outlet<S>) {
        match self.profile.table.budget {
            0 => self.until_flush = u32::MAX,
            _ => self.flush(Reason::Budget, out),
        }
    }

    /// The general path: any frame, any profile.
    #[inline(never)]
    pub(crate) fn push_any(
        &mut self,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let decision = self.decide(incoming, out);
        self.counters.decide(decision);
        decision
    }

    fn decide(&mut self, incoming: Incoming<'_, S::Token>, out: &mut impl Outlet<S>) -> Decision {
        let how = self.inspection(self.settings.verification == Verification::Verify);
        match inspect(&self.profile, how, incoming.frame) {
            Ok(seen) => self.push_seen(&seen, incoming, out),
            Err(reason) => {
                if self.profile.bystanders == Bystanders::FlushFlow
                    && let Some(hash) = flow_of(&self.profile, how, incoming.frame)
                {
                    self.end_flow(hash, out);
                }
                self.pass(incoming, reason, out)
            }
        }
    }

    /// Ends the merge of all held frames of the flows with a hash.
    fn end_flow(&mut self, hash: u64, out: &mut impl Outlet<S>) {
        let mut slot = self.table.chain(hash);
        while slot != NONE {
            let held = &self.table.slots[slot as usize];
            let (found, next) = (held.hash == hash, held.chain);
            if found {
                self.end(slot, Reason::Overtaken, out);
            }
            slot = next;
        }
    }

    fn push_seen(
        &mut self,
        seen: &Seen,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let header = header_of(incoming.frame, seen.header_len);
        let mut refused = None;
        let mut slot = self.table.chain(seen.hash);
        while slot != NONE {
            let held = &self.table.slots[slot as usize];
            let next = held.chain;
            let template = self.template(held.template);
            if held.hash == seen.hash && same_flow(template, &held.header, &header, seen) {
                if let Some(reason) = seen.alone
                    && would_list(&self.profile, template, held, seen, incoming.frame, &header)
                {
                    // Before the datagram passes, its identification is compared, which changes the held frame
                    // (`inet_gro_flush` sets `ip_fixedid`).
                    let held = &mut self.table.slots[slot as usize];
                    settle_identifications(&self.profile, held, incoming.frame);
                    return self.pass(incoming, reason, out);
                }
                match judge(&self.profile, template, held, seen, incoming.frame, &header) {
                    // In this mode a checksum is verified only before a merge; a frame alone is handed on unchanged.
                    Ok(_) if self.rules.lazy && !self.is_right(incoming.frame) => {
                        return self.pass(incoming, Reason::Checksum, out);
                    }
                    Ok(_) if !self.is_held_right(slot, out) => {
                        // The fault is not that of the frame at hand.
                        self.end(slot, Reason::Checksum, out);
                        break;
                    }
                    Ok(join) => return self.join(slot, join, seen, incoming, out),
                    Err(reason) => refused = Some(reason),
                }
                // `tcp_gro_receive` returns the held skb as `pp` when a segment of its flow does not merge: it goes up first.
                if self.profile.mismatch == Mismatch::FlushAndStart {
                    self.end(slot, refused.unwrap_or(Reason::EndOfPoll), out);
                    break;
                }
                // Only the newest held frame: datagrams have no numbers, and must not overtake each other.
                if matches!(seen.layer4, Layer4::Udp) {
                    break;
                }
            }
            slot = next;
        }
        match may_start(&self.profile, seen, &header) {
            Ok(()) => self.start(seen, &header, incoming, refused, out),
            Err(reason) => self.pass(incoming, refused.unwrap_or(reason), out),
        }
    }

    /// Whether the checksums of a frame are right that were not verified yet.
    fn is_right(&self, frame: &[u8]) -> bool {
        inspect(&self.profile, self.inspection(true), frame).is_ok()
    }

    fn inspection(&self, verify: bool) -> Inspection {
        Inspection {
            link: self.settings.link,
            verify,
            seed: self.settings.seed,
        }
    }

    /// Verifies the checksum of a held frame, if that has not been done.
    fn is_held_right(&mut self, slot: u32, out: &impl Outlet<S>) -> bool {
        if !core::mem::replace(&mut self.table.slots[slot as usize].unverified, false) {
            return true;
        }
        let frame = self.store.first_frame(slot, out);
        frame.is_none_or(|frame| self.is_right(frame))
    }

    fn template(&self, number: u32) -> &Template {
        match self.plain.get(number) {
            Some(template) => template,
            None => &self.templates[number as usize - self.plain.len()],
        }
    }

    fn join(
        &mut self,
        slot: u32,
        join: Join,
        seen: &Seen,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        let payload = seen.header_len..seen.header_len + seen.payload_len as usize;
        let frame = incoming.frame;
        let held = &mut self.table.slots[slot as usize];
        // It was computed for the segment before this one: 0 keeps the next frame off the short path.
        held.alike_len = 0;
        held.empty += u32::from(seen.payload_len == 0);
        if self.rules.sums && matches!(join, Join::Behind | Join::InFront) {
            add_sum(held, frame, seen.payload_len, join);
        }
        match join {
            Join::Behind => {
                self.store.append(slot, frame, payload, incoming.token, out);
                held.next = held.next.further(seen.payload_len);
            }
            Join::InFront => {
                self.store
                    .prepend(slot, frame, payload, incoming.token, out);
            }
            Join::Absorb | Join::Vanish => {
                self.store.append(
                    slot,
                    frame,
                    payload.start..payload.start,
                    incoming.token,
                    out,
                );
            }
        }
        if join != Join::Vanish {
            update(&self.profile, held, frame, seen, join);
        }
        let ends = ends(&self.profile, held, frame, seen, join);
        let number = held.frame;
        if let Some(reason) = ends {
            self.tail_or_end(slot, reason, out);
        }
        Decision {
            action: match join {
                Join::Behind | Join::InFront => Action::Merged,
                Join::Absorb | Join::Vanish => Action::Absorbed,
            },
            frame: number,
            reason: ends,
        }
    }

    /// Lets no frame join behind any more; where none can join in front either, the merge ends.
    pub(crate) fn tail_or_end(&mut self, slot: u32, reason: Reason, out: &mut impl Outlet<S>) {
        if self.profile.mismatch == Mismatch::KeepBoth && reason != Reason::SegmentLimit {
            self.table.slots[slot as usize].tail = Some(reason);
        } else {
            self.end(slot, reason, out);
        }
    }

    fn start(
        &mut self,
        seen: &Seen,
        header: &[u8; MAX_HEADER],
        incoming: Incoming<'_, S::Token>,
        refused: Option<Reason>,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        self.table.outdate(seen.hash);
        let bucket = self.room(seen.hash, out);
        let Some((slot, _)) = bucket.and_then(|bucket| self.table.open(bucket, seen.hash)) else {
            return self.pass(incoming, Reason::BucketFull, out);
        };
        let template = self.template_for(slot, seen, incoming.frame);
        let held = &mut self.table.slots[slot as usize];
        hold(held, seen, header, incoming.frame);
        held.template = template;
        held.plain = (template as usize) < self.plain.len();
        held.frame = self.counters.frames_in;
        held.since = incoming.now;
        held.tail = start_tail(&self.profile, header, seen);
        held.unverified = self.rules.lazy;
        held.link_len = link_len(seen);
        held.sum = 0;
        if self.rules.sums {
            add_sum(held, incoming.frame, seen.payload_len, Join::Behind);
        }
        let payload = seen.header_len..seen.header_len + seen.payload_len as usize;
        self.store
            .start(slot, incoming.frame, payload, incoming.token);
        held.payload_len = seen.payload_len;
        Decision {
            action: Action::Held,
            frame: self.counters.frames_in,
            reason: refused,
        }
    }
}

/// The number of frames in one poll.
fn budget(profile: &Profile) -> u32 {
    match profile.table.budget {
        0 => u32::MAX,
        budget => budget,
    }
}
